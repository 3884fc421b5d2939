package convert_test

import (
	"context"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/testenv"
	"github.com/flotilla-k8s/flotilla/webhook/convert"
)

const patience = 30 * time.Second

// cluster is an API server that has the CRD of CloneSet as deploy/crds installs it, and converts it by
// the handler of this package.
type cluster struct {
	client.WithWatch
	namespace string
}

// startCluster serves conversions until the test ends.
func startCluster(t *testing.T) cluster {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(convert.Path, convert.Handler{})
	webhook := httptest.NewTLSServer(mux)
	t.Cleanup(webhook.Close)

	c := cluster{
		WithWatch: server.Client(t, v1alpha1.AddToScheme, v1beta1.AddToScheme, apiextensionsv1.AddToScheme),
		namespace: server.Namespace(t),
	}
	crd := deployedCRD(t)
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service")
	field(crd.Object, "spec", "conversion", "webhook")["clientConfig"] = object{
		"url":      webhook.URL + convert.Path,
		"caBundle": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw}),
	}
	c.apply(t, "installer", throughJSON(t, crd.Object))
	c.apply(t, "installer", throughJSON(t, crd.Object))
	testenv.Until(t, patience, func(ctx context.Context) string { return established(ctx, c, crd.GetName()) })
	return c
}

// established also reads the kind in both versions, which needs discovery and conversion to work.
func established(ctx context.Context, c client.Reader, name string) string {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
		return err.Error()
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.NonStructuralSchema && condition.Status == apiextensionsv1.ConditionTrue {
			return condition.Message
		}
	}
	for _, list := range []client.ObjectList{&v1alpha1.CloneSetList{}, &v1beta1.CloneSetList{}} {
		if err := c.List(ctx, list); err != nil {
			return err.Error()
		}
	}
	return ""
}

// deployedCRD is the generated CRD with the patch of its kustomization.
func deployedCRD(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	folder := filepath.Join("..", "..", "deploy", "crds", "workloads")
	crd := &unstructured.Unstructured{Object: parse(t, read(t, folder, "apps.kruise.io_clonesets.yaml"))}
	var kustomization struct {
		Patches []struct{ Patch string }
	}
	unmarshalYAML(t, read(t, folder, "kustomization.yaml"), &kustomization)
	var patch []struct {
		Op, Path string
		Value    object
	}
	unmarshalYAML(t, []byte(kustomization.Patches[0].Patch), &patch)
	if len(patch) != 1 || patch[0].Op != "add" || patch[0].Path != "/spec/conversion" {
		t.Fatalf("the kustomization patches something else: %v", patch)
	}
	if path := field(patch[0].Value, "webhook", "clientConfig", "service")["path"]; path != convert.Path {
		t.Fatalf("conversions go to %v", path)
	}
	field(crd.Object, "spec")["conversion"] = patch[0].Value
	return crd
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func unmarshalYAML(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// cloneSet is a valid object in a version, with more fields of its spec.
func (c cluster) cloneSet(name, version string, spec object) *unstructured.Unstructured {
	full := object{
		"replicas": int64(5),
		"selector": object{"matchLabels": object{"app": "web"}},
		"template": object{
			"metadata": object{"labels": object{"app": "web"}},
			"spec":     object{"containers": []any{object{"name": "main", "image": "web:1", "newSetting9": "kept"}}},
		},
	}
	maps.Copy(full, spec)
	return &unstructured.Unstructured{Object: object{
		"apiVersion": version, "kind": "CloneSet", "metadata": object{"name": name, "namespace": c.namespace}, "spec": full,
	}}
}

func (c cluster) create(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// get reads an object in a version.
func (c cluster) get(t *testing.T, name, version string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, "CloneSet"))
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// apply sends a configuration as server-side apply under the name of a manager.
func (c cluster) apply(t *testing.T, manager string, obj object) {
	t.Helper()
	config := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: obj})
	if err := c.Apply(t.Context(), config, client.FieldOwner(manager)); err != nil {
		t.Fatalf("applying as %s: %v", manager, err)
	}
}
