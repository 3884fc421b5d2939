package inplace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/inplace"
)

// baseTemplate is what the cases of TestCompute change by replacing text. Container side reads label
// tier and annotation conf.
const baseTemplate = `{"metadata":{"creationTimestamp":null,"labels":{"app":"web","tier":"a","old":"x"},"annotations":{"conf":"1","note":"n"},"finalizers":["example.com/f"]},
"spec":{"serviceAccountName":"robot","containers":[
{"name":"main","image":"web:1","env":[{"name":"MODE","value":"fast"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1"}},"livenessProbe":{"httpGet":{"port":80}}},
{"name":"side","image":"side:1","resources":{},"env":[
 {"name":"TIER","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['tier']"}}},
 {"name":"CONF","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['conf']"}}}]}],
"initContainers":[{"name":"init","image":"init:1","resources":{}}],
"volumes":[{"name":"v","emptyDir":{}}],"tolerations":[{"key":"a"}]}}`

// revisionOf returns a revision that stores a template.
func revisionOf(name, template string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{"template":` + template + `}}`)},
	}
}

// edit replaces text of the base template and fails the test if it is not there.
func edit(t *testing.T, pairs ...string) string {
	t.Helper()
	out := baseTemplate
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(out, pairs[i]) {
			t.Fatalf("the base template has no %s", pairs[i])
		}
		out = strings.ReplaceAll(out, pairs[i], pairs[i+1])
	}
	return out
}

func compute(t *testing.T, old, new *appsv1.ControllerRevision, opts inplace.Options) (*inplace.Change, string) {
	t.Helper()
	change, refusal, err := inplace.Compute(old, new, opts)
	if err != nil {
		t.Fatal(err)
	}
	if (change == nil) == (refusal == "") {
		t.Fatalf("want a change or a refusal, got %v and %q", change, refusal)
	}
	return change, refusal
}

func TestComputeInPlace(t *testing.T) {
	envGate := inplace.Options{Gates: inplace.Gates{EnvFromMetadata: true}}
	labels := func(kv ...string) metav1.ObjectMeta { return metav1.ObjectMeta{Labels: pairs(kv)} }
	annotations := func(kv ...string) metav1.ObjectMeta { return metav1.ObjectMeta{Annotations: pairs(kv)} }
	for _, c := range []struct {
		name string
		edit []string
		opts inplace.Options
		want inplace.Change
	}{
		{"IP-14: no difference", nil, envGate, inplace.Change{}},
		{"IP-12: an image", []string{"web:1", "web:2"}, envGate,
			inplace.Change{Images: map[string]string{"main": "web:2"}}},
		{"IP-12: several images, with grace", []string{"web:1", "web:2", "side:1", "side:2"}, inplace.Options{GraceSeconds: 5},
			inplace.Change{Images: map[string]string{"main": "web:2", "side": "side:2"}, GraceSeconds: 5}},
		{"IP-15: labels set, added and removed", []string{`"app":"web"`, `"app":"shop","new":"y"`, `,"old":"x"`, ""}, envGate,
			inplace.Change{MetadataPatch: []byte(`{"metadata":{"labels":{"app":"shop","new":"y","old":null}}}`)}},
		{"IP-15: a removed finalizer", []string{`,"finalizers":["example.com/f"]`, ""}, envGate,
			inplace.Change{MetadataPatch: []byte(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/f"]}}`)}},
		{"IP-12: name and the like of the template do not reach pods", []string{`"labels"`, `"name":"n","labels"`}, envGate,
			inplace.Change{}},
		{"IP-21: a label read by env", []string{`"tier":"a"`, `"tier":"b"`}, envGate,
			inplace.Change{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"side": labels("tier", "b")}}},
		{"IP-21: an annotation read by env, with another key", []string{`"conf":"1"`, `"conf":"2"`, `"note":"n"`, `"note":"m"`}, envGate,
			inplace.Change{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"side": annotations("conf", "2")},
				MetadataPatch: []byte(`{"metadata":{"annotations":{"note":"m"}}}`)}},
		{"IP-23: the gate is off", []string{`"tier":"a"`, `"tier":"b"`}, inplace.Options{},
			inplace.Change{MetadataPatch: []byte(`{"metadata":{"labels":{"tier":"b"}}}`)}},
		{"P-8: a removed key that env reads restarts too", []string{`"tier":"a",`, ""}, envGate,
			inplace.Change{EnvFromMetadata: true, MetadataPatch: []byte(`{"metadata":{"labels":{"tier":null}}}`)}},
		{"IP-19a: a null creation time", []string{`"creationTimestamp":null,`, ""}, envGate, inplace.Change{}},
		{"IP-19a: empty resources", []string{`"resources":{},`, ""}, envGate, inplace.Change{}},
		{"IP-19a: the alias of the service account", []string{`"serviceAccountName"`, `"serviceAccount":"robot","serviceAccountName"`}, envGate, inplace.Change{}},
		{"IP-19a: defaults and an image", []string{`"httpGet":{"port":80}`, `"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"periodSeconds":10`,
			`"image":"web:1"`, `"image":"web:latest","imagePullPolicy":"Always"`}, envGate,
			inplace.Change{Images: map[string]string{"main": "web:latest"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, refusal := compute(t, revisionOf("web-1", baseTemplate), revisionOf("web-2", edit(t, c.edit...)), c.opts)
			if refusal != "" {
				t.Fatalf("refused: %s", refusal)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("P-8: the first key of an empty map", func(t *testing.T) {
		old := edit(t, `,"annotations":{"conf":"1","note":"n"}`, "")
		got, _ := compute(t, revisionOf("web-1", old), revisionOf("web-2", baseTemplate), envGate)
		want := &inplace.Change{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"side": annotations("conf", "1")},
			MetadataPatch: []byte(`{"metadata":{"annotations":{"note":"n"}}}`)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestComputeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit []string
		want string
	}{
		{"IP-12: an env literal", []string{`"value":"fast"`, `"value":"slow"`}, "spec.template.spec.containers[main].env[MODE].value was changed"},
		{"IP-12: an added env", []string{`"value":"fast"}`, `"value":"fast"},{"name":"X"}`}, "spec.template.spec.containers[main].env[X] was added"},
		{"IP-12: an init container's image", []string{"init:1", "init:2"}, "spec.template.spec.initContainers[init].image was changed"},
		{"IP-12: a volume", []string{`"emptyDir":{}`, `"hostPath":{"path":"/x"}`},
			"spec.template.spec.volumes[v].emptyDir was removed, spec.template.spec.volumes[v].hostPath was added"},
		{"IP-12: a toleration", []string{`{"key":"a"}`, `{"key":"a"},{"key":"b"}`}, "spec.template.spec.tolerations[1] was added"},
		{"IP-12: the termination grace period", []string{`"serviceAccountName"`, `"terminationGracePeriodSeconds":5,"serviceAccountName"`},
			"spec.template.spec.terminationGracePeriodSeconds was changed"},
		{"IP-11: a renamed container", []string{`"name":"side"`, `"name":"car"`}, "spec.template.spec.containers[1].name was changed"},
		{"IP-11: an added container", []string{`]}],
"initContainers"`, `]},{"name":"more","image":"m"}],
"initContainers"`}, "spec.template.spec.containers[more] was added"},
		{"IP-12: an image beside something else", []string{"web:1", "web:2", `"value":"fast"`, `"value":"slow"`},
			"spec.template.spec.containers[main].env[MODE].value was changed"},
		{"IP-26: resources with the gate off", []string{`"cpu":"1","memory"`, `"cpu":"2","memory"`}, "spec.template.spec.containers[main].resources.limits.cpu was changed"},
		{"many fields are counted", []string{`"name":"MODE","value":"fast"`, `"name":"M","value":"s"`, "init:1", "init:2", `"key":"a"`, `"key":"b"`, "robot", "human"},
			"spec.template.spec.containers[main].env[0].name was changed, spec.template.spec.containers[main].env[0].value was changed, " +
				"spec.template.spec.initContainers[init].image was changed, and 3 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := compute(t, revisionOf("web-1", baseTemplate), revisionOf("web-2", edit(t, c.edit...)), inplace.Options{})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("IP-11: a reordered list of containers", func(t *testing.T) {
		forth := `{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}]}}`
		back := `{"spec":{"containers":[{"name":"b","image":"y"},{"name":"a","image":"x"}]}}`
		if _, got := compute(t, revisionOf("1", forth), revisionOf("2", back), inplace.Options{}); !strings.Contains(got, "containers[0].name was changed") {
			t.Errorf("got %q", got)
		}
	})
}

func TestComputeRevisions(t *testing.T) {
	good := revisionOf("web-1", baseTemplate)
	for _, c := range []struct {
		name     string
		old, new *appsv1.ControllerRevision
	}{
		{"IP-10: no old revision", nil, good},
		{"IP-10: no new revision", good, nil},
		{"IP-10: an old one that cannot be read", revisionOf("web-1", "{"), good},
		{"IP-10: a new one that cannot be read", good, revisionOf("web-2", "null")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if change, refusal := compute(t, c.old, c.new, inplace.Options{}); change != nil {
				t.Errorf("got %v, %q", change, refusal)
			}
		})
	}
}

func TestComputeClaimHash(t *testing.T) {
	gate := inplace.Gates{RecreateOnVCTChange: true}
	with := func(hash string) *appsv1.ControllerRevision {
		r := revisionOf("web-"+hash, baseTemplate)
		r.Annotations = map[string]string{wire.AnnotationVCTHash: hash}
		return r
	}
	for _, c := range []struct {
		name     string
		old, new *appsv1.ControllerRevision
		opts     inplace.Options
		refused  bool
	}{
		{"IP-18: another hash", with("1"), with("2"), inplace.Options{Gates: gate}, true},
		{"IP-18: the same hash", with("1"), with("1"), inplace.Options{Gates: gate}, false},
		{"IP-18: none is a value", with("1"), with(""), inplace.Options{Gates: gate}, true},
		{"IP-18: a revision without the annotation", with("1"), revisionOf("web-2", baseTemplate), inplace.Options{Gates: gate}, false},
		{"IP-18: told to ignore it", with("1"), with("2"), inplace.Options{Gates: gate, IgnoreVCTHash: true}, false},
		{"IP-18: the gate is off", with("1"), with("2"), inplace.Options{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, refusal := compute(t, c.old, c.new, c.opts); (refusal != "") != c.refused {
				t.Errorf("got %q", refusal)
			}
		})
	}
}

func pairs(kv []string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = kv[i+1]
	}
	return out
}

// The templates of the cases are JSON, or the cases prove nothing.
func TestBaseTemplate(t *testing.T) {
	if !json.Valid([]byte(baseTemplate)) {
		t.Fatal("the base template is not JSON")
	}
}
