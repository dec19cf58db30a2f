// Tests of messages about a checkout at another commit, and of line ends.

package restore

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestOtherCommitsAreExplained(t *testing.T) {
	s := newSource(t)
	testGit(t, s.dir, "commit", "-q", "--allow-empty", "-m", "one more")
	_, later := exported(t, s.dir, ExportOptions{})
	commit := func(args ...string) func(string) {
		return func(dir string) { testGit(t, dir, args...); testGit(t, dir, "commit", "-qam", "more") }
	}
	nothing := func(string) {}
	for _, c := range []struct {
		name     string
		clone    []string
		artifact []byte
		make     func(dir string)
		code     string
		say      []string // expected in the message or the hint
	}{
		{"renamed", nil, s.artifact, commit("mv", planned,
			".planning/other.md"), CodeContradicted, []string{"(1 commit)",
			".planning/other.md: committed since the export, and the artifact does not have it",
			planned + ": committed since the export, and it is not here as the artifact has it"}},
		{"no commit on the branch", nil, s.artifact, func(dir string) {
			testGit(t, dir, "checkout", "-q", "--orphan", "empty")
		}, CodeHeadMismatch, []string{"has no commit", "git checkout"}},
		{"elsewhere", nil, later, nothing, "", nil},
		{"shallow", []string{"--depth=1"}, s.artifact, nothing, fail.CodeBaseMissing,
			[]string{"git fetch --unshallow"}},
	} {
		dir := filepath.Join(t.TempDir(), "clone")
		testGit(t, t.TempDir(), append(append([]string{"clone", "-q"}, c.clone...), "file://"+s.dir, dir)...)
		if c.name != "shallow" && c.name != "elsewhere" {
			testGit(t, dir, "reset", "-q", "--hard", "HEAD^")
		}
		c.make(dir)
		_, err := into(t, dir, bytes.NewReader(c.artifact), Options{Onto: true})
		if codeIn(err) != c.code {
			t.Errorf("%s: %v (%s)", c.name, err, codeIn(err))
		}
		var e *wire.Error
		for _, want := range c.say {
			if !errors.As(err, &e) || !strings.Contains(e.Message+"\n"+e.Hint, want) {
				t.Errorf("%s: %v says nothing of %q", c.name, err, want)
			}
		}
	}
}

// A checkout with other line ends still has the committed configuration.
func TestLineEndsAreNoOtherConfiguration(t *testing.T) {
	s := newSource(t)
	dir := filepath.Join(t.TempDir(), "clone")
	testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", "-c", "core.autocrlf=true", s.dir, dir)
	out := restoreOK(t, dir, s.artifact, Options{})
	for _, n := range out.Notices {
		if strings.Contains(n, wire.ConfigPath) {
			t.Errorf("it is said that %s", n)
		}
	}
	replaced := false
	for _, a := range out.Plan.Actions {
		replaced = replaced || a.Path == wire.ConfigPath && a.Action == "replace"
	}
	if !replaced {
		t.Error("the file had no other line ends")
	}
	// The bytes are the artifact's; git recognises them as the committed ones.
	if d := testGit(t, dir, "-c", "core.safecrlf=false", "diff", "--stat"); d != "" {
		t.Errorf("diff: %s", d)
	}
	sound(t, dir)
}
