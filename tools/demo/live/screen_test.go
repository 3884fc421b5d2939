package live_test

import (
	"bytes"
	"testing"

	"github.com/flotilla-k8s/flotilla/tools/demo/live"
)

func TestScreen(t *testing.T) {
	cases := []struct {
		name     string
		terminal bool
		want     string
	}{
		{"a terminal redraws the block under the lines", true, "a\n1\n2\n\x1b[2A\x1b[J3\n\x1b[1A\x1b[Jb\n4\n5\nc\n"},
		{"elsewhere only lines are shown", false, "a\nb\nc\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			s := live.Screen{Out: &out, Terminal: c.terminal}
			s.Say("a")
			s.Show("1\n2\n")
			s.Show("3\n")
			s.Say("b")
			s.Show("4\n5\n")
			s.Keep()
			s.Say("c")
			if out.String() != c.want {
				t.Errorf("output is %q, want %q", out.String(), c.want)
			}
		})
	}
}
