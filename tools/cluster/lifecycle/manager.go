// Package lifecycle knows how to bring a cluster up, look at it and take it down. It carries out
// what package plan says.
package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flotilla-k8s/flotilla/tools/cluster/host"
	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
	"github.com/flotilla-k8s/flotilla/tools/cluster/parts"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
)

// Manager works on the clusters of one user.
type Manager struct {
	Dirs     layout.Dirs
	Builder  func() (parts.Builder, error) // asked only when programs are needed
	Self     string                        // path of this program
	Progress io.Writer
	Now      func() time.Time
	Cgroups  host.Cgroups
}

// ErrNoCluster says that no cluster of a name exists.
var ErrNoCluster = errors.New("no such cluster")

const recordFile = "cluster.json"

// record is what is remembered of a cluster.
type record struct {
	plan.Params
	Bin string `json:"bin"`
}

// load returns the recorded cluster, or ErrNoCluster.
func (m Manager) load(name string) (plan.Cluster, error) {
	if err := plan.CheckName(name); err != nil {
		return plan.Cluster{}, err
	}
	dir := m.Dirs.Cluster(name)
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return plan.Cluster{}, fmt.Errorf("cluster %q: %w", name, ErrNoCluster)
	}
	if err != nil {
		return plan.Cluster{}, fmt.Errorf("reading the record of cluster %q: %w", name, err)
	}
	var r record
	if err := json.Unmarshal(content, &r); err != nil {
		return plan.Cluster{}, fmt.Errorf("reading the record of cluster %q: %w", name, err)
	}
	return plan.Cluster{Params: r.Params, Dir: dir, Bin: r.Bin, Self: m.Self}, nil
}

func (m Manager) save(c plan.Cluster) error {
	content, err := json.MarshalIndent(record{Params: c.Params, Bin: c.Bin}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the record of cluster %q: %w", c.Name, err)
	}
	return writeFile(filepath.Join(c.Dir, recordFile), content, 0o644)
}

// names lists the recorded clusters.
func (m Manager) names() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(m.Dirs.Clusters, "*", recordFile))
	if err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names, nil
}

// lock makes this process the only one that changes what the name stands for: a cluster, or all
// of them for the empty name.
func (m Manager) lock(ctx context.Context, name string) (func(), error) {
	if name != "" {
		if err := plan.CheckName(name); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(m.Dirs.Clusters, ".locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the state directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock-"+name), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking cluster %q: %w", name, err)
	}
	err = poll(ctx, 200*time.Millisecond, func() (bool, error) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking cluster %q, which another command works on: %w", name, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing releases the lock
}

func (m Manager) say(format string, args ...any) {
	fmt.Fprintf(m.Progress, format+"\n", args...)
}

// Paths of the records of running things.
func machineRecord(c plan.Cluster, name string) string {
	return filepath.Join(c.Dir, "run", name, ".machine.json")
}

func processRecord(c plan.Cluster, p plan.Process) string {
	return filepath.Join(c.Dir, "run", p.Machine, p.Name+".json")
}

// machineOf returns the record of a machine's first process; it may be dead.
func machineOf(c plan.Cluster, name string) (process.Record, error) {
	return process.Load(machineRecord(c, name))
}

// writeFile writes a file that appears whole or not at all.
func writeFile(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := os.WriteFile(path+".new", content, mode); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}

// poll calls the condition until it holds, fails or the context ends.
func poll(ctx context.Context, every time.Duration, condition func() (bool, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if done, err := condition(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
