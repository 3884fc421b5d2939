// Package busybox knows how to take a static busybox of the host into an image.
package busybox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

// HostPath is where Debian's busybox-static puts its program.
const HostPath = "/bin/busybox"

// Path is where busybox lies in an image.
const Path = "/bin/busybox"

// Host finds busybox programs on the machine that builds.
type Host struct {
	// Platform is the host's own.
	Platform v1.Platform
	// Paths has the file for each platform by its name, as in "linux/amd64".
	Paths map[string]string
}

// Files returns busybox for platform and one symbolic link to target for each of its applets. The
// list of applets is asked of the host's own busybox; Debian builds all architectures alike.
func (h Host) Files(ctx context.Context, platform v1.Platform, target string) ([]oci.File, error) {
	applets, err := h.applets(ctx)
	if err != nil {
		return nil, err
	}
	program, err := h.program(platform)
	if err != nil {
		return nil, err
	}
	return Layout(program, applets, target)
}

// Layout puts program at Path and links each of applets in /bin to target.
func Layout(program []byte, applets []string, target string) ([]oci.File, error) {
	files := []oci.File{{Path: Path, Mode: 0o755, Content: program}}
	for _, applet := range applets {
		link := path.Join("/bin", applet)
		if path.Base(link) != applet {
			return nil, fmt.Errorf("applet %q is not a file name", applet)
		}
		if link != Path {
			files = append(files, oci.File{Path: link, Mode: 0o777, Link: target})
		}
	}
	return files, nil
}

// program reads the static busybox for platform.
func (h Host) program(platform v1.Platform) ([]byte, error) {
	file, known := h.Paths[platform.String()]
	if !known {
		return nil, fmt.Errorf("no busybox for %s: name one with --busybox %s=FILE, from the package busybox-static of that architecture", platform, platform)
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading busybox: %w", err)
	}
	if err := oci.CheckStatic(content, platform); err != nil {
		return nil, fmt.Errorf("checking %s (the package busybox-static has a usable one): %w", file, err)
	}
	return content, nil
}

func (h Host) applets(ctx context.Context) ([]string, error) {
	file, known := h.Paths[h.Platform.String()]
	if !known {
		file = HostPath
	}
	out, err := exec.CommandContext(ctx, file, "--list").Output()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(file)
	}
	if err != nil {
		return nil, fmt.Errorf("listing applets of %s: %w", file, err)
	}
	return strings.Fields(string(out)), nil
}

func missing(file string) error {
	return fmt.Errorf("%s does not exist: install a static busybox (Debian: apt-get install busybox-static)", file)
}
