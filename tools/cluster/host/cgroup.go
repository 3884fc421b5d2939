package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cgroups is the host's tree of control groups: several hierarchies in the first version, one in
// the second.
type Cgroups struct {
	Root string // usually /sys/fs/cgroup
}

// controllers lists those that a kubelet wants.
func controllers() []string { return []string{"cpu", "cpuset", "memory", "pids"} }

func (c Cgroups) unified() bool {
	_, err := os.Stat(filepath.Join(c.Root, "cgroup.controllers"))
	return err == nil
}

// hierarchies lists the directories below which a group must be made.
func (c Cgroups) hierarchies() ([]string, error) {
	if c.unified() {
		return []string{c.Root}, nil
	}
	entries, err := os.ReadDir(c.Root)
	if err != nil {
		return nil, fmt.Errorf("listing control groups: %w", err)
	}
	var dirs []string
	for _, entry := range entries {
		// Links such as "cpu" lead to a joint hierarchy that is listed as well.
		dir := filepath.Join(c.Root, entry.Name())
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil && entry.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Check reports controllers that are not available.
func (c Cgroups) Check() error {
	var missing []string
	if c.unified() {
		content, err := os.ReadFile(filepath.Join(c.Root, "cgroup.controllers"))
		if err != nil {
			return fmt.Errorf("reading the controllers of control groups: %w", err)
		}
		have := strings.Fields(string(content))
		missing = slices.DeleteFunc(controllers(), func(name string) bool { return slices.Contains(have, name) })
	} else {
		for _, name := range controllers() {
			if _, err := os.Stat(filepath.Join(c.Root, name, "cgroup.procs")); err != nil {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("control groups below %s lack %s: mount them, or boot with them enabled", c.Root, strings.Join(missing, ", "))
	}
	return nil
}

// Make makes a group, given relative to the root, in every hierarchy.
func (c Cgroups) Make(group string) error {
	roots, err := c.hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		at := root
		for step := range strings.SplitSeq(group, "/") {
			if err := c.delegate(at); err != nil {
				return err
			}
			parent := at
			at = filepath.Join(at, step)
			if err := os.MkdirAll(at, 0o755); err != nil {
				return fmt.Errorf("making control group %s: %w", group, err)
			}
			if err := inheritCpuset(parent, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate lets the children of a group of the second version use the controllers.
func (c Cgroups) delegate(dir string) error {
	if !c.unified() {
		return nil
	}
	enable := "+" + strings.Join(controllers(), " +")
	if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(enable), 0o644); err != nil {
		return fmt.Errorf("enabling controllers below %s: %w", dir, err)
	}
	return nil
}

// inheritCpuset fills a new group of the first version: an empty set of processors admits no
// process.
func inheritCpuset(parent, child string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		have, err := os.ReadFile(filepath.Join(child, file))
		if errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(have)) != "" {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		value, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if strings.TrimSpace(string(value)) == "" {
			continue // the second version: empty means all
		}
		if err := os.WriteFile(filepath.Join(child, file), value, 0o644); err != nil {
			return fmt.Errorf("filling %s: %w", file, err)
		}
	}
	return nil
}

// Remove removes a group with everything below it in every hierarchy. The kernel keeps a group
// for a moment after its last process, so it tries until the context ends.
func (c Cgroups) Remove(ctx context.Context, group string) error {
	roots, err := c.hierarchies()
	if err != nil {
		return err
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		var problems []error
		for _, root := range roots {
			problems = append(problems, removeTree(filepath.Join(root, group)))
		}
		err := errors.Join(problems...)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("removing control group %s: %w", group, err)
		case <-ticker.C:
		}
	}
}

// removeTree removes the directories from the leaves up. The files in them are the kernel's.
func removeTree(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(dirs) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
