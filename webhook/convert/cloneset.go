package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// cloneSet returns the rules of CloneSet (CS-45 to CS-53). What the versions say differently:
//
//	v1alpha1                              v1beta1
//	updateStrategy.type                   updateStrategy.type and rollingUpdate.podUpdatePolicy
//	updateStrategy.<anything else>        updateStrategy.rollingUpdate.<the same>
//	scaleStrategy.disablePVCReuse         scaleStrategy.enablePVCReuse, the opposite
//	label ...-exclude-preparing-delete    scaleStrategy.excludePreparingDelete
//	annotations image-predownload-*       rollingUpdate.inPlaceUpdateStrategy.imagePreDownload*
//
// Of a setting that v1alpha1 has as a label or annotation and v1beta1 as a field, a v1beta1 object may
// hold both. There the field decides (CS-51), so the v1alpha1 view shows the label or annotation as
// the field has it.
func cloneSet() rules {
	return rules{
		toHub:     cloneSetToHub,
		toSpoke:   cloneSetToSpoke,
		fitsHub:   fits[v1beta1.CloneSetScaleStrategy, v1beta1.CloneSetUpdateStrategy],
		fitsSpoke: fits[v1alpha1.CloneSetScaleStrategy, v1alpha1.CloneSetUpdateStrategy],
	}
}

func cloneSetToHub(obj map[string]any) {
	spec := ensureMap(obj, "spec")
	scale := ensureMap(spec, "scaleStrategy")
	scale["enablePVCReuse"] = scale["disablePVCReuse"] != true
	delete(scale, "disablePVCReuse")
	delete(scale, "excludePreparingDelete")
	if metadataText(obj, "labels", wire.LabelScalingExcludePreparingDelete) == "true" {
		scale["excludePreparingDelete"] = true
	}

	rolling := ensureMap(spec, "updateStrategy")
	preDownloadToFields(obj, rolling)
	update := map[string]any{}
	policy, _ := rolling["type"].(string)
	delete(rolling, "type")
	delete(rolling, "podUpdatePolicy")
	if v1alpha1.CloneSetUpdateStrategyType(policy) == v1alpha1.OnDeleteCloneSetUpdateStrategyType {
		update["type"] = string(v1beta1.OnDeleteCloneSetUpdateStrategyType)
	} else {
		update["type"] = string(v1beta1.RollingUpdateCloneSetUpdateStrategyType)
		rolling["podUpdatePolicy"] = knownPolicy(policy)
	}
	if len(rolling) > 0 {
		update["rollingUpdate"] = rolling
	}
	spec["updateStrategy"] = update
}

func cloneSetToSpoke(obj map[string]any) {
	spec := ensureMap(obj, "spec")
	scale := ensureMap(spec, "scaleStrategy")
	if scale["enablePVCReuse"] != true {
		scale["disablePVCReuse"] = true
	}
	delete(scale, "enablePVCReuse")
	showExclusion(obj, scale["excludePreparingDelete"] == true)
	delete(scale, "excludePreparingDelete")
	dropIfEmpty(spec, "scaleStrategy")

	update := ensureMap(spec, "updateStrategy")
	rolling := ensureMap(update, "rollingUpdate")
	preDownloadToAnnotations(obj, rolling)
	kind, _ := update["type"].(string)
	policy, _ := rolling["podUpdatePolicy"].(string)
	delete(rolling, "podUpdatePolicy")
	delete(update, "rollingUpdate")
	maps.Copy(update, rolling)
	if v1beta1.CloneSetUpdateStrategyType(kind) == v1beta1.OnDeleteCloneSetUpdateStrategyType {
		update["type"] = string(v1alpha1.OnDeleteCloneSetUpdateStrategyType)
	} else {
		update["type"] = knownPolicy(policy)
	}
}

