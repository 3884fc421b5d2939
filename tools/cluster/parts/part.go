// Package parts knows how the programs of the local cluster are built from published Go modules.
//
// Each part is a small Go module in a directory of this package, outside the workspace, so that
// what Kubernetes or containerd require never touches the versions our own modules see.
package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Part is a group of programs built by one Go module.
type Part struct {
	Name     string    // directory of the module
	Module   string    // published module whose version is the part's version; empty for our own
	Programs []Program // in build order
	Tags     []string  // build tags
	Stamp    []string  // packages whose version variables the linker sets
}

// Program is one executable file of a part.
type Program struct {
	Name    string   // file name
	Package string   // Go package, as named inside the part's module
	Aliases []string // names it is called by, when it is many programs in one
}

// Commands returns the names by which the program is found in a bin directory.
func (p Program) Commands() []string {
	if len(p.Aliases) > 0 {
		return p.Aliases
	}
	return []string{p.Name}
}

// All returns every part of a cluster, those needed by the API's tests first.
func All() []Part {
	return []Part{
		{
			Name: "etcd", Module: "go.etcd.io/etcd/server/v3",
			Programs: []Program{{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"}},
		},
		{
			Name: "kubernetes", Module: "k8s.io/kubernetes",
			Programs: []Program{{Name: "kubernetes", Package: ".", Aliases: []string{
				"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl",
			}}},
			Stamp: []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"},
		},
		{Name: "pause", Programs: []Program{{Name: "pause", Package: "."}}},
		{
			Name: "containerd", Module: "github.com/containerd/containerd/v2",
			Programs: []Program{
				{Name: "containerd", Package: "github.com/containerd/containerd/v2/cmd/containerd"},
				{Name: "containerd-shim-runc-v2", Package: "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
				{Name: "ctr", Package: "github.com/containerd/containerd/v2/cmd/ctr"},
			},
			Tags: []string{"no_btrfs", "no_devmapper", "no_zfs"},
		},
		{
			Name: "kwok", Module: "sigs.k8s.io/kwok",
			Programs: []Program{{Name: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok"}},
		},
	}
}

// Select returns the named parts in the order of All, or all of them when no name is given.
func Select(names []string) ([]Part, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, part := range all {
		known = append(known, part.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no part is called %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(p Part) bool { return !slices.Contains(names, p.Name) }), nil
}

// version returns what the part's go.mod requires of its published module, and "local" for a
// part that is our own code.
func (p Part) version(gomod []byte) (string, error) {
	if p.Module == "" {
		return "local", nil
	}
	file, err := modfile.ParseLax(p.Name+"/go.mod", gomod, nil)
	if err != nil {
		return "", fmt.Errorf("reading the requirements of part %s: %w", p.Name, err)
	}
	for _, require := range file.Require {
		if require.Mod.Path == p.Module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("reading the requirements of part %s: %s is not required", p.Name, p.Module)
}

// flags returns the arguments of go build that shape the result. Debug information is left
// out: linking Kubernetes with it takes minutes.
func (p Part) flags(version string) []string {
	link := []string{"-s", "-w"}
	for _, pkg := range p.Stamp {
		major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(version), "v"), ".")
		link = append(link,
			"-X", pkg+".gitVersion="+version, "-X", pkg+".gitMajor="+major, "-X", pkg+".gitMinor="+minor)
	}
	flags := []string{"-buildvcs=false", "-ldflags", strings.Join(link, " ")}
	if len(p.Tags) > 0 {
		flags = append(flags, "-tags", strings.Join(p.Tags, ","))
	}
	return flags
}

// key names one outcome of a build: it changes with any file of the module, with the flags and
// with the platform, and with nothing else.
func key(files map[string][]byte, flags []string, platform string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		frame(sum, []byte(name))
		frame(sum, files[name])
	}
	for _, flag := range append(slices.Clone(flags), platform) {
		frame(sum, []byte(flag))
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// frame writes one field with its length in front, so that no two lists of fields look alike.
func frame(w io.Writer, field []byte) {
	fmt.Fprintf(w, "%d:", len(field))
	_, _ = w.Write(field) // a hash never fails to write
}
