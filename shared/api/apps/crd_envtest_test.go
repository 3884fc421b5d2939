package apps_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

var server = testenv.New("deploy/crds/workloads")

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

type object = map[string]any

// What the schema refuses holds while the webhook is down. It is a part of what the webhook refuses,
// and nothing that the reference may have stored.
func TestSchemaRefuses(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	cases := []struct {
		name, alpha, beta, message string
	}{
		{"CS-30: negative replicas", `{"replicas":-1}`, `{"replicas":-1}`, "spec.replicas"},
		{"CS-30: no selector", `{"selector":null}`, `{"selector":null}`, "spec.selector"},
		{"CS-30: an empty selector", `{"selector":{"matchLabels":{}}}`, `{"selector":{"matchExpressions":[]}}`, "spec.selector must not be empty"},
		{"CS-34: an unknown type", `{"updateStrategy":{"type":"RollingUpdate"}}`, `{"updateStrategy":{"type":"ReCreate"}}`, "spec.updateStrategy.type"},
		{"CS-35: a negative partition", `{"updateStrategy":{"partition":-1}}`, `{"updateStrategy":{"rollingUpdate":{"partition":-1}}}`, "partition must be a number of 0 or more, or a percentage"},
		{"CS-35: a partition that is text", `{"updateStrategy":{"partition":"5"}}`, `{"updateStrategy":{"rollingUpdate":{"partition":"5"}}}`, "partition must be a number of 0 or more, or a percentage"},
		{"CS-37: surge with InPlaceOnly", `{"updateStrategy":{"type":"InPlaceOnly","maxSurge":1}}`, `{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly","maxSurge":1}}}`, "maxSurge must be 0 when"},
		{"SO-3: order and weight", `{"updateStrategy":{"priorityStrategy":` + twoPriorities + `}}`, `{"updateStrategy":{"rollingUpdate":{"priorityStrategy":` + twoPriorities + `}}}`, "only one of orderPriority and weightPriority"},
		{"SO-3: too much weight", `{"updateStrategy":{"priorityStrategy":` + heavy + `}}`, `{"updateStrategy":{"rollingUpdate":{"priorityStrategy":` + heavy + `}}}`, "weight"},
		{"SO-8: scatter without a key", `{"updateStrategy":{"scatterStrategy":[{"key":"","value":"a"}]}}`, `{"updateStrategy":{"rollingUpdate":{"scatterStrategy":[{"key":"","value":"a"}]}}}`, "scatterStrategy"},
	}
	for _, tc := range cases {
		for version, spec := range map[string]string{"v1alpha1": tc.alpha, "v1beta1": tc.beta} {
			t.Run(tc.name+" in "+version, func(t *testing.T) {
				err := c.Create(t.Context(), cloneSet(t, namespace, version, spec))
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.message) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

const (
	twoPriorities = `{"orderPriority":[{"orderedKey":"a"}],"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}`
	heavy         = `{"weightPriority":[{"weight":101,"matchSelector":{"matchLabels":{"a":"b"}}}]}`
)

// The reference stores these, some through a version whose admission does not look at them, so they
// have to stay writable.
func TestSchemaAccepts(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	cases := []struct{ name, version, spec string }{
		{"CS-24: only what is required", "v1alpha1", `{}`},
		{"CS-24: only what is required", "v1beta1", `{}`},
		{"CS-36: a maxUnavailable from before 1.9", "v1beta1", `{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"5","maxSurge":"5"}}}`},
		{"CS-37: a percentage with InPlaceOnly, which is 0 of 0 replicas", "v1beta1", `{"replicas":0,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly","maxSurge":"10%"}}}`},
		{"CS-40: a deadline below minReadySeconds", "v1beta1", `{"minReadySeconds":60,"progressDeadlineSeconds":-1}`},
		{"CS-47: what the annotations of v1alpha1 may have set", "v1beta1", `{"updateStrategy":{"rollingUpdate":{"inPlaceUpdateStrategy":{"imagePreDownloadParallelism":"50%","imagePreDownloadTimeoutSeconds":-5,"gracePeriodSeconds":-1}}}}`},
		{"C-2: OnDelete with a bare rollingUpdate", "v1beta1", `{"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}}`},
		{"C-3: OnDelete", "v1alpha1", `{"updateStrategy":{"type":"OnDelete"}}`},
		{"C-13: what nobody validates", "v1beta1", `{"revisionHistoryLimit":-1,"minReadySeconds":-1,"scaleStrategy":{"maxUnavailable":"many","podsToDelete":["a","a"]}}`},
		{"CS-35: decimals", "v1beta1", `{"updateStrategy":{"rollingUpdate":{"partition":"33.3%"}}}`},
	}
	for _, tc := range cases {
		t.Run(tc.name+" in "+tc.version, func(t *testing.T) {
			if err := c.Create(t.Context(), cloneSet(t, namespace, tc.version, tc.spec)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSelectorCannotBeChanged(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		t.Run("CS-42 in "+version, func(t *testing.T) {
			set := cloneSet(t, namespace, version, `{}`)
			if err := c.Create(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			setField(t, set, []any{}, "spec", "selector", "matchExpressions")
			if err := c.Update(t.Context(), set); err != nil {
				t.Errorf("an empty list is no change: %v", err)
			}
			setField(t, set, "other", "spec", "selector", "matchLabels", "app")
			if err := c.Update(t.Context(), set); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.selector cannot be changed") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSchemaFillsAndKeeps(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	set := cloneSet(t, namespace, "v1beta1", `{"scaleStrategy":{},"nonsense":1}`)
	setField(t, set, object{"deep": int64(1)}, "spec", "template", "spec", "fromTheFuture")
	setField(t, set, []any{object{"fromTheFuture": "x"}}, "spec", "volumeClaimTemplates")
	if err := c.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	spec := set.Object["spec"].(object)
	if diff := cmp.Diff(object{"enablePVCReuse": false}, spec["scaleStrategy"]); diff != "" {
		t.Errorf("CS-6: default of scaleStrategy:\n%s", diff)
	}
	if _, kept := spec["nonsense"]; kept {
		t.Error("an unknown field of the spec was kept")
	}
	if _, kept, _ := unstructured.NestedMap(set.Object, "spec", "template", "spec", "fromTheFuture"); !kept {
		t.Error("CS-53: an unknown field of the template was dropped")
	}
	if diff := cmp.Diff([]any{object{"fromTheFuture": "x"}}, spec["volumeClaimTemplates"]); diff != "" {
		t.Errorf("CS-53: claims:\n%s", diff)
	}
}

// A typed client must not put anything into the stored object that its user did not ask for.
func TestTypedCreateStoresNoNulls(t *testing.T) {
	c, namespace := server.Client(t, v1beta1.AddToScheme), server.Namespace(t)
	typed := &v1beta1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "typed"},
		Spec: v1beta1.CloneSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}},
		},
	}
	if err := c.Create(t.Context(), typed); err != nil {
		t.Fatal(err)
	}
	typed.Status.Conditions = []v1beta1.CloneSetCondition{{Type: v1beta1.CloneSetConditionFailedScale, Status: "True"}}
	if err := c.Status().Update(t.Context(), typed); err != nil {
		t.Fatalf("CS-14: a condition without times: %v", err)
	}
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("CloneSet"))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(typed), raw); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(raw.Object)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("C-29: stored %s", text)
	}
}

func TestPrinterColumns(t *testing.T) {
	namespace := server.Namespace(t)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		t.Run("CS-5 in "+version, func(t *testing.T) {
			got := columns(t, version, namespace)
			want := []string{"Name", "DESIRED", "UPDATED", "UPDATED_READY", "UPDATED_AVAILABLE", "READY", "TOTAL", "AGE",
				"CONTAINERS wide", "IMAGES wide", "SELECTOR wide"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func columns(t *testing.T, version, namespace string) []string {
	t.Helper()
	cluster, err := kubernetes.NewForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := cluster.RESTClient().Get().AbsPath("/apis/apps.kruise.io", version, "namespaces", namespace, "clonesets").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, column := range table.ColumnDefinitions {
		name := column.Name
		if column.Priority > 0 {
			name += " wide"
		}
		names = append(names, name)
	}
	return names
}

// cloneSet makes a complete object with the fields of spec over it.
func cloneSet(t *testing.T, namespace, version, spec string) *unstructured.Unstructured {
	t.Helper()
	full := object{
		"selector": object{"matchLabels": object{"app": "web"}},
		"template": object{"metadata": object{"labels": object{"app": "web"}}, "spec": object{}},
	}
	var more object
	if err := json.Unmarshal([]byte(spec), &more); err != nil {
		t.Fatal(err)
	}
	maps.Copy(full, more)
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apps.kruise.io/" + version, "kind": "CloneSet",
		"metadata": object{"namespace": namespace, "generateName": "web-"}, "spec": full,
	}}
}

func setField(t *testing.T, obj *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(obj.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}
