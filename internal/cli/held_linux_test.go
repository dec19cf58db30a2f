// ^C while an editor or a pager has the terminal goes to that program.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// catching is a program at the terminal that uses ^C itself, as editors and less do: it counts two, and ends.
const catching = `n=0; trap 'n=$((n+1)); echo "caught $n"' INT; echo ready; ` +
	`while [ $n -lt 2 ]; do read -r line </dev/tty; done; echo over`

func TestInterruptIsTheEditors(t *testing.T) {
	testrepo.Serving(t)
	dir := ptyProject(t)
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+catching+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := (&exec.Cmd{Path: exe, Args: []string{"git-agentxchain", "assign", "dev"}, Dir: dir}).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	t.Setenv("GIT_PAGER", "cat >/dev/null; "+program)
	t.Setenv("GIT_EDITOR", program)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"log"}, 0, ""},
		{[]string{"turn", "edit"}, 1, "the result was left as it was"},
	} {
		r := startPTY(t, dir, 100, c.args...)
		r.await("ready")
		r.enter("\x03")
		r.await("caught 1")
		time.Sleep(2 * signalEcho) // after that a second one ends a program that is already ending
		r.enter("\x03")
		r.await("over")
		status, lines := r.end()
		if status.ExitStatus() != c.status || c.says != "" && having(lines, c.says) != 1 {
			t.Errorf("%v: status %v: %q", c.args, status, lines)
		}
	}
}
