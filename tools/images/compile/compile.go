// Package compile knows how to build a static Go program so that equal sources, version, platform
// and toolchain give equal bytes.
package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Program is a Go command of this repository.
type Program struct {
	// Dir is the folder of the program's module, relative to the repository's root.
	Dir string
	// Package is the command's package, relative to Dir, as in "." or "./testimages/pause".
	Package string
}

// Toolchain runs the go command found on PATH.
type Toolchain struct {
	// Root is the folder that holds the repository.
	Root string
	// Version is linked into main.version of every program that has such a variable.
	Version string
}

// Build compiles p for platform and returns the binary. The module is built alone (GOWORK=off), on
// the versions of its own go.mod, and nothing of the machine, the checkout or the caller's Go settings goes
// in: no paths, no build id, no VCS state.
func (t Toolchain) Build(ctx context.Context, p Program, platform v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "flotilla-image-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the binary: %w", err)
	}
	// What is left behind after a failed removal is in the temporary folder and harmless.
	defer func() { _ = os.RemoveAll(dir) }()

	out := filepath.Join(dir, "program")
	cmd := exec.CommandContext(ctx, "go", arguments(out, t.Version, p.Package)...)
	cmd.Dir = filepath.Join(t.Root, p.Dir)
	cmd.Env = append(os.Environ(), settings(platform)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling %s in %s for %s: %w\n%s",
			p.Package, p.Dir, platform, err, strings.TrimSpace(string(output)))
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("reading the binary of %s: %w", p.Dir, err)
	}
	return binary, nil
}

// arguments is the go command's line. The time zone database is compiled in, since the images hold
// none and schedules name zones.
func arguments(out, version, pkg string) []string {
	return []string{
		"build", "-trimpath", "-buildvcs=false", "-tags=timetzdata",
		"-ldflags=-s -w -buildid= -X main.version=" + version,
		"-o", out, pkg,
	}
}

// settings are the environment variables that decide what the go command produces.
func settings(platform v1.Platform) []string {
	return []string{
		"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=",
		"GOOS=" + platform.OS, "GOARCH=" + platform.Architecture,
		"GOAMD64=v1", "GOARM64=v8.0",
	}
}
