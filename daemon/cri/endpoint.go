package cri

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// HostRun is where the node's directory of sockets, /var/run, is mounted in the daemon's container (D-2).
const HostRun = "/hostvarrun"

// candidates are the sockets of known runtimes below HostRun, in the order in which they are tried
// then those of k3s and RKE2, and of k0s (KP-21).
func candidates() []string {
	return []string{
		"containerd.sock", "containerd/containerd.sock",
		"crio.sock", "crio/crio.sock",
		"cri-dockerd.sock", "cri-dockerd/cri-dockerd.sock",
		"k3s/containerd/containerd.sock",
		"k0s/containerd.sock",
	}
}

// Sockets returns the absolute paths at which to look for a runtime, best first. The endpoint, a
// unix:// URI or an absolute path, wins; then the socket file, relative to the directory run; else the
// known places below run are candidates. Source.
func Sockets(endpoint, socketFile, run string) ([]string, error) {
	if endpoint != "" {
		socket, err := parseEndpoint(endpoint)
		if err != nil {
			return nil, err
		}
		return []string{socket}, nil
	}
	if socketFile != "" {
		return []string{filepath.Join(run, socketFile)}, nil
	}
	var sockets []string
	for _, candidate := range candidates() {
		sockets = append(sockets, filepath.Join(run, candidate))
	}
	return sockets, nil
}

func parseEndpoint(endpoint string) (string, error) {
	socket, isURI := strings.CutPrefix(endpoint, "unix://")
	if !isURI && strings.Contains(endpoint, "://") {
		return "", fmt.Errorf("parsing runtime endpoint %q: only unix:// is supported", endpoint)
	}
	if !path.IsAbs(socket) {
		return "", fmt.Errorf("parsing runtime endpoint %q: the path is not absolute", endpoint)
	}
	return path.Clean(socket), nil
}
