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
	if err := g.install(ctx, c); err != nil {
		return err
	}
	v, err := g.sail(ctx, c)
	if v.Journal != nil {
		fmt.Fprintf(g.out, "\n%s\n", v.Summary())
	}
	if err != nil {
		return err
	}
	if err := g.judge(v); err != nil || !g.down {
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

// sail applies the demo's objects and goes through the legs. What it measured is returned in any case.
func (g ground) sail(ctx context.Context, c plan.Cluster) (voyage.Voyage, error) {
	config, err := clientConfig(c)
	if err != nil {
		return voyage.Voyage{}, err
	}
	objects, err := install.Connect(config)
	if err != nil {
		return voyage.Voyage{}, err
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return voyage.Voyage{}, fmt.Errorf("making a client: %w", err)
	}
	s := sailor{
		ground: g, objects: objects, core: core, real: c.Isolated(),
		screen: &live.Screen{Out: g.out, Terminal: g.terminal()},
	}
	if err := s.clean(ctx); err != nil {
		return voyage.Voyage{}, err
	}
	err = s.sail(ctx)
	if errors.Is(err, errBroken) {
		err = nil // it is in the journal
	}
	return s.voyage, err
}

func (g ground) terminal() bool {
	file, ok := g.out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
