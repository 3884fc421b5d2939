package convert

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// The names of the two versions, in apiVersion and in the record.
const (
	hubVersion   = "v1beta1"
	spokeVersion = "v1alpha1"
)

// rules are what a kind brings. They are total: whatever the object holds, they do their best and
// cannot fail, since one object that fails makes the whole list unreadable (WH-131).
type rules struct {
	// toHub makes a v1alpha1 object a v1beta1 object, as far as the versions have the same words, by
	// changing it. It need not care about apiVersion.
	toHub func(obj map[string]any)
	// toSpoke makes a v1beta1 object a v1alpha1 object likewise.
	toSpoke func(obj map[string]any)
	// fitsHub and fitsSpoke tell whether clients of the version can decode what a record may restore.
	fitsHub, fitsSpoke func(obj map[string]any) error
}

// Result is a converted object.
type Result struct {
	// Object is the object in the wanted version. It shares nothing with the input.
	Object map[string]any
	// Remarks say which kept fields could not be used, and why. They are for the log: the conversion
	// is complete without them.
	Remarks []string
}

// up converts a v1alpha1 object to v1beta1 and restores what only v1beta1 can say.
func (r rules) up(spoke map[string]any) Result {
	bare, kept, remarks := takeRecord(spoke, hubVersion)
	view := func(hub map[string]any) map[string]any { return r.downPlain(hub).Object }
	hub, more := restore(r.upPlain(bare), kept, r.fitsHub, view)
	return Result{Object: hub, Remarks: append(remarks, more...)}
}

// down converts a v1beta1 object to v1alpha1 and keeps what only v1beta1 can say in the annotation.
func (r rules) down(hub map[string]any) Result {
	result := r.downPlain(hub)
	if lost := differences(hub, r.upPlain(result.Object)); len(lost) > 0 {
		putRecord(result.Object, record{hubVersion: lost})
	}
	return result
}

// upPlain converts to v1beta1 and keeps what only v1alpha1 can say. A stored object should not carry
// an annotation for nothing, so a field that says nothing in either view is not kept.
func (r rules) upPlain(spoke map[string]any) map[string]any {
	hub := r.bareHub(spoke)
	var lost []kept
	for _, field := range differences(spoke, r.bareSpoke(hub)) {
		if !blank(field.Is) || !blank(field.Shows) {
			lost = append(lost, field)
		}
	}
	if len(lost) > 0 {
		putRecord(hub, record{spokeVersion: lost})
	}
	return hub
}

// downPlain converts to v1alpha1 and restores what only v1alpha1 can say.
func (r rules) downPlain(hub map[string]any) Result {
	bare, kept, remarks := takeRecord(hub, spokeVersion)
	spoke, more := restore(r.bareSpoke(bare), kept, r.fitsSpoke, r.bareHub)
	return Result{Object: spoke, Remarks: append(remarks, more...)}
}

func (r rules) bareHub(spoke map[string]any) map[string]any {
	return translate(spoke, hubVersion, r.toHub)
}

func (r rules) bareSpoke(hub map[string]any) map[string]any {
	return translate(hub, spokeVersion, r.toSpoke)
}

func translate(obj map[string]any, version string, apply func(map[string]any)) map[string]any {
	out := runtime.DeepCopyJSON(obj)
	apiVersion, _ := out["apiVersion"].(string)
	group, _, _ := strings.Cut(apiVersion, "/")
	out["apiVersion"] = group + "/" + version
	apply(out)
	return out
}

// restore puts the kept fields back into an object that the plain rules made. The annotation comes
// from users, too, so a field is not believed if clients could not decode the object with it, or if it
// says anything that view, the other version, can see: there the other version has the word.
func restore(obj map[string]any, fields []kept, fits func(map[string]any) error,
	view func(map[string]any) map[string]any) (map[string]any, []string) {
	var remarks []string
	for _, field := range fields {
		candidate, found := field.restored(obj)
		if !found {
			continue
		}
		err := fits(candidate)
		switch {
		case err != nil:
			remarks = append(remarks, fmt.Sprintf("not restoring %s: %v", field.name(), err))
		case !reflect.DeepEqual(view(candidate), view(obj)):
			remarks = append(remarks, fmt.Sprintf("not restoring %s: the other version says it, too", field.name()))
		default:
			obj = candidate
		}
	}
	return obj, remarks
}

// takeRecord returns the object without the annotation, and the fields of version that it keeps.
func takeRecord(obj map[string]any, version string) (map[string]any, []kept, []string) {
	text := metadataText(obj, "annotations", wire.AnnotationOtherVersion)
	if text == "" {
		return obj, nil, nil
	}
	obj = runtime.DeepCopyJSON(obj)
	dropMetadata(obj, "annotations", wire.AnnotationOtherVersion)
	rec, err := decodeRecord(text)
	if err != nil {
		return obj, nil, []string{err.Error()}
	}
	return obj, rec[version], nil
}

func putRecord(obj map[string]any, rec record) {
	setMetadata(obj, "annotations", wire.AnnotationOtherVersion, rec.encode())
}
