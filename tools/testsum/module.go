package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// target is what to test: packages of one module.
type target struct {
	dir      string
	patterns []string
}

// parseTarget reads DIR or DIR:PATTERN,PATTERN.
func parseTarget(arg string) target {
	dir, patterns, ok := strings.Cut(arg, ":")
	if !ok {
		return target{dir: dir, patterns: []string{"./..."}}
	}
	return target{dir: dir, patterns: strings.Split(patterns, ",")}
}

// testModule runs go test and tells out what happened. An error means that the run itself went wrong;
// failing tests are counts.
func testModule(ctx context.Context, t target, goFlags []string, out io.Writer) (counts, error) {
	fmt.Fprintf(out, "== %s\n", t.dir)
	// Packages come first: flags that only the tests know end what go test takes for packages.
	args := slices.Concat([]string{"test", "-json"}, t.patterns, goFlags)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return counts{}, fmt.Errorf("testing %s: %w", t.dir, err)
	}
	if err := cmd.Start(); err != nil {
		return counts{}, fmt.Errorf("testing %s: %w", t.dir, err)
	}
	tally, readErr := readEvents(stdout, out)
	waitErr := cmd.Wait()
	if err := ctx.Err(); err != nil {
		return counts{}, err
	}
	if readErr != nil {
		return counts{}, fmt.Errorf("reading results of %s: %w", t.dir, readErr)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return counts{}, fmt.Errorf("testing %s: %w", t.dir, waitErr)
	}
	if waitErr != nil && tally.Failed == 0 {
		return counts{}, fmt.Errorf("testing %s: go test ended with %w and named no failed test", t.dir, waitErr)
	}
	return tally, nil
}

// readEvents reads the stream of go test -json.
func readEvents(in io.Reader, out io.Writer) (counts, error) {
	t := newTally(out)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				t.add(e)
			} else {
				fmt.Fprintf(out, "%s", line) // go test speaks plain text when it cannot load packages
			}
		}
		if errors.Is(err, io.EOF) {
			return t.total, nil
		}
		if err != nil {
			return counts{}, err
		}
	}
}
