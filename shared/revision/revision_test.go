package revision_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// Hashes of testdata/TestData/web.json, worked out by hand from RV-3: FNV-1 32 of the file and "0" is
// 312527198, of the file and "1" 312527199.
const (
	hashOfWeb    = "75696c5fd"
	nextHashOfIt = "75696c5ff"
)

// webTemplate is a template as the reference's webhook fills it.
func webTemplate() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: "nginx:1.25", ImagePullPolicy: corev1.PullAlways,
				Env:                    []corev1.EnvVar{{Name: "A", Value: "<a>&b"}},
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
			Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
				Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
					Spec: claimSpec(),
				}}}}},
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			SchedulerName: "default-scheduler", SecurityContext: &corev1.PodSecurityContext{},
			TerminationGracePeriodSeconds: new(int64(30)),
		},
	}
}

func claimSpec() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

func golden(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// stored returns a revision with given data.
func stored(name string, number int64, data []byte) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: number, Data: runtime.RawExtension{Raw: data},
	}
}

func TestData(t *testing.T) {
	got, err := revision.Data(webTemplate())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden(t, "testdata/TestData/web.json")), string(got)); diff != "" {
		t.Errorf("RV-1: the bytes are not those of the reference: %s", diff)
	}
}

func TestDataIsReadBack(t *testing.T) {
	want := webTemplate()
	data, err := revision.Data(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := revision.Template(stored("web-1", 1, data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTemplateOfBadData(t *testing.T) {
	for _, data := range []string{"", "{", `{"spec":{}}`, `{"spec":{"template":[]}}`} {
		if got, err := revision.Template(stored("web-1", 1, []byte(data))); err == nil {
			t.Errorf("IP-10: data %q gave %v, want an error", data, got)
		}
	}
}

func TestNew(t *testing.T) {
	owner := &metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u1"}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}
	params := revision.Params{Owner: owner, OwnerGVK: kind, Template: webTemplate(), Revision: 7,
		Annotations: map[string]string{"note": "x"}}
	got, err := revision.New(params)
	if err != nil {
		t.Fatal(err)
	}
	want := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + hashOfWeb, Namespace: "shop",
			Labels:      map[string]string{"app": "web", "controller.kubernetes.io/hash": hashOfWeb},
			Annotations: map[string]string{"note": "x"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet",
				Name: "web", UID: "u1", Controller: new(true), BlockOwnerDeletion: new(true)}},
		},
		Data:     runtime.RawExtension{Raw: golden(t, "testdata/TestData/web.json")},
		Revision: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("RV-3, RV-4: %s", diff)
	}

	t.Run("RV-3, RV-8: another collision count gives another name and label", func(t *testing.T) {
		params.CollisionCount = 1
		got, err := revision.New(params)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != "web-"+nextHashOfIt || got.Labels[wire.LabelRevisionHash] != nextHashOfIt {
			t.Errorf("got name %s, labels %v", got.Name, got.Labels)
		}
	})
	t.Run("RV-3: the owner's name is cut to 223 characters", func(t *testing.T) {
		params.CollisionCount = 0
		owner.Name = strings.Repeat("n", 250)
		got, err := revision.New(params)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Repeat("n", 223) + "-" + hashOfWeb; got.Name != want {
			t.Errorf("got %s", got.Name)
		}
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		name, label, revision string
		want                  bool
	}{
		{"RV-11: the full name", "web-abc", "web-abc", true},
		{"RV-11: the short hash on the pod", "abc", "web-abc", true},
		{"RV-11: the short hash asked for", "web-abc", "abc", true},
		{"RV-11: another hash", "web-abd", "web-abc", false},
		{"RV-11: a hash that only ends alike", "xabc", "web-abc", false},
		{"RV-11: no label", "", "web-abc", false},
		{"RV-11: no revision", "web-abc", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			labels := map[string]string{}
			if c.label != "" {
				labels[wire.LabelRevision] = c.label
			}
			if got := revision.Matches(labels, c.revision); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestVCTHash(t *testing.T) {
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-1", Labels: map[string]string{"ignored": "x"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Limits:   corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")},
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	hash := func(claims ...corev1.PersistentVolumeClaim) string {
		t.Helper()
		got, err := revision.VCTHash(claims)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := hash(claim); got != "1129974074" {
		t.Errorf("RV-14: got %s for the claim of the specification, want 1129974074", got)
	}
	if got := hash(); got != "" {
		t.Errorf("RV-14: got %q without claims, want none", got)
	}
	other := claim
	other.Name = "a"
	if hash(claim, other) != hash(other, claim) || hash(claim, other) == hash(claim) {
		t.Error("RV-14: the order of claims must not count, their number must")
	}
}
