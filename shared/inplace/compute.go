package inplace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// maxReasons is how many differences a refusal names.
const maxReasons = 3

// Compute returns the change that takes a pod of the old revision to the new one in place, or else a
// refusal: why that is not possible, in words for users that name the fields. Exactly one of change
// and refusal is set unless there is an error, which only data that the library cannot encode gives.
//
// In place are: labels, annotations and finalizers of the template, and images of containers. The
// templates are first brought to the same defaults, so that only what a user changed decides.
// Admission and controllers both ask here, so that they never disagree. Source: IP-9 to IP-23, C-5.
func Compute(old, new *appsv1.ControllerRevision, opts Options) (change *Change, refusal string, err error) {
	if refusal := refuseRevisions(old, new, opts); refusal != "" {
		return nil, refusal, nil
	}
	oldTemplate, refusal := read(old)
	if refusal != "" {
		return nil, refusal, nil
	}
	newTemplate, refusal := read(new)
	if refusal != "" {
		return nil, refusal, nil
	}
	return computeTemplates(oldTemplate, newTemplate, opts)
}

// read returns the template of a revision, or refuses one that holds none (IP-10).
func read(r *appsv1.ControllerRevision) (template *corev1.PodTemplateSpec, refusal string) {
	template, err := revision.Template(r)
	if err != nil {
		return nil, err.Error()
	}
	return template, ""
}

// refuseRevisions refuses what can be told without looking into the templates.
func refuseRevisions(old, new *appsv1.ControllerRevision, opts Options) string {
	if old == nil {
		return "the old revision does not exist any more"
	}
	if new == nil {
		return "the new revision does not exist"
	}
	if !opts.Gates.RecreateOnVCTChange || opts.IgnoreVCTHash {
		return ""
	}
	oldHash, inOld := old.Annotations[wire.AnnotationVCTHash]
	newHash, inNew := new.Annotations[wire.AnnotationVCTHash]
	if inOld && inNew && oldHash != newHash {
		return "spec.volumeClaimTemplates was changed"
	}
	return ""
}

func computeTemplates(old, new *corev1.PodTemplateSpec, opts Options) (*Change, string, error) {
	revision.Align(old, new)
	oldSpec, err := tree(old.Spec)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the old pod spec: %w", err)
	}
	newSpec, err := tree(new.Spec)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the new pod spec: %w", err)
	}
	change := &Change{GraceSeconds: opts.GraceSeconds}
	var refused []string
	for _, op := range diff("spec.template.spec", oldSpec, newSpec) {
		if reason := change.take(op, old, opts.Gates); reason != "" {
			refused = append(refused, reason)
		}
	}
	if len(refused) > 0 {
		return nil, join(refused), nil
	}
	if err := change.takeMetadata(old, new, opts.Gates); err != nil {
		return nil, "", err
	}
	return change, "", nil
}

// take adds one difference of the pod specs to the change, or says why it is not in place. The
// container is named after the old template; a new name at its place is refused on its own. Source:
// IP-12, IP-13.
func (c *Change) take(op operation, old *corev1.PodTemplateSpec, gates Gates) string {
	if index, ok := imageOf(op); ok {
		if c.Images == nil {
			c.Images = map[string]string{}
		}
		c.Images[old.Spec.Containers[index].Name], _ = op.new.(string)
		return ""
	}
	if gates.VerticalScaling && isResources(op) {
		return op.words + " was changed, and this version does not resize containers in place"
	}
	return op.words + " was " + op.kind
}

// imageOf returns the index of the container whose image an operation replaces.
func imageOf(op operation) (int, bool) {
	if op.kind != replaced || len(op.path) != 3 || op.path[0] != "containers" || op.path[2] != "image" {
		return 0, false
	}
	index, ok := op.path[1].(int)
	return index, ok
}

func isResources(op operation) bool {
	return len(op.path) > 3 && op.path[0] == "containers" && op.path[2] == "resources"
}

func join(reasons []string) string {
	if more := len(reasons) - maxReasons; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(reasons[:maxReasons], ", "), more)
	}
	return strings.Join(reasons, ", ")
}

// tree returns v as JSON objects, lists and scalars. Numbers keep their digits.
func tree(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	err = decoder.Decode(&out)
	return out, err
}
