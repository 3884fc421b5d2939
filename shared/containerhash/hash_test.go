package containerhash_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/containerhash"
)

// The numbers in these tests were worked out apart from this code: FNV-1a 32 of the text
// "([]uint8)[123 34 ... 125]" of the JSON given beside them.

func TestPlain(t *testing.T) {
	got, err := containerhash.Plain(&corev1.Container{Name: "main", Image: "web:1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []uint64{
		598118334, // {"image":"web:1","name":"main"}
		811596227, // {"name":"main","image":"web:1","resources":{}}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IP-78: %s", diff)
	}
}

func TestPlainCandidates(t *testing.T) {
	plain := func(c corev1.Container) []uint64 {
		t.Helper()
		got, err := containerhash.Plain(&c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := plain(corev1.Container{Name: "main", Image: "web:1"})
	moreEnv := plain(corev1.Container{Name: "main", Image: "web:1", Env: []corev1.EnvVar{{Name: "A"}}})
	if before[0] != moreEnv[0] || before[1] == moreEnv[1] {
		t.Errorf("IP-78: only the older hash covers more than name and image: %v, %v", before, moreEnv)
	}
	if other := plain(corev1.Container{Name: "main", Image: "web:2"}); before[0] == other[0] || before[1] == other[1] {
		t.Errorf("IP-78: both hashes cover the image: %v, %v", before, other)
	}
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func TestReferences(t *testing.T) {
	literal := fromField("LITERAL", "metadata.labels['l']")
	literal.Value = "x"
	got := containerhash.References(&corev1.Container{Env: []corev1.EnvVar{
		fromField("B", "metadata.annotations['example.com/a']"),
		fromField("A", "metadata.labels['l']"),
		literal,
		{Name: "NOTHING"},
		{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}},
		fromField("ALL", "metadata.labels"),
		fromField("OPEN", "metadata.labels['l'"),
		fromField("NODE", "spec.nodeName"),
		fromField("SIDECARSET_VERSION", "metadata.annotations['v']"),
		fromField("SIDECARSET_VERSION_ALT", "metadata.annotations['v']"),
	}})
	want := []containerhash.Reference{
		{Env: "B", Source: containerhash.Annotations, Key: "example.com/a"},
		{Env: "A", Source: containerhash.Labels, Key: "l"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IP-20: %s", diff)
	}
}

func TestEnvFromMetadata(t *testing.T) {
	container := &corev1.Container{Env: []corev1.EnvVar{
		fromField("B", "metadata.annotations['b']"), fromField("A", "metadata.labels['a']"),
	}}
	for _, c := range []struct {
		name      string
		container *corev1.Container
		meta      metav1.ObjectMeta
		want      uint64
	}{
		{"IP-85: no such env hashes null", &corev1.Container{}, metav1.ObjectMeta{}, 86995377},
		{"IP-85: sorted by name, a missing key has no value", container,
			metav1.ObjectMeta{Labels: map[string]string{"a": "x"}}, 297544401}, // [{"name":"A","value":"x"},{"name":"B"}]
		{"IP-85: an empty value is as a missing key", container,
			metav1.ObjectMeta{Labels: map[string]string{"a": "x"}, Annotations: map[string]string{"b": ""}}, 297544401},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := containerhash.EnvFromMetadata(c.container, &c.meta)
			if err != nil || got != c.want {
				t.Errorf("got %d (%v), want %d", got, err, c.want)
			}
		})
	}
}

// The order of env entries does not count, and any change of a value that is read does.
func TestEnvProperty(t *testing.T) {
	keys := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		var env []corev1.EnvVar
		meta := metav1.ObjectMeta{Labels: map[string]string{}}
		for _, key := range keys {
			env = append(env, fromField("ENV_"+key, "metadata.labels['"+key+"']"))
			meta.Labels[key] = rapid.StringMatching("[a-z]{0,3}").Draw(t, key)
		}
		hash := func(env []corev1.EnvVar) uint64 {
			got, err := containerhash.EnvFromMetadata(&corev1.Container{Env: env}, &meta)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		before := hash(env)
		reversed := slices.Clone(env)
		slices.Reverse(reversed)
		if hash(reversed) != before {
			t.Fatal("IP-85: the order counts")
		}
		meta.Labels[rapid.SampledFrom(keys).Draw(t, "changed")] += "x"
		if hash(env) == before {
			t.Fatal("IP-85: a change does not count")
		}
	})
}
