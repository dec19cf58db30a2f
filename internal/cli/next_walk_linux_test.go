// Commands that ask before they act are tried at a terminal.

package cli

import "strings"

// atTerminal runs a line at a terminal of its own and answers every question with yes.
func (w *nextWalk) atTerminal(dir, line string) (status int, screen string, ok bool) {
	w.t.Helper()
	r := startAtPTY(w.t, 120, w.command(dir, "sh", "-c", line))
	r.enter(strings.Repeat("yes\n", 4))
	s, lines := r.end()
	return s.ExitStatus(), strings.Join(lines, "\n"), true
}
