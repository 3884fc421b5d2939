package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestBuildPushesAndSaves(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	dir := t.TempDir()

	lines := build(t, "test-pause", "--platform=linux/amd64,linux/arm64", "--test-tags=v7", "--sandbox=", "--push="+host, "--output="+dir)
	if len(lines) != 3 {
		t.Fatalf("output is %q, want three lines", lines)
	}
	saved := []string{
		filepath.Join(dir, "test-pause_v7_linux_amd64.tar"),
		filepath.Join(dir, "test-pause_v7_linux_arm64.tar"),
	}
	if diff := cmp.Diff(saved, lines[:2]); diff != "" {
		t.Errorf("tarballs (-want +have):\n%s", diff)
	}
	for _, file := range saved {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if !strings.HasPrefix(lines[2], host+"/flotilla/test-pause:v7@sha256:") {
		t.Errorf("pushed reference is %s", lines[2])
	}
	reference, err := name.ParseReference(lines[2])
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(reference, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err := index.IndexManifest(); err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("index is %+v (error %v), want two images", manifest, err)
	}
}

func TestBuildRefusesBadFlags(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"no destination":    {[]string{"test"}, "give --push, --output or both"},
		"an unknown image":  {[]string{"nginx", "--output=x"}, `no image is named "nginx"`},
		"a bad platform":    {[]string{"test", "--output=x", "--platform=windows/amd64"}, "platform windows/amd64 is not one of"},
		"no test tag":       {[]string{"test", "--output=x", "--test-tags="}, "--test-tags names no tag"},
		"a bad destination": {[]string{"test", "--push=a b"}, "reading destination"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := buildCommand()
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			cmd.SetArgs(c.args)
			err := cmd.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestTargetsFollowTheDestination(t *testing.T) {
	host := hostPlatform().String()
	cases := map[string]struct {
		options buildOptions
		want    string
	}{
		"the host's for tarballs":           {buildOptions{output: "x"}, host},
		"the host's for a local registry":   {buildOptions{push: "10.88.0.1:5000"}, host},
		"all for a registry anybody uses":   {buildOptions{push: "ghcr.io/somebody"}, "linux/amd64 linux/arm64"},
		"the named ones, whatever the rest": {buildOptions{push: "ghcr.io/somebody", platforms: []string{"linux/arm64"}}, "linux/arm64"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			platforms, err := c.options.targets()
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, p := range platforms {
				have = append(have, p.String())
			}
			if diff := cmp.Diff(c.want, strings.Join(have, " ")); diff != "" {
				t.Errorf("platforms (-want +have):\n%s", diff)
			}
		})
	}
}

func TestRepositoryIsFoundFromWithin(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := repository(below); err == nil {
		t.Error("a folder outside of any repository gives no error")
	}
	if err := os.WriteFile(filepath.Join(root, "go.work"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if have, err := repository(below); err != nil || have != root {
		t.Errorf("repository is %s (error %v), want %s", have, err, root)
	}
}

// build runs the command and returns the lines it printed.
func build(t *testing.T, args ...string) []string {
	t.Helper()
	var out bytes.Buffer
	cmd := buildCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}
