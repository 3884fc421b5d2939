package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/demo/install"
)

func TestParsePushed(t *testing.T) {
	const registry = "10.88.0.1:5000"
	output := registry + "/flotilla/workloads:dev@sha256:aa\n" + registry + "/pause:3.10.1@sha256:bb\n"
	have, err := install.ParsePushed(output, registry)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(install.Digests{"flotilla/workloads": "sha256:aa", "pause": "sha256:bb"}, have); diff != "" {
		t.Errorf("digests (-want +have):\n%s", diff)
	}
	for _, wrong := range []string{"10.88.0.1:5000/flotilla/workloads:dev", "elsewhere/flotilla/workloads:dev@sha256:aa"} {
		if _, err := install.ParsePushed(wrong, registry); err == nil {
			t.Errorf("%q gives no error", wrong)
		}
	}
}

func TestRenderPinsImagesAndPutsNeedsFirst(t *testing.T) {
	objects, err := install.Render("testdata/kustomize", install.Digests{"flotilla/webhook": "sha256:aa", "flotilla/daemon": "sha256:bb"})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	if diff := cmp.Diff([]string{"Namespace", "ServiceAccount", "Deployment"}, kinds); diff != "" {
		t.Errorf("order (-want +have):\n%s", diff)
	}
	raw, err := objects[2].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"flotilla/webhook@sha256:aa"`, `"example/other:v1"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no image %s in %s", want, raw)
		}
	}
}
