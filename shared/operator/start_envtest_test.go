package operator_test

import (
	"context"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/operator"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

func TestControllersStartWhenTheirKindIsServed(t *testing.T) {
	apples := schema.GroupVersionKind{Group: "late.test.io", Version: "v1", Kind: "Apple"}
	pears := schema.GroupVersionKind{Group: "late.test.io", Version: "v1", Kind: "Pear"}
	apple, pear := newController("apple-controller", apples), newController("pear-controller", pears)
	app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{apple.Controller, pear.Controller}}
	op, _ := start(t, app, server.Config(t), options(app, server.Namespace(t)))

	testenv.Until(t, timeout, waitsFor(op, "the CRD of Apple.late.test.io, Pear.late.test.io"))
	installCRD(t, pears, "pears")
	testenv.Until(t, timeout, startedOnce(pear))
	if err := op.Ready(); err != nil {
		t.Errorf("DE-9: one missing kind keeps the operator unready: %v", err)
	}
	if apple.started.Load() != 0 {
		t.Error("DEP-199: a controller was set up before its kind is served")
	}
	installCRD(t, apples, "apples")
	testenv.Until(t, timeout, startedOnce(apple))
	if pear.started.Load() != 1 {
		t.Error("DEP-199: a running controller was set up again")
	}
}

func TestGatesKeepControllersOff(t *testing.T) {
	on, off := newController("on-controller", schema.GroupVersionKind{}), newController("off-controller", schema.GroupVersionKind{})
	off.Gates = []gates.Gate{gates.KruiseDaemon, gates.CloneSetShortHash}
	app := operator.App{
		Name:        "kruise-test",
		Controllers: []operator.Controller{off.Controller, on.Controller},
		Hooks:       []operator.Hook{{Name: "moff.kb.io", Gates: []gates.Gate{gates.CloneSetShortHash}}},
	}
	op, _ := start(t, app, server.Config(t), options(app, server.Namespace(t)))
	testenv.Until(t, timeout, startedOnce(on))
	testenv.Until(t, timeout, ready(op)) // a hook whose gate is off is not waited for
	if off.started.Load() != 0 {
		t.Error("DEP-199: a controller runs although one of its gates is off")
	}
}

func TestWaitsForWebhookAndThenOutlivesIt(t *testing.T) {
	c := server.Client(t)
	namespace := server.Namespace(t)
	ctl := newController("hooked-controller", schema.GroupVersionKind{})
	app := operator.App{
		Name:        "kruise-test",
		Controllers: []operator.Controller{ctl.Controller},
		Hooks:       []operator.Hook{{Name: "mthing.kb.io"}, {Name: "vthing.kb.io"}},
	}
	op, _ := start(t, app, server.Config(t), options(app, namespace))
	testenv.Until(t, timeout, waitsFor(op, "the webhook service to register mthing.kb.io, vthing.kb.io"))

	target := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: namespace, Name: "hooks"}}
	mutating := &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "kruise-mutating-webhook-configuration"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mthing.kb.io", ClientConfig: target, SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	validating := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "kruise-validating-webhook-configuration"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "vthing.kb.io", ClientConfig: target, SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	validating.Webhooks[0].ClientConfig.CABundle = server.Config(t).CAData
	create(t, c, mutating)
	create(t, c, validating)
	testenv.Until(t, timeout, waitsFor(op, "the webhook service to register mthing.kb.io"))

	mutating.Webhooks[0].ClientConfig.CABundle = server.Config(t).CAData
	if err := c.Update(t.Context(), mutating); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, timeout, waitsFor(op, "a ready endpoint of service "+namespace+"/hooks"))
	endpoints := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "hooks-1", Namespace: namespace, Labels: map[string]string{discoveryv1.LabelServiceName: "hooks"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}}},
	}
	create(t, c, endpoints)
	if ctl.started.Load() != 0 {
		t.Error("WH-135: a controller began before the webhook served its family")
	}
	endpoints.Endpoints[0].Conditions.Ready = new(true)
	if err := c.Update(t.Context(), endpoints); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, timeout, startedOnce(ctl))
	testenv.Until(t, timeout, ready(op))

	if err := c.Delete(t.Context(), endpoints); err != nil {
		t.Fatal(err)
	}
	standby := newController("hooked-controller", schema.GroupVersionKind{})
	app.Controllers = []operator.Controller{standby.Controller}
	late, _ := start(t, app, server.Config(t), options(app, server.Namespace(t)))
	testenv.Until(t, timeout, waitsFor(late, "a ready endpoint of service "+namespace+"/hooks")) // the outage is seen by a new process
	if err := op.Ready(); err != nil {
		t.Errorf("WH-135: an outage of the webhook made a running operator unready: %v", err)
	}
}

func TestWaitsWhileTheReferenceRuns(t *testing.T) {
	c := server.Client(t)
	namespace := server.Namespace(t)
	create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kruise-system"}})
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kruise-manager", Namespace: "kruise-system"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("reference-0"), LeaseDurationSeconds: new(int32(3600)), RenewTime: &now,
		},
	}
	create(t, c, lease)
	ctl := newController("guarded-controller", schema.GroupVersionKind{})
	app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{ctl.Controller}}
	op, _ := start(t, app, server.Config(t), options(app, namespace))
	testenv.Until(t, timeout, waitsFor(op, "lease kruise-system/kruise-manager, which reference-0 still renews"))

	lease.Spec.HolderIdentity = new("") // what a manager leaves that released its lease
	if err := c.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, timeout, startedOnce(ctl))
	testenv.Until(t, timeout, ready(op))
}

func TestStandbyLooksAtTheReferenceAgain(t *testing.T) {
	c := server.Client(t)
	namespace := server.Namespace(t)
	app := operator.App{Name: "kruise-test"}
	_, stopFirst := startLeader(t, app, namespace)
	standbyController := newController("standby-controller", schema.GroupVersionKind{})
	app.Controllers = []operator.Controller{standbyController.Controller}
	standby, _ := start(t, app, server.Config(t), options(app, namespace))
	testenv.Until(t, timeout, ready(standby))

	now := metav1.NowMicro()
	create(t, c, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kruise-manager", Namespace: namespace},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("reference-1"), LeaseDurationSeconds: new(int32(3600)), RenewTime: &now,
		},
	})
	if err := stopFirst(); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, timeout, waitsFor(standby, "lease "+namespace+"/kruise-manager, which reference-1 still renews"))
	if standbyController.started.Load() != 0 {
		t.Error("DEP-200: controllers began beside a running manager of the reference")
	}
}

// startLeader starts an operator and waits until it leads.
func startLeader(t *testing.T, app operator.App, namespace string) (*operator.Operator, func() error) {
	t.Helper()
	op, stop := start(t, app, server.Config(t), options(app, namespace))
	testenv.Until(t, timeout, func(context.Context) string {
		if !op.Leading() {
			return "nobody leads"
		}
		return ""
	})
	return op, stop
}

func TestMigrationGuardAgesOut(t *testing.T) {
	namespace := server.Namespace(t)
	renewed := metav1.NewMicroTime(time.Now().Add(-11 * time.Minute))
	create(t, server.Client(t), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kruise-manager", Namespace: namespace},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("reference-gone"), LeaseDurationSeconds: new(int32(15)), RenewTime: &renewed,
		},
	})
	ctl := newController("old-lease-controller", schema.GroupVersionKind{})
	app := operator.App{Name: "kruise-test", Controllers: []operator.Controller{ctl.Controller}}
	start(t, app, server.Config(t), options(app, namespace))
	testenv.Until(t, timeout, startedOnce(ctl))
}
