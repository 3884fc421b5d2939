// Package report knows how to show the state of clusters to a person.
package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
)

// Status is what is known of a cluster at one moment.
type Status struct {
	Cluster   plan.Cluster
	Processes []Process
	Nodes     []Node // as the API server tells; empty when it does not answer
	Problem   string // why it does not answer, while some process runs
}

// Process is one process of the plan.
type Process struct {
	ID    string
	PID   int
	Alive bool
}

// Node is one node of the API server.
type Node struct {
	Name      string
	Ready     bool
	Simulated bool
	Version   string
}

// Running counts the processes that are alive.
func (s Status) Running() int {
	running := 0
	for _, p := range s.Processes {
		if p.Alive {
			running++
		}
	}
	return running
}

// Ready counts ready nodes, real or simulated.
func (s Status) Ready(simulated bool) int {
	ready := 0
	for _, n := range s.Nodes {
		if n.Simulated == simulated && n.Ready {
			ready++
		}
	}
	return ready
}

// Summary is the state in one or two words.
func (s Status) Summary() string {
	switch {
	case s.Running() == 0:
		return "stopped"
	case s.Running() < len(s.Processes) || s.Problem != "" ||
		s.Ready(false) < s.Cluster.Nodes || s.Ready(true) < s.Cluster.Simulated:
		return "degraded"
	}
	return "running"
}

// Write shows one cluster in full.
func (s Status) Write(out io.Writer) error {
	c := s.Cluster
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Cluster:\t%s (%s)\n", c.Name, s.Summary())
	fmt.Fprintf(w, "Kubeconfig:\t%s\n", c.AdminKubeconfig())
	fmt.Fprintf(w, "API server:\t%s\n", c.APIServerURL())
	fmt.Fprintf(w, "Registry:\thttp://%s\n", c.RegistryHost())
	if c.Isolated() {
		n := c.Network()
		fmt.Fprintf(w, "Host:\t%s, through interface %s\n", n.Host(), c.HostLink())
		fmt.Fprintf(w, "Addresses:\tpods %s, Services %s\n", n.Pods, n.Services)
	}
	fmt.Fprintf(w, "Programs:\t%s\n", c.Bin)
	if s.Problem != "" {
		fmt.Fprintf(w, "Problem:\t%s\n", s.Problem)
	}
	fmt.Fprintln(w, "\nPART\tSTATE\tPID")
	for _, p := range s.Processes {
		if p.Alive {
			fmt.Fprintf(w, "%s\trunning\t%d\n", p.ID, p.PID)
		} else {
			fmt.Fprintf(w, "%s\tstopped\n", p.ID)
		}
	}
	s.writeNodes(w)
	return w.Flush()
}

func (s Status) writeNodes(w io.Writer) {
	if len(s.Nodes) == 0 {
		return
	}
	fmt.Fprintln(w, "\nNODE\tSTATE\tVERSION")
	for _, n := range s.Nodes {
		if n.Simulated {
			continue
		}
		state := "not ready"
		if n.Ready {
			state = "ready"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", n.Name, state, n.Version)
	}
	if s.Cluster.Simulated > 0 {
		fmt.Fprintf(w, "simulated\t%d of %d ready\n", s.Ready(true), s.Cluster.Simulated)
	}
}

// WriteList shows several clusters, a line each.
func WriteList(out io.Writer, list []Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tNODES\tSIMULATED\tKUBECONFIG")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%d/%d\t%s\n", s.Cluster.Name, s.Summary(),
			s.Ready(false), s.Cluster.Nodes, s.Ready(true), s.Cluster.Simulated, s.Cluster.AdminKubeconfig())
	}
	return w.Flush()
}
