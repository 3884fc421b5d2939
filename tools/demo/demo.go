package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/demo/install"
	"github.com/flotilla-k8s/flotilla/tools/demo/live"
	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
)

// demo is the whole thing. A broken promise is an error, and leaves the cluster for a look at it.
func (o options) demo(ctx context.Context) error {
	g, err := newGround(ctx, o)
	if err != nil {
		return err
	}
	g.explainNodes()
	c, err := g.up(ctx)
	if err != nil {
		return err
	}
	s, err := g.newSailor(c)
	if err != nil {
		return err
	}
	if err := s.sweep(ctx); err != nil {
		return err
	}
	if err := g.install(ctx, c); err != nil {
		return err
	}
	err = s.sail(ctx)
	if s.voyage.Journal != nil {
		fmt.Fprintf(g.out, "\n%s\n", s.voyage.Summary())
	}
	// What is broken is in the journal.
	if err != nil && !errors.Is(err, errBroken) {
		return err
	}
	if err := g.judge(s.voyage); err != nil || !g.down {
		g.tellHow(c)
		return err
	}
	return g.takeDown(ctx)
}

func (g ground) explainNodes() {
	if !g.simulated {
		return
	}
	if os.Geteuid() != 0 {
		g.say("Not root: real nodes need namespaces, mounts and control groups, which only root can make.")
	}
	g.say("Nodes are SIMULATED: pods are played against a real API server, no container runs. So no load is sent, " +
		"no image can be broken, and Flotilla runs as processes of this machine.")
}

// judge says whether the promises were kept.
func (g ground) judge(v voyage.Voyage) error {
	broken := v.Broken()
	if len(broken) == 0 {
		kept := "Every promise was kept: no pod was replaced or moved, no limit was passed"
		if v.Load != nil {
			kept += ", no request was lost"
		}
		fmt.Fprintln(g.out, kept+".")
		return nil
	}
	for _, text := range broken {
		fmt.Fprintln(g.out, "BROKEN:", text)
	}
	return fmt.Errorf("%d promises were broken", len(broken))
}

// tellHow ends with what the user can do next.
func (g ground) tellHow(c plan.Cluster) {
	kubectl := fmt.Sprintf("KUBECONFIG=%s %s -n %s", c.AdminKubeconfig(), filepath.Join(c.Bin, "kubectl"), live.Namespace)
	lines := []string{
		"Try it by hand; the cluster keeps running:",
		"  " + kubectl + " get clone,pods -o wide",
		"  " + kubectl + ` patch clone web --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"flotilla/test-server:v1"}]'`,
		"  " + kubectl + " describe clone web",
		"Take it down:",
		"  go run ./tools/demo down --name " + g.name,
	}
	fmt.Fprintf(g.out, "\n%s\n", strings.Join(lines, "\n"))
}

// newSailor returns who takes the demo's sets through their updates.
func (g ground) newSailor(c plan.Cluster) (*sailor, error) {
	config, err := clientConfig(c)
	if err != nil {
		return nil, err
	}
	objects, err := install.Connect(config)
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &sailor{
		ground: g, objects: objects, core: core, real: c.Isolated(),
		screen: &live.Screen{Out: g.out, Terminal: g.terminal()},
	}, nil
}

func (g ground) terminal() bool {
	file, ok := g.out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
