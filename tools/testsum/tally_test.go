package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestReadEvents(t *testing.T) {
	cases := []struct {
		name   string
		events string
		want   counts
		says   []string
		silent []string
	}{
		{
			name: "tests without subtests are counted, parents are not",
			events: `{"Action":"start","Package":"p"}
				{"Action":"run","Package":"p","Test":"TestA"}
				{"Action":"run","Package":"p","Test":"TestA/one"}
				{"Action":"output","Package":"p","Test":"TestA/one","Output":"a log line\n"}
				{"Action":"pass","Package":"p","Test":"TestA/one"}
				{"Action":"run","Package":"p","Test":"TestA/two"}
				{"Action":"skip","Package":"p","Test":"TestA/two"}
				{"Action":"pass","Package":"p","Test":"TestA"}
				{"Action":"pass","Package":"p","Elapsed":1}`,
			want:   counts{Passed: 1, Skipped: 1},
			says:   []string{"SKIP p TestA/two"},
			silent: []string{"a log line"},
		},
		{
			name: "a failing subtest is one failure and shows its output",
			events: `{"Action":"run","Package":"p","Test":"TestA"}
				{"Action":"run","Package":"p","Test":"TestA/one"}
				{"Action":"output","Package":"p","Test":"TestA/one","Output":"got 1, want 2\n"}
				{"Action":"fail","Package":"p","Test":"TestA/one"}
				{"Action":"fail","Package":"p","Test":"TestA"}
				{"Action":"fail","Package":"p"}`,
			want: counts{Failed: 1},
			says: []string{"FAIL p TestA/one", "got 1, want 2"},
		},
		{
			name: "a parent that fails by itself is a failure",
			events: `{"Action":"run","Package":"p","Test":"TestA"}
				{"Action":"run","Package":"p","Test":"TestA/one"}
				{"Action":"pass","Package":"p","Test":"TestA/one"}
				{"Action":"fail","Package":"p","Test":"TestA"}
				{"Action":"fail","Package":"p"}`,
			want: counts{Passed: 1, Failed: 1},
		},
		{
			name: "a test that never ended is a failure",
			events: `{"Action":"run","Package":"p","Test":"TestA"}
				{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out\n"}
				{"Action":"fail","Package":"p"}`,
			want: counts{Failed: 1},
			says: []string{"DID NOT END p TestA", "panic: test timed out"},
		},
		{
			name: "a package that does not build is a failure",
			events: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: undefined: x\n"}
				{"ImportPath":"p","Action":"build-fail"}
				{"Action":"output","Package":"p","Output":"FAIL p [build failed]\n"}
				{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			want: counts{Failed: 1},
			says: []string{"undefined: x", "build failed"},
		},
		{
			name:   "a package without tests is nothing",
			events: `{"Action":"skip","Package":"p"}`,
			silent: []string{"p"},
		},
		{
			name:   "what is not an event is shown",
			events: "go: cannot load module\n",
			says:   []string{"cannot load module"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			got, err := readEvents(strings.NewReader(tc.events), &out)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("counts %v, want %v", got, tc.want)
			}
			for _, s := range tc.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("output lacks %q:\n%s", s, out.String())
				}
			}
			for _, s := range tc.silent {
				if strings.Contains(out.String(), s) {
					t.Errorf("output has %q:\n%s", s, out.String())
				}
			}
		})
	}
}

func TestCountsAddUpOverRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "totals")
	first, err := readCounts(file)
	if err != nil || first != (counts{}) {
		t.Fatalf("no file gave %v, %v", first, err)
	}
	if err := writeCounts(file, counts{Passed: 2, Failed: 1, Skipped: 3}); err != nil {
		t.Fatal(err)
	}
	again, err := readCounts(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.plus(counts{Passed: 1}).String(), "3 passed, 1 failed, 3 skipped"; got != want {
		t.Errorf("closing line %q, want %q", got, want)
	}
}

func TestParseTarget(t *testing.T) {
	if got := parseTarget("shared"); got.dir != "shared" || len(got.patterns) != 1 || got.patterns[0] != "./..." {
		t.Errorf("shared is %+v", got)
	}
	if got := parseTarget("shared:./a,./b/..."); got.dir != "shared" || len(got.patterns) != 2 || got.patterns[1] != "./b/..." {
		t.Errorf("two packages of shared are %+v", got)
	}
}