// knownPolicy returns the way of updating a pod, under the name that both versions have for it. What
// is absent or unknown counts as ReCreate (CS-45, CS-48).
func knownPolicy(policy string) string {
	switch p := v1beta1.PodUpdateStrategyType(policy); p {
	case v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType:
		return policy
	default:
		return string(v1beta1.RecreatePodUpdateStrategyType)
	}
}

// showExclusion makes the label say what the field says. Another value than "true" means no, and
// stays.
func showExclusion(obj map[string]any, excluded bool) {
	key := wire.LabelScalingExcludePreparingDelete
	switch {
	case excluded:
		setMetadata(obj, "labels", key, "true")
	case metadataText(obj, "labels", key) == "true":
		dropMetadata(obj, "labels", key)
	}
}

// preDownload is one setting of image pre-download: an annotation in v1alpha1, a field of
// inPlaceUpdateStrategy in v1beta1.
type preDownload struct {
	annotation, field string
	// parse reads the text of the annotation; it returns nil if the text is no value for the field.
	parse func(text string) any
}

func preDownloads() []preDownload {
	return []preDownload{
		{wire.AnnotationImagePreDownloadParallelism, "imagePreDownloadParallelism", parseIntOrText},
		{wire.AnnotationImagePreDownloadTimeoutSeconds, "imagePreDownloadTimeoutSeconds", parseInt},
		{wire.AnnotationImagePreDownloadMinUpdatedReadyPods, "imagePreDownloadMinUpdatedReadyPods", parseInt},
	}
}

// preDownloadToFields sets the fields from the annotations, which stay. What a v1alpha1 object has in
// the fields themselves is without meaning and goes.
func preDownloadToFields(obj, rolling map[string]any) {
	for _, s := range preDownloads() {
		delete(childMap(rolling, "inPlaceUpdateStrategy"), s.field)
		if value := s.parse(metadataText(obj, "annotations", s.annotation)); value != nil {
			ensureMap(rolling, "inPlaceUpdateStrategy")[s.field] = value
		}
	}
}

// preDownloadToAnnotations makes the annotations say what the fields say (CS-48). Text that means the
// same as the field is left as its author wrote it, and so is text that means nothing where there is
// no field.
func preDownloadToAnnotations(obj, rolling map[string]any) {
	inPlace := childMap(rolling, "inPlaceUpdateStrategy")
	for _, s := range preDownloads() {
		value := s.fieldValue(inPlace)
		delete(inPlace, s.field)
		switch {
		case value == s.parse(metadataText(obj, "annotations", s.annotation)):
		case value == nil:
			dropMetadata(obj, "annotations", s.annotation)
		default:
			setMetadata(obj, "annotations", s.annotation, fmt.Sprint(value))
		}
	}
}

// fieldValue reads the field as parse would: the string "5" is the number 5, the empty string is nil.
func (s preDownload) fieldValue(inPlace map[string]any) any {
	value, present := inPlace[s.field]
	if !present {
		return nil
	}
	return s.parse(fmt.Sprint(value))
}

// parseInt reads an int32; anything else, percentages too, is nil (CS-47).
func parseInt(text string) any {
	value, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil
	}
	return value
}

// parseIntOrText reads an int32 or takes the text as it is; only the empty text is nil (CS-47).
func parseIntOrText(text string) any {
	if text == "" {
		return nil
	}
	if value := parseInt(text); value != nil {
		return value
	}
	return text
}

// fits tells whether the strategies of a CloneSet can be decoded into the types of a version.
func fits[Scale, Update any](obj map[string]any) error {
	var into struct {
		Scale  Scale  `json:"scaleStrategy"`
		Update Update `json:"updateStrategy"`
	}
	spec := childMap(obj, "spec")
	raw, err := json.Marshal(map[string]any{
		"scaleStrategy": spec["scaleStrategy"], "updateStrategy": spec["updateStrategy"],
	})
	if err != nil {
		return fmt.Errorf("encoding the strategies: %w", err)
	}
	if err := unmarshal(raw, &into); err != nil {
		return fmt.Errorf("decoding the strategies: %w", err)
	}
	return nil
}
