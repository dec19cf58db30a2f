// The question of approve at a real terminal: what is shown, and each answer.

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// waitingProject makes a project whose gate plan_ok waits for a person, with a document that has
// changed since the run began.
func waitingProject(t *testing.T) string {
	t.Helper()
	dir := ptyProject(t)
	name := filepath.Join(dir, wire.ConfigPath)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data), `"requires_human_approval"`,
		`"requires_files": ["notes.txt"], "requires_human_approval"`, 1))
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", dir, "commit", "-qam",
		"the gate looks at the notes").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	behave(t, dir, "gate")
	ctx := context.Background()
	r, err := runner.Open(ctx, dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if state, err := r.TrustState(ctx); err != nil || r.Trust(ctx, state.Scope.Digest) != nil {
		t.Fatal("not trusted: ", err)
	}
	runTurn(t, dir)
	return dir
}

// runTurn carries out one turn, away from any terminal, up to the gate.
func runTurn(t *testing.T, dir string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: exe, Args: []string{"git-agentxchain", "run", "--max-turns", "1"}, Dir: dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s := stateOf(t, dir); s.Status != wire.StatusPaused {
		t.Fatalf("the run is %s", s.Status)
	}
}

func stateOf(t *testing.T, dir string) *runner.State {
	t.Helper()
	r, err := runner.Open(context.Background(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	v, err := r.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v.State
}

const approveQuestion = "Open gate plan_ok? [y]es [n]o [d]iff [o]bjections [q]uit:"

func TestApproveAsks(t *testing.T) {
	t.Setenv("GIT_PAGER", "cat")
	dir := waitingProject(t)

	// Quit, the end of input and ^C leave everything as it is.
	const undecided = "Nothing was decided; the gate waits."
	for _, c := range []struct {
		keys   string
		status int
		says   string
	}{{"q\n", 1, undecided}, {"\x04", 1, undecided}, {"\x03", 130, "what it asks about was not done"}} {
		r := startPTY(t, dir, 100, "approve")
		r.await(approveQuestion)
		r.enter(c.keys)
		status, lines := r.end()
		if status.ExitStatus() != c.status || having(lines, c.says) != 1 {
			t.Errorf("%q: status %d: %q", c.keys, status.ExitStatus(), lines)
		}
		for _, want := range []string{"Gate:          plan_ok: build -> ship", "the gate passes on the current files",
			"notes.txt", "Objections:    none open", "the run enters phase ship"} {
			if having(lines, want) == 0 {
				t.Errorf("%q is not shown: %q", want, lines)
			}
		}
		if s := stateOf(t, dir); s.Status != wire.StatusPaused {
			t.Fatalf("the run is %s", s.Status)
		}
	}

	// Typing errors are explained; after diff and objections the question comes again; a no asks
	// for its reason, and does not accept an empty one.
	r := startPTY(t, dir, 100, "approve")
	r.await(approveQuestion)
	r.enter("maybe\n")
	r.await("y opens the gate, n refuses it")
	r.enter("d\n")
	r.await("+++ b/notes.txt")
	r.enter("o\n")
	r.await("No objection is open.")
	r.enter("n\n")
	r.await("Why not? The next turn reads it:")
	r.enter("\n")
	r.await("A no needs a reason.")
	r.enter("no\n")
	r.enter("The notes are thin.\n")
	status, lines := r.end()
	if status.ExitStatus() != 0 || having(lines, "Gate plan_ok is denied: the run continues in phase build.") != 1 ||
		having(lines, approveQuestion) < 5 {
		t.Errorf("status %d: %q", status.ExitStatus(), lines)
	}
	if f := stateOf(t, dir).LastGateFailure; f == nil || f.Reasons[0] != "denied by Ada: The notes are thin." {
		t.Errorf("%+v", f)
	}

	// The work is done again, and the answer is yes.
	runTurn(t, dir)
	r = startPTY(t, dir, 100, "approve")
	r.await(approveQuestion)
	r.enter("y\n")
	if status, lines := r.end(); status.ExitStatus() != 0 ||
		having(lines, "Gate plan_ok is approved: build -> ship.") != 1 {
		t.Errorf("status %d: %q", status.ExitStatus(), lines)
	}
	// Without a waiting gate nothing is asked.
	if status, lines := startPTY(t, dir, 100, "approve").end(); status.ExitStatus() != 3 ||
		having(lines, "Open gate") > 0 {
		t.Errorf("status %d: %q", status.ExitStatus(), lines)
	}
}

// A document that changes between the look and the answer is not approved.
func TestApproveOfWhatWasShown(t *testing.T) {
	dir := waitingProject(t)
	r := startPTY(t, dir, 100, "approve")
	r.await(approveQuestion)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("quite different\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.enter("y\n")
	if status, lines := r.end(); status.ExitStatus() != 4 || having(lines, "notes.txt has changed") == 0 {
		t.Errorf("status %d: %q", status.ExitStatus(), lines)
	}
	if s := stateOf(t, dir); s.Status != wire.StatusPaused {
		t.Errorf("the run is %s", s.Status)
	}
	// With --yes nothing is shown or asked, even at a terminal.
	if status, lines := startPTY(t, dir, 100, "approve", "--yes").end(); status.ExitStatus() != 0 ||
		having(lines, "Open gate") > 0 {
		t.Errorf("status %d: %q", status.ExitStatus(), lines)
	}
}
