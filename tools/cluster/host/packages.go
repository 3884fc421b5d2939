// Package host knows what a cluster needs from the machine it runs on, and what it leaves there.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Tool is a program that comes from the distribution.
type Tool struct {
	Name    string   // file name
	Package string   // Debian package
	Dirs    []string // where it is looked for
}

// Tools lists what real nodes need. busybox is for the images of tests.
func Tools() []Tool {
	bin := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	cni := []string{"/usr/lib/cni", "/opt/cni/bin"}
	return []Tool{
		{"runc", "runc", bin},
		{"bridge", "containernetworking-plugins", cni},
		{"host-local", "containernetworking-plugins", cni},
		{"loopback", "containernetworking-plugins", cni},
		{"portmap", "containernetworking-plugins", cni},
		{"iptables", "iptables", bin},
		{"conntrack", "conntrack", bin},
		{"ethtool", "ethtool", bin},
		{"ip", "iproute2", bin},
		{"mount", "mount", bin},
		{"busybox", "busybox-static", bin},
	}
}

// Missing returns the packages of the tools that are not there, each once.
func Missing(tools []Tool, exists func(path string) bool) []string {
	var packages []string
	seen := map[string]bool{}
	for _, tool := range tools {
		if !seen[tool.Package] && !tool.found(exists) {
			seen[tool.Package] = true
			packages = append(packages, tool.Package)
		}
	}
	return packages
}

func (t Tool) found(exists func(path string) bool) bool {
	for _, dir := range t.Dirs {
		if exists(dir + "/" + t.Name) {
			return true
		}
	}
	return false
}

// InstallTools installs the packages that are missing and says so. It needs root.
func InstallTools(ctx context.Context, progress io.Writer) error {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	packages := Missing(Tools(), exists)
	if len(packages) == 0 {
		return nil
	}
	names := strings.Join(packages, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("real nodes need the programs of these Debian packages, and there is no apt-get to install them: %s", names)
	}
	fmt.Fprintln(progress, "Installing packages:", names)
	install := append([]string{"install", "--yes", "--no-install-recommends"}, packages...)
	if err := aptGet(ctx, install...); err == nil {
		return nil
	}
	// The usual reason is a package list that is too old or was never fetched.
	if err := aptGet(ctx, "update"); err != nil {
		return fmt.Errorf("updating the list of packages to install %s: %w", names, err)
	}
	if err := aptGet(ctx, install...); err != nil {
		return fmt.Errorf("installing packages: %w", err)
	}
	if left := Missing(Tools(), exists); len(left) > 0 {
		return fmt.Errorf("installing packages: still missing after it: %s", strings.Join(left, " "))
	}
	return nil
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet=2"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("running apt-get %s: %w", args[0], err), errors.New(lastLines(string(output), 5)))
	}
	return nil
}

func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
