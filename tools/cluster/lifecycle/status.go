package lifecycle

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
	"github.com/flotilla-k8s/flotilla/tools/cluster/report"
)

// Status returns what is known of a cluster and how it is now.
func (m Manager) Status(ctx context.Context, name string) (report.Status, error) {
	c, err := m.load(name)
	if err != nil {
		return report.Status{}, err
	}
	status := report.Status{Cluster: c}
	for _, p := range c.Processes() {
		r, err := process.Load(processRecord(c, p))
		if err != nil {
			return report.Status{}, err
		}
		status.Processes = append(status.Processes, report.Process{ID: p.ID(), PID: r.PID, Alive: r.Alive()})
	}
	if status.Running() == 0 {
		return status, nil
	}
	if err := addNodes(ctx, c, &status); err != nil {
		status.Problem = err.Error()
	}
	return status, nil
}

func addNodes(ctx context.Context, c plan.Cluster, status *report.Status) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	nodes, err := client.core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("asking the API server: %w", err)
	}
	for _, node := range nodes.Items {
		status.Nodes = append(status.Nodes, report.Node{
			Name:      node.Name,
			Ready:     nodeReady(node),
			Simulated: node.Annotations[plan.SimulatedAnnotation] == plan.SimulatedValue,
			Version:   node.Status.NodeInfo.KubeletVersion,
		})
	}
	return nil
}

// List returns the status of every cluster.
func (m Manager) List(ctx context.Context) ([]report.Status, error) {
	names, err := m.names()
	if err != nil {
		return nil, err
	}
	var list []report.Status
	for _, name := range names {
		status, err := m.Status(ctx, name)
		if err != nil {
			return nil, err
		}
		list = append(list, status)
	}
	return list, nil
}

// Find returns a recorded cluster.
func (m Manager) Find(name string) (plan.Cluster, error) { return m.load(name) }

// Machine returns the first process of a running machine and the cluster's bin directory.
func (m Manager) Machine(cluster, name string) (process.Record, string, error) {
	c, err := m.load(cluster)
	if err != nil {
		return process.Record{}, "", err
	}
	if !slices.Contains(c.MachineNames(), name) {
		return process.Record{}, "", fmt.Errorf("cluster %q has no machine %q; it has %q", cluster, name, c.MachineNames())
	}
	first, err := machineOf(c, name)
	if err == nil && !first.Alive() {
		err = fmt.Errorf("machine %s of cluster %q does not run", name, cluster)
	}
	return first, c.Bin, err
}
