package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/images/catalog"
)

// root is the repository, seen from this package's folder.
const root = "../../.."

func testSet() []catalog.Image {
	return catalog.Test(catalog.TestOptions{Tags: []string{"v1", "v2"}, Sandbox: "registry.k8s.io/pause:3.10.1"})
}

func TestReferences(t *testing.T) {
	want := []string{
		"docker.io/flotilla/workloads:dev",
		"docker.io/flotilla/webhook:dev",
		"docker.io/flotilla/daemon:dev",
		"docker.io/flotilla/test-server:v1",
		"docker.io/flotilla/test-pause:v1 registry.k8s.io/pause:3.10.1",
		"docker.io/flotilla/test-busybox:v1",
		"docker.io/flotilla/test-server:v2",
		"docker.io/flotilla/test-pause:v2",
		"docker.io/flotilla/test-busybox:v2",
		"docker.io/flotilla/test-server:broken",
	}
	var have []string
	for _, i := range append(catalog.Components(catalog.Release{Tag: "dev"}), testSet()...) {
		have = append(have, strings.Join(i.References, " "))
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("references (-want +have):\n%s", diff)
	}
}

func TestOnlyTheDaemonIsRoot(t *testing.T) {
	for _, i := range append(catalog.Components(catalog.Release{Tag: "dev"}), testSet()...) {
		want := "65532:65532"
		if i.Name == "daemon" {
			want = "0:0"
		}
		if i.Config.User != want {
			t.Errorf("user of %s is %s, not %s", i.Name, i.Config.User, want)
		}
	}
}

func TestProgramsExist(t *testing.T) {
	for _, i := range append(catalog.Components(catalog.Release{Tag: "dev"}), testSet()...) {
		if _, err := os.Stat(filepath.Join(root, i.Program.Dir, "go.mod")); err != nil {
			t.Errorf("%s: %v", i.Name, err)
		}
	}
}

func TestRevisionIsALabelWhenGiven(t *testing.T) {
	const label = "org.opencontainers.image.revision"
	with := catalog.Components(catalog.Release{Tag: "v1.0.0", Version: "v1.0.0", Revision: "abc"})[0].Config.Labels
	if with[label] != "abc" || with["org.opencontainers.image.version"] != "v1.0.0" {
		t.Errorf("labels are %v", with)
	}
	if without, there := catalog.Components(catalog.Release{})[0].Config.Labels[label]; there {
		t.Errorf("revision is %q, want no label", without)
	}
}

func TestSelect(t *testing.T) {
	components := catalog.Components(catalog.Release{Tag: "dev"})
	cases := []struct {
		name  string
		names []string
		want  string
	}{
		{"no name is every component", nil, "workloads webhook daemon"},
		{"a component", []string{"daemon"}, "daemon"},
		{"a test image in all tags", []string{"test-pause"}, "test-pause test-pause"},
		{"a component and a test image once each", []string{"test-pause", "webhook", "webhook"}, "webhook test-pause test-pause"},
		{"the test set", []string{"test", "test-pause"}, "test-server test-pause test-busybox test-server test-pause test-busybox test-server"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			images, err := catalog.Select(c.names, components, testSet())
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, i := range images {
				have = append(have, i.Name)
			}
			if diff := cmp.Diff(c.want, strings.Join(have, " ")); diff != "" {
				t.Errorf("images (-want +have):\n%s", diff)
			}
		})
	}
	_, err := catalog.Select([]string{"workload"}, components, testSet())
	if want := `no image is named "workload"; there are workloads, webhook, daemon, test-server, test-pause, test-busybox, test`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
