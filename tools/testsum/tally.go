package main

import (
	"fmt"
	"io"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // instead of Package, for the output of a build
	Test       string
	Elapsed    float64
	Output     string
}

// tally turns events into counts and readable text.
type tally struct {
	out      io.Writer
	total    counts
	builds   map[string]*strings.Builder
	packages map[string]*packageTally
}

// packageTally holds what is not decided before the package ends: whether a test has subtests.
type packageTally struct {
	results map[string]string
	order   []string
	output  map[string]*strings.Builder
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, builds: make(map[string]*strings.Builder), packages: make(map[string]*packageTally)}
}

func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		write(t.builds, e.ImportPath, e.Output)
	case "build-fail":
		fmt.Fprint(t.out, text(t.builds[e.ImportPath]))
		delete(t.builds, e.ImportPath)
	default:
		t.addToPackage(e)
	}
}

func (t *tally) addToPackage(e event) {
	p := t.packages[e.Package]
	if p == nil {
		p = &packageTally{results: make(map[string]string), output: make(map[string]*strings.Builder)}
		t.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.order = append(p.order, e.Test)
	case "output":
		write(p.output, e.Test, e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			p.results[e.Test] = e.Action
			return
		}
		t.finish(e, p)
		delete(t.packages, e.Package)
	}
}

// finish counts a package that has ended and tells of it.
func (t *tally) finish(e event, p *packageTally) {
	var c counts
	for _, test := range p.order {
		switch result := p.results[test]; {
		case result == "fail" && !p.hasChild(test, "fail"):
			c.Failed++
			fmt.Fprintf(t.out, "--- FAIL %s %s\n%s", e.Package, test, text(p.output[test]))
		case result == "" && !p.hasChild(test, ""):
			c.Failed++
			fmt.Fprintf(t.out, "--- DID NOT END %s %s\n%s", e.Package, test, text(p.output[test]))
		case p.hasChild(test, "any"):
		case result == "skip":
			c.Skipped++
			fmt.Fprintf(t.out, "--- SKIP %s %s\n%s", e.Package, test, text(p.output[test]))
		case result == "pass":
			c.Passed++
		}
	}
	if e.Action == "fail" && c.Failed == 0 {
		c.Failed++
		fmt.Fprintf(t.out, "--- FAIL %s\n%s", e.Package, text(p.output[""]))
	}
	t.total = t.total.plus(c)
	if e.Action == "fail" || len(p.order) > 0 {
		fmt.Fprintf(t.out, "%-4s %s  %.1fs  %s\n", e.Action, e.Package, e.Elapsed, c)
	}
}

// hasChild reports whether a test has a subtest with the given result; "any" is whatever result.
func (p *packageTally) hasChild(test, result string) bool {
	for _, other := range p.order {
		if strings.HasPrefix(other, test+"/") && (result == "any" || p.results[other] == result) {
			return true
		}
	}
	return false
}

func write(texts map[string]*strings.Builder, key, line string) {
	if texts[key] == nil {
		texts[key] = &strings.Builder{}
	}
	texts[key].WriteString(line)
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}
