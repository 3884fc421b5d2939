package busybox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/flotilla-k8s/flotilla/tools/images/busybox"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

var host = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}

func TestLayoutLinksEveryApplet(t *testing.T) {
	have, err := busybox.Layout([]byte("program"), []string{"[", "busybox", "sh"}, "/bin/applet")
	if err != nil {
		t.Fatal(err)
	}
	want := []oci.File{
		{Path: "/bin/busybox", Mode: 0o755, Content: []byte("program")},
		{Path: "/bin/[", Mode: 0o777, Link: "/bin/applet"},
		{Path: "/bin/sh", Mode: 0o777, Link: "/bin/applet"},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("files (-want +have):\n%s", diff)
	}
	if _, err := busybox.Layout(nil, []string{"sbin/init"}, "/bin/applet"); err == nil {
		t.Error("an applet with a slash gives no error")
	}
}

func TestHostErrorsNameThePackage(t *testing.T) {
	script := filepath.Join(t.TempDir(), "busybox")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name     string
		paths    map[string]string
		platform v1.Platform
		want     string
	}{
		{"nothing installed", map[string]string{host.String(): "/does/not/exist"}, host, "apt-get install busybox-static"},
		{"not a static program", map[string]string{host.String(): script}, host, "busybox-static has a usable one"},
		{"none for a platform", map[string]string{host.String(): script}, v1.Platform{OS: "linux", Architecture: "riscv64"}, "--busybox linux/riscv64=FILE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := busybox.Host{Platform: host, Paths: c.paths}.Files(t.Context(), c.platform, "/bin/applet")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestHostFiles(t *testing.T) {
	if _, err := os.Stat(busybox.HostPath); err != nil {
		t.Skip("needs the package busybox-static")
	}
	h := busybox.Host{Platform: host, Paths: map[string]string{host.String(): busybox.HostPath}}
	files, err := h.Files(t.Context(), host, "/bin/applet")
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{}
	for _, f := range files {
		links[f.Path] = f.Link
	}
	for _, applet := range []string{"/bin/sh", "/bin/sleep", "/bin/wget", "/bin/nc"} {
		if links[applet] != "/bin/applet" {
			t.Errorf("%s links to %q", applet, links[applet])
		}
	}
}
