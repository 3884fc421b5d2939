package patch

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Status writes the status of changed if it differs from that of base, which is the object as it was
// read, and reports whether it wrote. The write is refused with a conflict if the object has another
// version by now: a merge patch replaces lists whole, and conditions are a list. Nothing but the status
// is written, whatever else differs. On success changed holds the answer of the API server.
func Status(ctx context.Context, c client.StatusClient, base, changed client.Object) (wrote bool, err error) {
	diff, err := client.MergeFrom(base).Data(changed)
	if err != nil {
		return false, fmt.Errorf("comparing status of %s: %w", base.GetName(), err)
	}
	var body struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(diff, &body); err != nil {
		return false, fmt.Errorf("comparing status of %s: %w", base.GetName(), err)
	}
	if len(body.Status) == 0 {
		return false, nil
	}
	locked, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": base.GetResourceVersion()},
		"status":   body.Status,
	})
	if err != nil {
		return false, fmt.Errorf("encoding status of %s: %w", base.GetName(), err)
	}
	if err := c.Status().Patch(ctx, changed, client.RawPatch(types.MergePatchType, locked)); err != nil {
		return false, fmt.Errorf("patching status of %s: %w", base.GetName(), err)
	}
	return true, nil
}
