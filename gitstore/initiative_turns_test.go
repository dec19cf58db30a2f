package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
)

func TestInitiativeTurns(t *testing.T) {
	d := started(t)
	r, err := git.DiscoverForeign(context.Background(), d.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range [][2]string{{"srun_1", "turn_a"}, {"srun_2", "turn_b"}, {"srun_1", "turn_c"}} {
		if err := sibling.NoteTurn(r, n[0], n[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"", "..", "a/b", "a\nb", strings.Repeat("x", 300)} {
		if sibling.NoteTurn(r, bad, "turn_a") == nil || sibling.NoteTurn(r, "srun_1", bad) == nil {
			t.Errorf("%q was noted", bad)
		}
	}
	x, err := sibling.Open(context.Background(), d.Dir, &sibling.Trust{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	got := x.InitiativeTurns()
	if len(got) != 3 || got["turn_a"] != "srun_1" || got["turn_b"] != "srun_2" || got["turn_c"] != "srun_1" {
		t.Fatal(got)
	}
}

// TestNotesStayInside puts links in a git directory that lead out of it.
func TestNotesStayInside(t *testing.T) {
	d, outside := started(t), t.TempDir()
	r, err := git.DiscoverForeign(context.Background(), d.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.CommonDir, "agentxchain")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(r.CommonDir, "agentxchain")); err != nil {
		t.Skip(err)
	}
	if err := sibling.NoteTurn(r, "srun_1", "turn_a"); err == nil {
		t.Error("a turn was noted outside")
	}
	dec := decision.NewDecision("0.1", "/w")
	dec.Participants = []decision.Participant{{GitDir: r.CommonDir}}
	if err := dec.Note(); err == nil {
		t.Error("a decision was noted outside")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	// A note found through the link does not count either.
	if err := os.MkdirAll(filepath.Join(outside, "decisions"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "decisions", decision.NoteName("/w")), []byte("/w"),
		0o666); err != nil {
		t.Fatal(err)
	}
	if dec.Participants[0].Noted("/w") {
		t.Error("a note outside counts")
	}
}
