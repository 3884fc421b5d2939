package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/operator"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

func TestLeaderElection(t *testing.T) {
	namespace := server.Namespace(t)
	var controllers [2]*controller
	var operators [2]*operator.Operator
	var stops [2]func() error
	var opts [2]operator.Options
	for i := range operators {
		controllers[i] = newController("leader-controller", schema.GroupVersionKind{})
		app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{controllers[i].Controller}}
		opts[i] = options(app, namespace)
		operators[i], stops[i] = start(t, app, server.Config(t), opts[i])
	}
	leading := func() int {
		for i, op := range operators {
			if op.Leading() {
				return i
			}
		}
		return -1
	}
	testenv.Until(t, timeout, func(context.Context) string {
		if leading() < 0 {
			return "nobody leads"
		}
		return ""
	})
	first := leading()
	second := 1 - first
	testenv.Until(t, timeout, startedOnce(controllers[first]))
	for i := range operators {
		testenv.Until(t, timeout, ready(operators[i])) // a standby that could lead is ready
	}
	if controllers[second].started.Load() != 0 || operators[second].Leading() {
		t.Error("DEP-183: controllers run in a replica that does not lead")
	}
	for i, want := range map[int]float64{first: 1, second: 0} {
		expected := fmt.Sprintf("# HELP kruise_manager_is_leader 1 in the replica that runs the controllers, else 0.\n"+
			"# TYPE kruise_manager_is_leader gauge\nkruise_manager_is_leader %v\n", want)
		if err := testutil.GatherAndCompare(opts[i].Registry, strings.NewReader(expected), "kruise_manager_is_leader"); err != nil {
			t.Errorf("DEP-187: %v", err)
		}
	}

	var lease coordinationv1.Lease
	if err := server.Client(t).Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "kruise-test"}, &lease); err != nil {
		t.Errorf("DEP-196: the lease has the name of the operator: %v", err)
	}
	if err := stops[first](); err != nil {
		t.Errorf("stopping the leader: %v", err)
	}
	testenv.Until(t, timeout, startedOnce(controllers[second])) // DE-3
}

func TestReadYourWritesAndStrippedFields(t *testing.T) {
	namespace := server.Namespace(t)
	result := make(chan string, 1)
	c := operator.Controller{Name: "reading-controller", Setup: func(ctx context.Context, deps operator.Deps) error {
		result <- readOwnWrites(ctx, deps, namespace)
		return nil
	}}
	app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{c}}
	start(t, app, server.Config(t), options(app, namespace))
	if problem := <-result; problem != "" {
		t.Error(problem)
	}
}

// readOwnWrites creates objects one by one and expects each to be in the very next cached list.
func readOwnWrites(ctx context.Context, deps operator.Deps, namespace string) string {
	for i := range 20 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cm-%d", i), Namespace: namespace}}
		if err := deps.Client.Create(ctx, cm); err != nil {
			return err.Error()
		}
		var list corev1.ConfigMapList
		if err := deps.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err.Error()
		}
		if len(list.Items) != i+1 {
			return fmt.Sprintf("after %d creations the cache shows %d", i+1, len(list.Items))
		}
		if len(list.Items[i].ManagedFields) != 0 {
			return "managed fields are kept in the cache"
		}
	}
	return ""
}

func TestSetupErrorEndsTheProcess(t *testing.T) {
	c := operator.Controller{Name: "broken-controller", Setup: func(context.Context, operator.Deps) error {
		return fmt.Errorf("no such index")
	}}
	app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{c}}
	op, err := operator.New(app, server.Config(t), options(app, server.Namespace(t)))
	if err != nil {
		t.Fatal(err)
	}
	err = op.Start(t.Context())
	if err == nil || err.Error() != "setting up broken-controller: no such index" {
		t.Errorf("Start returned %v", err)
	}
}
