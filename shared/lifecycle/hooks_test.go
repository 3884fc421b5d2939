package lifecycle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/lifecycle"
)

func TestHooks(t *testing.T) {
	pod := func(labels map[string]string, finalizers ...string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: finalizers}}
	}
	hook := func(labels map[string]string, finalizers ...string) *appsv1beta1.LifecycleHook {
		return &appsv1beta1.LifecycleHook{LabelsHandler: labels, FinalizersHandler: finalizers}
	}
	serving := map[string]string{"serving": "true"}
	cases := map[string]struct {
		hook        *appsv1beta1.LifecycleHook
		pod         *corev1.Pod
		hooked, all bool
	}{
		"LC-1: no hook holds nothing":                      {nil, pod(serving, "drain"), false, false},
		"LC-4: a hook without handlers holds nothing":      {hook(nil), pod(serving, "drain"), false, true},
		"LC-1: any finalizer holds":                        {hook(serving, "drain"), pod(nil, "drain"), true, false},
		"LC-1: any label of the value holds":               {hook(serving, "drain"), pod(serving), true, false},
		"LC-1: another value does not hold":                {hook(serving), pod(map[string]string{"serving": "false"}), false, false},
		"LC-1: an empty value needs the label to be there": {hook(map[string]string{"x": ""}), pod(nil), false, false},
		"LC-2: all of it":                                  {hook(serving, "drain"), pod(serving, "drain", "other"), true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := lifecycle.Hooked(tc.hook, tc.pod); got != tc.hooked {
				t.Errorf("Hooked is %v", got)
			}
			if got := lifecycle.AllHooked(tc.hook, tc.pod); got != tc.all {
				t.Errorf("AllHooked is %v", got)
			}
		})
	}
	t.Run("LC-12: put on, it holds with every handler", func(t *testing.T) {
		p := pod(nil, "drain")
		lifecycle.PutOn(hook(serving, "drain", "flush"), p)
		if !lifecycle.AllHooked(hook(serving, "drain", "flush"), p) || len(p.Finalizers) != 2 {
			t.Errorf("got %v, %v", p.Labels, p.Finalizers)
		}
	})
}
