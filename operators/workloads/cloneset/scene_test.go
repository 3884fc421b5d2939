package cloneset_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// scene is one test's namespace with a kubelet in it, and what tests look at there.
type scene struct {
	t         *testing.T
	client    client.WithWatch
	namespace string
}

// webSet makes a set of pods with one container web of image web:v1, as admission would default it.
func webSet(replicas int32, adjust ...func(*appsv1beta1.CloneSet)) *appsv1beta1.CloneSet {
	labels := map[string]string{"app": "web"}
	set := &appsv1beta1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1beta1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:v1"}}},
			},
			UpdateStrategy: appsv1beta1.CloneSetUpdateStrategy{
				Type: appsv1beta1.RollingUpdateCloneSetUpdateStrategyType,
				RollingUpdate: &appsv1beta1.RollingUpdateCloneSetStrategy{
					PodUpdatePolicy: appsv1beta1.RecreatePodUpdateStrategyType,
					MaxUnavailable:  new(intstr.FromInt32(1)),
				},
			},
		},
	}
	for _, f := range adjust {
		f(set)
	}
	return set
}

func inPlace(maxUnavailable int32) func(*appsv1beta1.CloneSet) {
	return func(set *appsv1beta1.CloneSet) {
		set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = appsv1beta1.InPlaceIfPossiblePodUpdateStrategyType
		set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(maxUnavailable))
	}
}

func withClaim(name string) func(*appsv1beta1.CloneSet) {
	return func(set *appsv1beta1.CloneSet) {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		})
		set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: name, MountPath: "/" + name}}
	}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) create(set *appsv1beta1.CloneSet) *appsv1beta1.CloneSet {
	s.t.Helper()
	set.Namespace = s.namespace
	s.must(s.client.Create(s.t.Context(), set))
	return set
}

func (s *scene) get(set *appsv1beta1.CloneSet) *appsv1beta1.CloneSet {
	s.t.Helper()
	got := &appsv1beta1.CloneSet{}
	s.must(s.client.Get(s.t.Context(), client.ObjectKeyFromObject(set), got))
	return got
}

func (s *scene) read(pod *corev1.Pod) *corev1.Pod {
	s.t.Helper()
	got := &corev1.Pod{}
	s.must(s.client.Get(s.t.Context(), client.ObjectKeyFromObject(pod), got))
	return got
}

func (s *scene) patch(set *appsv1beta1.CloneSet, change func(*appsv1beta1.CloneSet)) {
	s.t.Helper()
	before := s.get(set)
	after := before.DeepCopy()
	change(after)
	s.must(s.client.Patch(s.t.Context(), after, client.MergeFrom(before)))
}

func (s *scene) setImage(set *appsv1beta1.CloneSet, image string) {
	s.t.Helper()
	s.patch(set, func(c *appsv1beta1.CloneSet) { c.Spec.Template.Spec.Containers[0].Image = image })
}

func (s *scene) labelPod(pod *corev1.Pod, key, value string) {
	s.t.Helper()
	after := pod.DeepCopy()
	after.Labels[key] = value
	s.must(s.client.Patch(s.t.Context(), after, client.MergeFrom(pod)))
}

// pods lists the active pods that the set controls.
func (s *scene) pods(set *appsv1beta1.CloneSet) []corev1.Pod {
	s.t.Helper()
	var list corev1.PodList
	s.must(s.client.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
	var out []corev1.Pod
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], set) && podstate.IsActive(&list.Items[i]) {
			out = append(out, list.Items[i])
		}
	}
	return out
}

func (s *scene) uids(set *appsv1beta1.CloneSet) sets.Set[types.UID] {
	out := sets.New[types.UID]()
	for _, pod := range s.pods(set) {
		out.Insert(pod.UID)
	}
	return out
}

// images counts the pods by the image in their spec.
func (s *scene) images(set *appsv1beta1.CloneSet) map[string]int {
	out := map[string]int{}
	for _, pod := range s.pods(set) {
		out[pod.Spec.Containers[0].Image]++
	}
	return out
}

func (s *scene) revisions(set *appsv1beta1.CloneSet) []appsv1.ControllerRevision {
	s.t.Helper()
	var list appsv1.ControllerRevisionList
	s.must(s.client.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
	var out []appsv1.ControllerRevision
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], set) {
			out = append(out, list.Items[i])
		}
	}
	return out
}

