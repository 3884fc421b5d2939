package revision

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/shared/containerhash"
)

// claimForm is a volume claim template as the reference hashes it: name and spec alone, in its field
// order, with the null creation time and the empty status that its library wrote.
type claimForm struct {
	Metadata struct {
		Name              string  `json:"name"`
		CreationTimestamp *string `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec   corev1.PersistentVolumeClaimSpec `json:"spec"`
	Status struct{}                         `json:"status"`
}

// VCTHash returns the value of annotation wire.AnnotationVCTHash for volume claim templates: empty
// without any, otherwise a decimal number that does not depend on their order. Source: RV-14.
func VCTHash(claims []corev1.PersistentVolumeClaim) (string, error) {
	if len(claims) == 0 {
		return "", nil
	}
	forms := make([]claimForm, len(claims))
	for i, claim := range claims {
		forms[i].Metadata.Name = claim.Name
		forms[i].Spec = claim.Spec
	}
	slices.SortStableFunc(forms, func(a, b claimForm) int {
		return strings.Compare(a.Metadata.Name, b.Metadata.Name)
	})
	raw, err := json.Marshal(forms)
	if err != nil {
		return "", fmt.Errorf("encoding volume claim templates: %w", err)
	}
	return strconv.FormatUint(containerhash.OfJSON(raw), 10), nil
}
