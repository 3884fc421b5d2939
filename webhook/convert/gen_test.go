package convert_test

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

type object = map[string]any

// Objects as the API server can hold them: every field may be absent, has the type of the schema, and
// the labels and annotations that matter for conversion agree with the fields or not.

func genHub() *rapid.Generator[object] {
	return rapid.Custom(func(t *rapid.T) object {
		rolling := strategyFields(t)
		maybe(t, rolling, "podUpdatePolicy", pick("", "ReCreate", "InPlaceIfPossible", "InPlaceOnly"))
		update := object{}
		maybe(t, update, "type", pick("", "RollingUpdate", "OnDelete"))
		maybe(t, update, "rollingUpdate", rapid.Just[any](rolling))
		scale := scaleFields(t)
		maybe(t, scale, "enablePVCReuse", pick(true, false))
		maybe(t, scale, "excludePreparingDelete", pick(true, false))
		return assemble(t, "v1beta1", scale, update)
	})
}

func genSpoke() *rapid.Generator[object] {
	return rapid.Custom(func(t *rapid.T) object {
		update := strategyFields(t)
		maybe(t, update, "type", pick("", "ReCreate", "InPlaceIfPossible", "InPlaceOnly", "OnDelete"))
		scale := scaleFields(t)
		maybe(t, scale, "disablePVCReuse", pick(true, false))
		return assemble(t, "v1alpha1", scale, update)
	})
}

func assemble(t *rapid.T, version string, scale, update object) object {
	spec := object{
		"selector": object{"matchLabels": object{"app": "web"}},
		"template": object{"spec": object{
			"containers":  []any{object{"name": "main", "image": "web:1", "newInVersion9": object{"n": int64(9)}}},
			"newSetting9": 0.5,
		}},
		"volumeClaimTemplates": []any{object{"metadata": object{"name": "data"}, "newSetting9": "kept"}},
	}
	maybe(t, spec, "replicas", pick(int64(0), int64(7)))
	maybe(t, spec, "scaleStrategy", rapid.Just[any](scale))
	maybe(t, spec, "updateStrategy", rapid.Just[any](update))
	meta := object{"name": "web", "namespace": "shop", "generation": int64(4)}
	setUnlessEmpty(meta, "labels", labels(t))
	setUnlessEmpty(meta, "annotations", annotations(t))
	return object{
		"apiVersion": "apps.kruise.io/" + version, "kind": "CloneSet",
		"metadata": meta, "spec": spec,
		"status": object{"replicas": int64(7), "collisionCount": int64(0), "newCounter9": int64(1)},
	}
}

func strategyFields(t *rapid.T) object {
	fields := object{}
	maybe(t, fields, "partition", pick(int64(0), int64(3), "40%"))
	maybe(t, fields, "maxUnavailable", pick(int64(1), "20%"))
	maybe(t, fields, "maxSurge", pick(int64(0), "10%"))
	maybe(t, fields, "paused", pick(true, false))
	maybe(t, fields, "scatterStrategy", pick([]any{}, []any{object{"key": "zone", "value": "a"}}))
	maybe(t, fields, "priorityStrategy", pick(object{}, object{"orderPriority": []any{object{"orderedKey": "n"}}}))
	inPlace := object{}
	maybe(t, inPlace, "gracePeriodSeconds", pick(int64(0), int64(30)))
	maybe(t, inPlace, "imagePreDownloadParallelism", pick(int64(0), int64(5), "5", "05", "50%", ""))
	maybe(t, inPlace, "imagePreDownloadTimeoutSeconds", pick(int64(0), int64(600), int64(-5)))
	maybe(t, inPlace, "imagePreDownloadMinUpdatedReadyPods", pick(int64(2)))
	maybe(t, fields, "inPlaceUpdateStrategy", rapid.Just[any](inPlace))
	return fields
}

func scaleFields(t *rapid.T) object {
	fields := object{}
	maybe(t, fields, "podsToDelete", pick([]any{}, []any{"web-abcde"}))
	maybe(t, fields, "maxUnavailable", pick(int64(2), "5"))
	return fields
}

func labels(t *rapid.T) object {
	all := object{}
	maybe(t, all, "team", pick("shop"))
	maybe(t, all, wire.LabelScalingExcludePreparingDelete, pick("true", "false", "True", ""))
	return all
}

func annotations(t *rapid.T) object {
	all := object{}
	maybe(t, all, "note", pick("a", ""))
	maybe(t, all, wire.AnnotationImagePreDownloadParallelism, pick("5", "05", "50%", "", "99999999999"))
	maybe(t, all, wire.AnnotationImagePreDownloadTimeoutSeconds, pick("600", "+600", "30%", "", "-5"))
	maybe(t, all, wire.AnnotationImagePreDownloadMinUpdatedReadyPods, pick("2", "30%"))
	maybe(t, all, wire.AnnotationOtherVersion, pick("not JSON", "{}", "[1]", recordText("v1beta1"), recordText("v1alpha1")))
	return all
}

// recordText is a record as it may be left over from another object, or made by hand.
func recordText(version string) string {
	raw, err := json.Marshal(object{version: []any{
		object{"path": []any{"spec", "updateStrategy", "rollingUpdate", "podUpdatePolicy"}, "is": "InPlaceOnly"},
		object{"path": []any{"spec", "scaleStrategy", "excludePreparingDelete"}, "is": true},
		object{"path": []any{"spec", "replicas"}, "is": int64(100), "shows": int64(7)},
		object{"path": []any{"spec", "updateStrategy", "type"}, "is": object{}, "shows": "OnDelete"},
		object{"path": []any{"metadata", "name"}, "is": "other", "shows": "web"},
		object{"path": []any{"metadata", "labels", "team", "deep"}, "is": "x"},
		object{"path": []any{"kind"}, "is": "Pod", "shows": "CloneSet"},
		object{"path": []any{}},
	}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func maybe(t *rapid.T, into object, key string, values *rapid.Generator[any]) {
	if rapid.Bool().Draw(t, "has "+key) {
		into[key] = values.Draw(t, key)
	}
}

func pick(values ...any) *rapid.Generator[any] { return rapid.SampledFrom(values) }

func setUnlessEmpty(into object, key string, value object) {
	if len(value) > 0 {
		into[key] = value
	}
}
