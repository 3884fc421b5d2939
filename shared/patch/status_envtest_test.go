package patch_test

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/patch"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

var server = testenv.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

func TestStatus(t *testing.T) {
	c := server.Client(t)
	var faults testenv.Faults
	counted := testenv.Client(t, faults.Wrap(server.Config(t)))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: server.Namespace(t)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image:1"}}},
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}

	same := pod.DeepCopy()
	same.Labels = map[string]string{"other": "difference"}
	same.Status.Conditions = []corev1.PodCondition{} // empty is what nil is
	if wrote, err := patch.Status(t.Context(), counted, pod, same); wrote || err != nil {
		t.Errorf("an equal status: wrote %t, error %v", wrote, err)
	}
	if counts := faults.Counts(); len(counts) != 0 {
		t.Errorf("an equal status sent %v", counts)
	}

	changed := pod.DeepCopy()
	changed.Labels = map[string]string{"other": "difference"}
	changed.Status.Message = "new"
	if wrote, err := patch.Status(t.Context(), counted, pod, changed); !wrote || err != nil {
		t.Fatalf("a new status: wrote %t, error %v", wrote, err)
	}
	var live corev1.Pod
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), &live); err != nil {
		t.Fatal(err)
	}
	if live.Status.Message != "new" || len(live.Labels) != 0 || changed.ResourceVersion != live.ResourceVersion {
		t.Errorf("live status %q, labels %v, version %s, answered version %s", live.Status.Message, live.Labels, live.ResourceVersion, changed.ResourceVersion)
	}

	stale := pod.DeepCopy()
	stale.Status.Message = "from an old read"
	if _, err := patch.Status(t.Context(), counted, pod, stale); !apierrors.IsConflict(err) {
		t.Errorf("a status computed from an old version gave %v, want a conflict", err)
	}
}
