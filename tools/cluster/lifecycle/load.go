package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/flotilla-k8s/flotilla/tools/cluster/machine"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
	"github.com/flotilla-k8s/flotilla/tools/cluster/registry"
)

// Destination says where images go.
type Destination string

// Destinations of Load.
const (
	ToRegistry Destination = "registry" // nodes pull them
	ToNodes    Destination = "nodes"    // they are on every node, without having been pulled
	ToAll      Destination = "all"
)

// Load puts the images of archives where the cluster finds them and returns their names.
func (m Manager) Load(ctx context.Context, name string, archives []string, to Destination) ([]string, error) {
	c, err := m.load(name)
	if err != nil {
		return nil, err
	}
	if to == ToNodes && !c.Isolated() {
		return nil, fmt.Errorf("loading images to nodes: cluster %q has no real ones", name)
	}
	var loaded []string
	for _, archive := range archives {
		names, err := m.loadArchive(ctx, c, archive, to)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, names...)
	}
	return loaded, nil
}

func (m Manager) loadArchive(ctx context.Context, c plan.Cluster, archive string, to Destination) (names []string, err error) {
	images, done, err := registry.ReadArchive(archive)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, image := range images {
		names = append(names, image.Name.String())
		if to == ToNodes {
			continue
		}
		if err := registry.Push(ctx, c.RegistryHost(), image); err != nil {
			return nil, err
		}
	}
	if to == ToRegistry {
		return names, nil
	}
	for _, node := range c.NodeNames() {
		first, err := machineOf(c, node)
		if err != nil {
			return nil, err
		}
		if err := importImages(ctx, c, first, images); err != nil {
			return nil, fmt.Errorf("loading images to %s: %w", node, err)
		}
	}
	return names, nil
}

// importImages streams images into a node's containerd.
func importImages(ctx context.Context, c plan.Cluster, first process.Record, images []registry.Image) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(registry.WriteArchive(writer, images)) }()
	cmd := ctr(ctx, c, "images", "import", "-")
	cmd.Stdin = reader
	return errors.Join(machine.Run(first, cmd), reader.Close())
}

// importPause puts the image of pod sandboxes on a node, unless it is there.
func (m Manager) importPause(ctx context.Context, c plan.Cluster, first process.Record) error {
	var found bytes.Buffer
	cmd := ctr(ctx, c, "images", "list", "--quiet", "name=="+plan.PauseImage)
	cmd.Stdout = &found
	if err := machine.Run(first, cmd); err != nil {
		return err
	}
	if strings.TrimSpace(found.String()) != "" {
		return nil
	}
	image, err := registry.FromProgram(plan.PauseImage, filepath.Join(c.Bin, "pause"))
	if err != nil {
		return err
	}
	return importImages(ctx, c, first, []registry.Image{image})
}

// ctr is the client of a node's containerd, for the images that Kubernetes sees.
func ctr(ctx context.Context, c plan.Cluster, args ...string) *exec.Cmd {
	args = append([]string{"--address", plan.ContainerdSocket, "--namespace", "k8s.io"}, args...)
	return exec.CommandContext(ctx, filepath.Join(c.Bin, "ctr"), args...)
}
