package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Builder turns parts into programs, once: what the cache holds is not built again.
type Builder struct {
	Source   string    // directory with one module per part
	Cache    string    // directory that keeps the results
	Progress io.Writer // told what is being done, a line at a time
}

// target is a part with everything known that decides its outcome.
type target struct {
	Part
	version string
	flags   []string
	dir     string // where the finished programs are
}

// FindSource returns the directory of the part modules that belongs to the source tree around
// dir: go:embed leaves nested modules out, so they must be found on disk.
func FindSource(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		source := filepath.Join(at, "tools", "cluster", "parts")
		if _, err := os.Stat(filepath.Join(source, "kubernetes", "go.mod")); err == nil {
			return source, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no tools/cluster/parts above %s: run this inside the repository", dir)
		}
	}
}

// Build makes sure that the named parts are built (all when none is named) and returns the bin
// directory with their programs. The directory depends on the versions of all parts, not on
// which of them were asked for, so parts built one by one end up together.
func (b Builder) Build(ctx context.Context, names ...string) (string, error) {
	wanted, err := Select(names)
	if err != nil {
		return "", err
	}
	bin, err := b.BinDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", fmt.Errorf("making the bin directory: %w", err)
	}
	for _, part := range wanted {
		t, err := b.target(part)
		if err != nil {
			return "", err
		}
		if err := b.ensure(ctx, t); err != nil {
			return "", err
		}
		if err := link(bin, t); err != nil {
			return "", err
		}
	}
	return bin, nil
}

// BinDir returns the bin directory for the present versions of all parts, built or not.
func (b Builder) BinDir() (string, error) {
	keys := map[string][]byte{}
	for _, part := range All() {
		t, err := b.target(part)
		if err != nil {
			return "", err
		}
		keys[part.Name] = []byte(filepath.Base(t.dir))
	}
	return filepath.Join(b.Cache, "bin", key(keys, nil, "")), nil
}

// target reads the part's module and works out where its outcome belongs.
func (b Builder) target(part Part) (target, error) {
	files, err := contents(filepath.Join(b.Source, part.Name))
	if err != nil {
		return target{}, fmt.Errorf("reading the module of part %s: %w", part.Name, err)
	}
	version, err := part.version(files["/go.mod"])
	if err != nil {
		return target{}, err
	}
	flags := part.flags(version)
	name := fmt.Sprintf("%s-%s-%s", part.Name, version, key(files, flags, runtime.GOOS+"/"+runtime.GOARCH))
	return target{Part: part, version: version, flags: flags, dir: filepath.Join(b.Cache, "parts", name)}, nil
}

// contents returns the files below a directory by their paths in it, which start with a slash.
func contents(dir string) (map[string][]byte, error) {
	root := os.DirFS(dir)
	files := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files["/"+path], err = fs.ReadFile(root, path)
		return err
	})
	return files, err
}

// ensure builds the target unless it is there. The result appears by one rename, so an
// interrupted build leaves nothing that looks finished; the compiler's own cache makes the next
// attempt go on where this one stopped. Two processes that want the same part take turns.
func (b Builder) ensure(ctx context.Context, t target) error {
	if exists(t.dir) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.dir), 0o755); err != nil {
		return fmt.Errorf("making the cache directory: %w", err)
	}
	unlock, err := b.lock(ctx, t)
	if err != nil {
		return err
	}
	defer unlock()
	if exists(t.dir) {
		return nil
	}
	// The name is the same every time: what a killed build has left is replaced by the next.
	temp := filepath.Join(filepath.Dir(t.dir), ".building-"+filepath.Base(t.dir))
	defer func() { _ = os.RemoveAll(temp) }() // gone already when the rename succeeded
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o755)); err != nil {
		return fmt.Errorf("making a build directory: %w", err)
	}
	started := time.Now()
	for _, program := range t.Programs {
		if err := b.compile(ctx, t, program, filepath.Join(temp, program.Name)); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, t.dir); err != nil {
		return fmt.Errorf("keeping the build of part %s: %w", t.Name, err)
	}
	b.say("%s %s: built in %s", t.Name, t.version, time.Since(started).Round(time.Second))
	return nil
}

// lock takes the part's build lock, waiting for another process if it must.
func (b Builder) lock(ctx context.Context, t target) (func(), error) {
	file, err := os.OpenFile(t.dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking part %s: %w", t.Name, err)
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for waiting := false; ; waiting = true {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil // closing releases the lock
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("locking part %s: %w", t.Name, err), file.Close())
		}
		if !waiting {
			b.say("%s %s: waiting for another process that builds it", t.Name, t.version)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-ticker.C:
		}
	}
}

// compile builds one program into the file out.
func (b Builder) compile(ctx context.Context, t target, program Program, out string) error {
	args := append([]string{"build", "-v", "-o", out}, t.flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, program.Package)...)
	cmd.Dir = filepath.Join(b.Source, t.Name)
	// The caller's GOFLAGS are left out: the committed module files decide what is built.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	meter := newMeter(b.Progress, program.Name+" "+t.version)
	cmd.Stderr = meter
	b.say("%s %s: building", program.Name, t.version)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("building %s: %w", program.Name, ctx.Err())
		}
		return fmt.Errorf("building %s: %w\n%s", program.Name, err, meter.complaints())
	}
	return nil
}

// link puts the target's commands into the bin directory, as relative links so that the cache
// can be moved.
func link(bin string, t target) error {
	for _, program := range t.Programs {
		for _, command := range program.Commands() {
			to := filepath.Join("..", "..", "parts", filepath.Base(t.dir), program.Name)
			at := filepath.Join(bin, command)
			if have, err := os.Readlink(at); err == nil && have == to {
				continue
			}
			temp := fmt.Sprintf("%s.%d", at, os.Getpid())
			if err := os.Symlink(to, temp); err != nil {
				return fmt.Errorf("linking %s: %w", command, err)
			}
			if err := os.Rename(temp, at); err != nil {
				return fmt.Errorf("linking %s: %w", command, err)
			}
		}
	}
	return nil
}

func (b Builder) say(format string, args ...any) {
	fmt.Fprintf(b.Progress, format+"\n", args...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
