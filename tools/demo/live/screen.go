package live

import (
	"fmt"
	"io"
	"strings"
)

// Screen shows lines that stay, and on a terminal a block under them that is drawn anew.
type Screen struct {
	Out io.Writer
	// Terminal says that Out understands cursor movements.
	Terminal bool
	drawn    int
}

// Say prints a line that stays.
func (s *Screen) Say(format string, args ...any) {
	s.clear()
	s.print(fmt.Sprintf(format, args...) + "\n")
}

// Show draws the block. Without a terminal nothing is shown: there Say tells the changes.
func (s *Screen) Show(block string) {
	if !s.Terminal {
		return
	}
	s.clear()
	s.print(block)
	s.drawn = strings.Count(block, "\n")
}

// Keep leaves the block where it is, for good.
func (s *Screen) Keep() { s.drawn = 0 }

// clear moves to the first line of the block and erases from there on.
func (s *Screen) clear() {
	if s.drawn > 0 {
		s.print(fmt.Sprintf("\x1b[%dA\x1b[J", s.drawn))
		s.drawn = 0
	}
}

// print ignores errors: what cannot be shown must not end the demo.
func (s *Screen) print(text string) { _, _ = io.WriteString(s.Out, text) }