// claimNames lists claims that nobody has asked to be deleted; envtest has nothing that takes the
// protection finalizer off.
func (s *scene) claimNames(set *appsv1beta1.CloneSet) sets.Set[string] {
	s.t.Helper()
	var list corev1.PersistentVolumeClaimList
	s.must(s.client.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
	out := sets.New[string]()
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], set) && list.Items[i].DeletionTimestamp == nil {
			out.Insert(list.Items[i].Name)
		}
	}
	return out
}

func (s *scene) eventReasons(set *appsv1beta1.CloneSet) sets.Set[string] {
	s.t.Helper()
	var list eventsv1.EventList
	s.must(s.client.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
	out := sets.New[string]()
	for i := range list.Items {
		if list.Items[i].Regarding.UID == set.UID {
			out.Insert(list.Items[i].Reason)
		}
	}
	return out
}

func (s *scene) condition(set *appsv1beta1.CloneSet, kind appsv1beta1.CloneSetConditionType) *appsv1beta1.CloneSetCondition {
	conditions := s.get(set).Status.Conditions
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// settled returns a check that the set has come to rest: so many pods, all of this image, all available
// and updated, and the status says so.
func (s *scene) settled(set *appsv1beta1.CloneSet, replicas int32, image string) func() error {
	return func() error {
		got := s.get(set)
		st := got.Status
		if st.ObservedGeneration != got.Generation {
			return fmt.Errorf("generation %d is not observed yet, but %d", got.Generation, st.ObservedGeneration)
		}
		if st.Replicas != replicas || st.UpdatedReplicas != replicas || st.UpdatedAvailableReplicas != replicas {
			return fmt.Errorf("of %d replicas: %d there, %d updated, %d updated and available; conditions %v",
				replicas, st.Replicas, st.UpdatedReplicas, st.UpdatedAvailableReplicas, st.Conditions)
		}
		for _, pod := range s.pods(set) {
			if pod.Spec.Containers[0].Image != image || !podstate.IsReady(&pod) {
				return fmt.Errorf("pod %s has image %s, ready %v", pod.Name, pod.Spec.Containers[0].Image, podstate.IsReady(&pod))
			}
		}
		return nil
	}
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	if c := podstate.Condition(pod, kind); c != nil {
		return c.Status
	}
	return corev1.ConditionUnknown
}

// budgetWatch sees every version of every pod and checks the promises that hold at each moment: never
// more than maxUnavailable pods down that were once available, and no image changed while the pod's
// readiness gate was not False (drain before swap).
type budgetWatch struct {
	t     *testing.T
	stop  func()
	group sync.WaitGroup
	errs  []error
}

func (s *scene) watchBudget(set *appsv1beta1.CloneSet, maxUnavailable int) *budgetWatch {
	s.t.Helper()
	b := &budgetWatch{t: s.t}
	seen := map[types.UID]*corev1.Pod{}
	for _, pod := range s.pods(set) {
		seen[pod.UID] = &pod
	}
	want := len(seen)
	ctx, cancel := context.WithCancel(s.t.Context())
	w, err := s.client.Watch(ctx, &corev1.PodList{}, client.InNamespace(s.namespace))
	s.must(err)
	b.stop = func() { cancel(); w.Stop() }
	b.group.Go(func() {
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || !metav1.IsControlledBy(pod, set) {
				continue
			}
			b.check(seen[pod.UID], pod)
			if event.Type == "DELETED" || pod.DeletionTimestamp != nil {
				delete(seen, pod.UID)
			} else {
				seen[pod.UID] = pod
			}
			if up := countUp(seen); up < want-maxUnavailable {
				b.errs = append(b.errs, fmt.Errorf("%d of %d pods are up, maxUnavailable is %d", up, want, maxUnavailable))
			}
		}
	})
	return b
}

func (b *budgetWatch) check(before, after *corev1.Pod) {
	if before == nil || before.Spec.Containers[0].Image == after.Spec.Containers[0].Image {
		return
	}
	if conditionOf(before, wire.InPlaceUpdateReady) != corev1.ConditionFalse {
		b.errs = append(b.errs, fmt.Errorf("the image of pod %s was changed before it was not ready", after.Name))
	}
}

func countUp(pods map[types.UID]*corev1.Pod) int {
	n := 0
	for _, pod := range pods {
		if podstate.IsReady(pod) {
			n++
		}
	}
	return n
}

// verify ends the watch and reports what it saw.
func (b *budgetWatch) verify() {
	b.t.Helper()
	b.stop()
	b.group.Wait()
	if err := errors.Join(b.errs...); err != nil {
		b.t.Error(err)
	}
}
