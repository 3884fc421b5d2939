package cloneset_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/cloneset"
)

// minimal returns the least that a user can write, changed by the modifiers.
func minimal(modify ...func(*v1beta1.CloneSet)) *v1beta1.CloneSet {
	labels := map[string]string{"app": "shop"}
	set := &v1beta1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec: v1beta1.CloneSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: maps.Clone(labels)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "shop:1"}}},
			},
		},
	}
	for _, m := range modify {
		m(set)
	}
	return set
}

// stored returns what admission makes of minimal.
func stored(modify ...func(*v1beta1.CloneSet)) *v1beta1.CloneSet {
	set := minimal()
	cloneset.Default(set, nil, gates.Default())
	for _, m := range modify {
		m(set)
	}
	return set
}

func TestDefaultStrategy(t *testing.T) {
	rolling := func(policy v1beta1.PodUpdateStrategyType) *v1beta1.RollingUpdateCloneSetStrategy {
		return &v1beta1.RollingUpdateCloneSetStrategy{
			PodUpdatePolicy: policy,
			Partition:       new(intstr.FromInt32(0)),
			MaxUnavailable:  new(intstr.FromString("20%")),
			MaxSurge:        new(intstr.FromInt32(0)),
		}
	}
	inPlace := rolling(v1beta1.InPlaceIfPossiblePodUpdateStrategyType)
	inPlace.InPlaceUpdateStrategy = &v1beta1.InPlaceUpdateStrategy{}
	onDelete := &v1beta1.RollingUpdateCloneSetStrategy{MaxSurge: new(intstr.FromInt32(3))}

	for _, c := range []struct {
		name        string
		given, want v1beta1.CloneSetUpdateStrategy
	}{
		{
			"CS-24, WH-99: everything is filled in",
			v1beta1.CloneSetUpdateStrategy{},
			v1beta1.CloneSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: rolling("ReCreate")},
		},
		{
			"CS-7: an in-place policy gets its empty strategy",
			v1beta1.CloneSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateCloneSetStrategy{PodUpdatePolicy: "InPlaceIfPossible"}},
			v1beta1.CloneSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: inPlace},
		},
		{
			"CS-24: rollingUpdate under OnDelete stays as given",
			v1beta1.CloneSetUpdateStrategy{Type: "OnDelete", RollingUpdate: onDelete.DeepCopy()},
			v1beta1.CloneSetUpdateStrategy{Type: "OnDelete", RollingUpdate: onDelete},
		},
		{
			"CS-24: OnDelete gets no rollingUpdate",
			v1beta1.CloneSetUpdateStrategy{Type: "OnDelete"},
			v1beta1.CloneSetUpdateStrategy{Type: "OnDelete"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := minimal(func(s *v1beta1.CloneSet) { s.Spec.UpdateStrategy = c.given })
			cloneset.Default(set, nil, gates.Default())
			if diff := cmp.Diff(c.want, set.Spec.UpdateStrategy); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDefaultKeepsWhatIsGiven(t *testing.T) {
	given := stored(func(s *v1beta1.CloneSet) {
		s.Spec.Replicas = new(int32(0))
		s.Spec.RevisionHistoryLimit = new(int32(0))
		s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(0))
		s.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
	})
	got := given.DeepCopy()
	cloneset.Default(got, nil, gates.Default())
	if diff := cmp.Diff(given, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultTemplate(t *testing.T) {
	bare := func(s *v1beta1.CloneSet) { s.Spec.Template = minimal().Spec.Template }
	withClaim := func(s *v1beta1.CloneSet) {
		s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			}},
		}}
	}
	isDefaulted := func(s *v1beta1.CloneSet) bool {
		return s.Spec.Template.Spec.Containers[0].ImagePullPolicy == corev1.PullAlways
	}
	for _, c := range []struct {
		name      string
		set, old  *v1beta1.CloneSet
		gates     gates.Set
		defaulted bool
	}{
		{"CS-25: on create", minimal(), nil, gates.Default(), true},
		{"CS-25: on a change of the template", minimal(), stored(), gates.Default(), true},
		{"CS-28: not while the template is unchanged", minimal(withClaim), minimal(bare), gates.Default(), false},
		{"CS-25: not with gate TemplateNoDefaults", minimal(), nil, gates.Default().With(gates.TemplateNoDefaults, true), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cloneset.Default(c.set, c.old, c.gates)
			if isDefaulted(c.set) != c.defaulted {
				t.Errorf("template is defaulted: %v, want %v", !c.defaulted, c.defaulted)
			}
			for _, claim := range c.set.Spec.VolumeClaimTemplates {
				if claim.Status.Phase != "" && !c.defaulted {
					t.Error("claims are defaulted without the template")
				}
			}
		})
	}
	t.Run("CS-25: claims get a phase and no volumeMode", func(t *testing.T) {
		set := minimal(withClaim)
		cloneset.Default(set, nil, gates.Default())
		claim := set.Spec.VolumeClaimTemplates[0]
		if claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeMode != nil {
			t.Errorf("phase %q, volumeMode %v", claim.Status.Phase, claim.Spec.VolumeMode)
		}
	})
}
