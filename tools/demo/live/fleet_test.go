package live_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/tools/demo/live"
)

func TestSetFillsWhatDiffers(t *testing.T) {
	object, err := live.Set{Name: "other", Policy: live.ReCreate, Tag: "v3", Partition: 4}.CloneSet()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{
		"name: other", "podUpdatePolicy: ReCreate", "image: flotilla/test-server:v3", "partition: 4",
		"maxUnavailable: 2", "replicas: 6", "gracePeriodSeconds: 3",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "app: other"); n != 3 || strings.Contains(text, "app: web") {
		t.Errorf("label stands %d times instead of in selector, template and spread constraint:\n%s", n, text)
	}
}

func TestServiceSelectsItsSet(t *testing.T) {
	object, err := live.Set{Name: "other"}.Service()
	if err != nil {
		t.Fatal(err)
	}
	selector, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector")
	if err != nil {
		t.Fatal(err)
	}
	if object.GetName() != "other" || object.GetNamespace() != live.Namespace || selector["app"] != "other" {
		t.Errorf("have %s/%s with selector %v", object.GetNamespace(), object.GetName(), selector)
	}
}
