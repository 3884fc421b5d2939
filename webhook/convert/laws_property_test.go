package convert_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/webhook/convert"
)

const (
	hub   = "apps.kruise.io/v1beta1"
	spoke = "apps.kruise.io/v1alpha1"
)

// to converts and holds on the way that the input is not altered.
func to(t rapid.TB, obj object, version string) object {
	t.Helper()
	before := runtime.DeepCopyJSON(obj)
	result, err := convert.To(obj, version)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, obj); diff != "" {
		t.Fatalf("CS-50: the input was altered:\n%s", diff)
	}
	return throughJSON(t, result.Object)
}

// throughJSON makes sure that what a conversion returns survives the wire.
func throughJSON(t rapid.TB, obj object) object {
	t.Helper()
	return decode(t, encode(t, obj))
}

func encode(t rapid.TB, obj object) []byte {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decode(t rapid.TB, raw []byte) object {
	t.Helper()
	var obj object
	if err := utiljson.Unmarshal(raw, &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestStoredObjectSurvivesV1alpha1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := genHub().Draw(t, "stored")
		back := to(t, to(t, stored, spoke), hub)
		if diff := cmp.Diff(stored, back); diff != "" {
			t.Fatalf("WH-130: reading and writing as v1alpha1 changed the stored object:\n%s", diff)
		}
	})
}

func TestUnrelatedEditInV1alpha1ChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := genHub().Draw(t, "stored")
		view := to(t, stored, spoke)
		for _, obj := range []object{stored, view} {
			field(obj, "spec")["replicas"] = int64(40)
			field(obj, "status")["replicas"] = int64(41)
			field(obj, "spec", "template", "spec")["hostname"] = "h"
		}
		if diff := cmp.Diff(stored, to(t, view, hub)); diff != "" {
			t.Fatalf("WH-130: an edit of other fields as v1alpha1 changed the stored object:\n%s", diff)
		}
	})
}

func TestV1alpha1ObjectSurvivesStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		written := genSpoke().Draw(t, "written")
		read := to(t, to(t, written, hub), spoke)
		if diff := cmp.Diff(meaning(written), meaning(read)); diff != "" {
			t.Fatalf("C-6: what was written as v1alpha1 reads differently:\n%s", diff)
		}
	})
}

// A client that reads a view of one object and writes the settings of another one gets those settings,
// whatever the annotation keeps of the first.
func TestEditInV1alpha1Wins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := to(t, genHub().Draw(t, "stored"), spoke)
		edited := genSpoke().Draw(t, "edited")
		kept, has := field(view, "metadata", "annotations")[wire.AnnotationOtherVersion]
		if !has {
			t.Skip("nothing kept")
		}
		meta := field(edited, "metadata")
		if meta["annotations"] == nil {
			meta["annotations"] = object{}
		}
		field(meta, "annotations")[wire.AnnotationOtherVersion] = kept

		read := to(t, to(t, edited, hub), spoke)
		if diff := cmp.Diff(meaning(edited), meaning(read)); diff != "" {
			t.Fatalf("WH-130: a kept field overrode the client:\n%s", diff)
		}
	})
}

// Two v1alpha1 objects that say the same must not differ in v1beta1, and a view must be stable: reading
// again gives the same text, so that watches and apply see no change.
func TestViewIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := to(t, genHub().Draw(t, "stored"), spoke)
		again := to(t, to(t, view, hub), spoke)
		if diff := cmp.Diff(view, again); diff != "" {
			t.Fatalf("the v1alpha1 view changed by being written back:\n%s", diff)
		}
	})
}

// meaning returns the object without our annotation and without what says nothing (absent, false and
// empty are the same in both versions' schemas).
func meaning(obj object) object {
	obj = runtime.DeepCopyJSON(obj)
	delete(field(obj, "metadata", "annotations"), wire.AnnotationOtherVersion)
	dropBlank(obj)
	return obj
}

func dropBlank(obj object) {
	for key, value := range obj {
		child, isMap := value.(object)
		if isMap {
			dropBlank(child)
		}
		if value == nil || value == false || (isMap && len(child) == 0) {
			delete(obj, key)
		}
	}
}

func field(obj object, path ...string) object {
	for _, key := range path {
		obj, _ = obj[key].(object)
	}
	return obj
}
