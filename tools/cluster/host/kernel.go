package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
)

// probe is a command that succeeds where the kernel has a feature. It runs in a network and
// mount namespace of its own and leaves nothing.
type probe struct {
	feature string
	command []string
}

func probes() []probe {
	return []probe{
		{"namespaces for network and mounts", []string{"true"}},
		{"network bridges", []string{"ip", "link", "add", "probe0", "type", "bridge"}},
		{"virtual ethernet pairs", []string{"ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"}},
		{"address translation by iptables", []string{"iptables", "-t", "nat", "-A", "POSTROUTING", "-m", "comment", "--comment", "probe", "-j", "MASQUERADE"}},
		{"iptables on bridged packets (module br_netfilter)", []string{"test", "-e", "/proc/sys/net/bridge/bridge-nf-call-iptables"}},
	}
}

// CheckKernel reports every feature that real nodes need and this kernel does not give us.
// Modules are loaded first where there is a way to.
func CheckKernel(ctx context.Context, stateDir string) error {
	if modprobe, err := exec.LookPath("modprobe"); err == nil {
		// Where a feature is built in, or modules cannot be loaded, the probes tell.
		_ = exec.CommandContext(ctx, modprobe, "-a", "br_netfilter", "overlay", "veth").Run()
	}
	var problems []error
	for _, p := range probes() {
		cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
		if err := machine.RunHere(cmd); err != nil {
			problems = append(problems, fmt.Errorf("this kernel does not give us %s: %w", p.feature, err))
		}
	}
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(known), "\toverlay\n") {
		problems = append(problems, errors.New("this kernel does not give us overlay file systems"))
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(stateDir, &fs); err == nil && fs.Type == unix.OVERLAYFS_SUPER_MAGIC {
		problems = append(problems, fmt.Errorf("%s is on an overlay file system, on which containers cannot be stacked: set FLOTILLA_STATE to a directory elsewhere", stateDir))
	}
	return errors.Join(problems...)
}

// Memory a cluster needs, in bytes: measured, and a little more.
const (
	memoryControlPlane = 600 << 20
	memoryNode         = 250 << 20
	memorySimulated    = 1 << 20
)

// CheckMemory reports whether the memory available now is too little for a cluster.
func CheckMemory(meminfo string, nodes, simulated int) error {
	need := int64(memoryControlPlane + nodes*memoryNode + simulated*memorySimulated)
	for line := range strings.Lines(meminfo) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			if kib<<10 < need {
				return fmt.Errorf("not enough memory: %d MiB are available, a control plane with %d nodes and %d simulated ones needs %d MiB",
					kib>>10, nodes, simulated, need>>20)
			}
			return nil
		}
	}
	return nil // a kernel that does not say is given the benefit of the doubt
}
