package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/demo/install"
	"github.com/flotilla-k8s/flotilla/tools/demo/live"
)

// installLimit is how long an installation may take, once the images are built.
const installLimit = 3 * time.Minute

// install brings Flotilla, as it is in the source tree, into the cluster: as pods where there are kubelets to
// run them, and else as processes of this machine.
func (g ground) install(ctx context.Context, c plan.Cluster) error {
	config, err := clientConfig(c)
	if err != nil {
		return err
	}
	cluster, err := install.Connect(config)
	if err != nil {
		return err
	}
	digests := install.Digests{}
	if c.Isolated() {
		if digests, err = g.images(ctx, c); err != nil {
			return err
		}
	}
	objects, err := install.Render(filepath.Join(g.root, "deploy", "overlays", "default"), digests)
	if err != nil {
		return err
	}
	if !c.Isolated() {
		objects = slices.DeleteFunc(objects, install.Runs)
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	g.say("Applying deploy/overlays/default, %d objects", len(objects))
	for _, object := range objects {
		if err := cluster.Apply(ctx, object); err != nil {
			return err
		}
	}
	if !c.Isolated() {
		if err := g.startProcesses(ctx, c); err != nil {
			return err
		}
	}
	return g.waitInstalled(ctx, cluster, objects)
}

// waitInstalled waits until all parts are ready and a CloneSet passes admission, which is when users can begin.
func (g ground) waitInstalled(ctx context.Context, cluster *install.Cluster, objects []*unstructured.Unstructured) error {
	say := func(text string) { g.say("%s", text) }
	if err := cluster.WaitReady(ctx, objects, say); err != nil {
		return err
	}
	probe, err := live.Set{Name: "probe", Policy: live.InPlace, Tag: "v1"}.CloneSet()
	if err != nil {
		return err
	}
	probe.SetNamespace("default")
	if err := cluster.WaitAdmitted(ctx, probe, say); err != nil {
		return err
	}
	g.say("Flotilla is ready")
	return nil
}

// images builds the images and puts them into the cluster's registry.
func (g ground) images(ctx context.Context, c plan.Cluster) (install.Digests, error) {
	names := append(install.Components(), "test-server", "test-pause")
	g.say("Building images: %s", strings.Join(names, ", "))
	args := append([]string{"build", "--push", c.RegistryHost()}, names...)
	output, err := g.capture(ctx, nil, g.root, filepath.Join(g.bin, "images"), args...)
	if err != nil {
		return nil, err
	}
	digests, err := install.ParsePushed(output, c.RegistryHost())
	if err != nil {
		return nil, err
	}
	for _, name := range install.Components() {
		if digests["flotilla/"+name] == "" {
			return nil, fmt.Errorf("building images: flotilla/%s was not pushed", name)
		}
	}
	return digests, nil
}
