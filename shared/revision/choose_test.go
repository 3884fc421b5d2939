package revision_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// ofImage returns a stored revision of a template with one image, named after it.
func ofImage(tb interface{ Fatal(...any) }, image string, number int64) *appsv1.ControllerRevision {
	data, err := revision.Data(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: image}}}})
	if err != nil {
		tb.Fatal(err)
	}
	return stored("web-"+image, number, data)
}

func names(revisions []*appsv1.ControllerRevision) []string {
	out := []string{}
	for _, r := range revisions {
		out = append(out, r.Name)
	}
	return out
}

func TestSort(t *testing.T) {
	early := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	late := metav1.NewTime(early.Add(time.Hour))
	build := func(name string, number int64, created metav1.Time) *appsv1.ControllerRevision {
		r := stored(name, number, nil)
		r.CreationTimestamp = created
		return r
	}
	want := []*appsv1.ControllerRevision{
		build("z", 1, late), build("y", 2, early), build("a", 2, late), build("b", 2, late),
	}
	rapid.Check(t, func(t *rapid.T) {
		got := rapid.Permutation(want).Draw(t, "order")
		revision.Sort(got)
		if diff := cmp.Diff(names(want), names(got)); diff != "" {
			t.Fatalf("RV-5: %s", diff)
		}
	})
}

func TestChoose(t *testing.T) {
	a, b, c := ofImage(t, "a", 1), ofImage(t, "b", 4), ofImage(t, "c", 6)
	olderB := ofImage(t, "b", 2)
	olderB.Name = "web-older-b"
	for _, tc := range []struct {
		name     string
		existing []*appsv1.ControllerRevision
		wanted   string
		update   string
		number   int64
		choice   revision.Choice
	}{
		{"RV-6: the first revision has number 1", nil, "a", "web-a", 1, revision.Choice{Create: true}},
		{"RV-6: the next number is one more than the last", []*appsv1.ControllerRevision{a, b}, "c", "web-c", 5, revision.Choice{Create: true}},
		{"RV-7: the newest is reused", []*appsv1.ControllerRevision{a, b}, "b", "web-b", 4, revision.Choice{}},
		{"RV-7: an older one is renumbered", []*appsv1.ControllerRevision{a, b, c}, "a", "web-a", 7, revision.Choice{Renumber: true}},
		{"RV-7: of several older ones the newest", []*appsv1.ControllerRevision{a, olderB, b, c}, "b", "web-b", 7, revision.Choice{Renumber: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := revision.Choose(tc.existing, ofImage(t, tc.wanted, 0))
			if got.Update.Name != tc.update || got.Update.Revision != tc.number ||
				got.Create != tc.choice.Create || got.Renumber != tc.choice.Renumber {
				t.Errorf("got %s number %d, create %v, renumber %v", got.Update.Name, got.Update.Revision, got.Create, got.Renumber)
			}
		})
	}
	if a.Revision != 1 || b.Revision != 4 {
		t.Error("the revisions given were changed")
	}
}

func TestChooseRewritesTheClaimHash(t *testing.T) {
	withHash := func(r *appsv1.ControllerRevision, hash string) *appsv1.ControllerRevision {
		r.Annotations = map[string]string{wire.AnnotationVCTHash: hash, "note": r.Name}
		return r
	}
	a, b := withHash(ofImage(t, "a", 1), "1"), withHash(ofImage(t, "b", 2), "2")
	t.Run("RV-15: taking an older revision back", func(t *testing.T) {
		got := revision.Choose([]*appsv1.ControllerRevision{a, b}, withHash(ofImage(t, "a", 0), "3"))
		want := map[string]string{wire.AnnotationVCTHash: "3", "note": "web-a"}
		if diff := cmp.Diff(want, got.Update.Annotations); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("RV-15: not when the newest is reused", func(t *testing.T) {
		got := revision.Choose([]*appsv1.ControllerRevision{a, b}, withHash(ofImage(t, "b", 0), "3"))
		if hash := got.Update.Annotations[wire.AnnotationVCTHash]; hash != "2" {
			t.Errorf("got hash %s", hash)
		}
	})
}

func TestTruncate(t *testing.T) {
	all := []*appsv1.ControllerRevision{ofImage(t, "a", 1), ofImage(t, "b", 2), ofImage(t, "c", 3), ofImage(t, "d", 4)}
	for _, tc := range []struct {
		name  string
		live  sets.Set[string]
		limit int
		want  []string
	}{
		{"RV-10: the oldest beyond the limit go", sets.New("web-d"), 1, []string{"web-a", "web-b"}},
		{"RV-10: live ones do not count and stay", sets.New("web-a", "web-d"), 1, []string{"web-b"}},
		{"RV-10: a pod's short label keeps its revision", sets.New("a", "web-d"), 0, []string{"web-b", "web-c"}},
		{"RV-10: within the limit nothing goes", sets.New("web-d"), 3, []string{}},
		{"RV-10: a negative limit is none", sets.New("web-d"), -1, []string{"web-a", "web-b", "web-c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, names(revision.Truncate(all, tc.live, tc.limit))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A history that is chosen from, stored and chosen from again stays ordered, and the same wish is met by
// the newest revision without a write.
func TestChooseProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []*appsv1.ControllerRevision
		for i, image := range rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "d"})).Draw(t, "images") {
			choice := revision.Choose(history, ofImage(t, image, 0))
			if choice.Create && choice.Renumber {
				t.Fatal("RV-7: created and renumbered")
			}
			history = slices.DeleteFunc(history, func(r *appsv1.ControllerRevision) bool { return r.Name == choice.Update.Name })
			history = append(history, choice.Update)
			revision.Sort(history)
			if newest := history[len(history)-1]; newest != choice.Update {
				t.Fatalf("RV-6: step %d made %s, but %s is newest", i, choice.Update.Name, newest.Name)
			}
			if again := revision.Choose(history, ofImage(t, image, 0)); again.Create || again.Renumber {
				t.Fatalf("RV-7: step %d asks for another write", i)
			}
		}
		if distinct := sets.New(names(history)...); distinct.Len() != len(history) {
			t.Fatal(fmt.Sprint("RV-7: a revision was made twice: ", names(history)))
		}
	})
}
