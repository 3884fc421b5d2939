// Package revision knows how a pod template becomes a ControllerRevision and how revisions are
// compared, ordered, chosen and truncated.
//
// The bytes, names and labels are those of the reference, so that objects written before a switch
// stay valid. Equality is semantic: what only a library or a defaulting webhook added does not make
// a new revision (P-1).
package revision

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Data returns the bytes that a ControllerRevision stores for a template: the template under
// spec.template with "$patch": "replace", keys in lexical order. Libraries of today omit the null
// creation times and the reference wrote them, so they are put back: the same template gives the
// same bytes, hence the same hash and name, on both sides of a switch. Source: RV-1, RV-2.
func Data(template *corev1.PodTemplateSpec) ([]byte, error) {
	tree, err := toTree(template)
	if err != nil {
		return nil, fmt.Errorf("encoding pod template: %w", err)
	}
	putCreationTime(tree)
	for _, claim := range ephemeralClaims(tree) {
		putCreationTime(claim)
	}
	tree["$patch"] = "replace"
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": tree}})
	if err != nil {
		return nil, fmt.Errorf("encoding revision data: %w", err)
	}
	return raw, nil
}

// toTree returns v as JSON objects, lists and scalars. Numbers keep their digits.
func toTree(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	tree := map[string]any{}
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return tree, nil
}

// putCreationTime gives the metadata of an object the null creation time.
func putCreationTime(object map[string]any) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	if _, found := metadata["creationTimestamp"]; !found {
		metadata["creationTimestamp"] = nil
	}
}

// ephemeralClaims returns the claim templates inside the volumes of a pod template, the only other
// place in it where object metadata stands.
func ephemeralClaims(template map[string]any) []map[string]any {
	spec, _ := template["spec"].(map[string]any)
	volumes, _ := spec["volumes"].([]any)
	var claims []map[string]any
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		ephemeral, _ := volume["ephemeral"].(map[string]any)
		if claim, ok := ephemeral["volumeClaimTemplate"].(map[string]any); ok {
			claims = append(claims, claim)
		}
	}
	return claims
}
