package patch_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/flotilla-k8s/flotilla/shared/patch"
)

func TestRetry(t *testing.T) {
	conflict := fmt.Errorf("patching pod a: %w", apierrors.NewConflict(corev1.Resource("pods"), "a", errors.New("changed")))
	notFound := fmt.Errorf("patching pod a: %w", apierrors.NewNotFound(corev1.Resource("pods"), "a"))
	cases := []struct {
		name      string
		result    reconcile.Result
		err       error
		wantErr   bool
		wantAfter time.Duration
	}{
		{name: "no error changes nothing", result: reconcile.Result{RequeueAfter: time.Minute}, wantAfter: time.Minute},
		{name: "a conflict is a short delay", err: conflict, wantAfter: 100 * time.Millisecond},
		{name: "a conflict shortens a long delay", result: reconcile.Result{RequeueAfter: time.Minute}, err: conflict, wantAfter: 100 * time.Millisecond},
		{name: "a conflict keeps a shorter delay", result: reconcile.Result{RequeueAfter: time.Millisecond}, err: conflict, wantAfter: time.Millisecond},
		{name: "two joined conflicts are a conflict", err: errors.Join(conflict, conflict), wantAfter: 100 * time.Millisecond},
		{name: "another error stays", err: notFound, wantErr: true},
		{name: "a conflict does not hide another error", err: errors.Join(conflict, errors.New("no such host")), wantErr: true},
		{name: "a wrapped join is looked into", err: fmt.Errorf("pass: %w", errors.Join(conflict, notFound)), wantErr: true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			result, err := patch.Retry(tc.result, tc.err)
			if (err != nil) != tc.wantErr || result.RequeueAfter != tc.wantAfter {
				t.Errorf("got %v, %v; want delay %s, an error: %t", result.RequeueAfter, err, tc.wantAfter, tc.wantErr)
			}
		})
	}
}
