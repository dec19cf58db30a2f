// Random histories judged commit by commit: what no turn wrote never counts as a turn's work, and work that was
// only moved is recognised.

package attribution_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// added returns the writers of the lines that a commit adds to a file.
func (w *world) added(commit, file string) []string {
	var out []string
	for line := range strings.Lines(w.git("show", "-U0", "--format=", "--no-renames", commit, "--", file)) {
		text, ok := strings.CutPrefix(line, "+")
		if token := tokenOf.FindString(text); ok && token != "" && !slices.Contains(out, w.owner[token]) {
			out = append(out, w.owner[token])
		}
	}
	return out
}

// judge judges the range base..HEAD, fails when a line credited to a turn is another's, and counts the commits with
// only turns' lines.
func (w *world) judge(base string) {
	w.t.Helper()
	r, err := attribution.Commits(w.ctx, w.r.Record().Repository(), base, "HEAD")
	w.must(err)
	for _, c := range r.Commits {
		if len(c.Parents) != 1 {
			continue
		}
		governed := len(c.Files) > 0
		for _, f := range c.Files {
			writers := w.added(string(c.OID), f.Path)
			if len(writers) == 0 || slices.Contains(writers, human) {
				governed = false
			}
			// A file equal to an accepted one counts as that turn's, even with lines of earlier writers.
			if f.How == "" || f.How == attribution.FileContent {
				continue
			}
			for _, who := range writers {
				if !slices.ContainsFunc(f.Turns, func(t *attribution.Turn) bool { return t.ID == who }) {
					w.t.Fatalf("%.12s %q: %s by %s of %d turns, and a line of it is %s's\n%s", c.OID, c.Subject, f.Path, f.How,
						len(f.Turns), who, strings.Join(w.log[max(0, len(w.log)-40):], "\n"))
				}
			}
		}
		w.stats[string(c.Kind)]++
		if governed {
			w.stats["governed"]++
			if c.Kind != attribution.CommitTurn {
				w.stats["governed, missed"]++
				w.log = append(w.log, fmt.Sprintf("missed: %.12s %s %q %s", c.OID, c.Kind, c.Subject, c.Why))
			}
		}
	}
}

func seeds(long int) (first, last uint64) {
	if n, err := strconv.Atoi(os.Getenv("AGENTXCHAIN_SEED")); err == nil {
		return uint64(n), uint64(n)
	}
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		return 1, uint64(long)
	}
	return 1, 1
}

// Any rewriting of a history: nothing foreign counts as a turn's work.
func TestRandomRanges(t *testing.T) {
	testrepo.Thorough(t)
	first, last := seeds(20)
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed+100)
			w.prunes = seed%2 == 1
			root := w.git("rev-parse", "HEAD")
			w.log = append(w.log, w.turn())
			for i := range 40 {
				w.log = append(w.log, w.step())
				if i%10 == 9 {
					w.judge(root)
				}
			}
			t.Log(w.stats)
		})
	}
}

// moved rewrites a history as people do before they merge it, without changing a line: onto another base, in
// another order, split differently, with other messages.
func (w *world) moved(base string) string {
	script := filepath.Join(w.t.TempDir(), "edit")
	edit := func(body string) []string {
		w.must(os.WriteFile(script, []byte("#!/bin/sh\n"+body), 0o777))
		return []string{"GIT_SEQUENCE_EDITOR=" + script}
	}
	n := len(strings.Fields(w.git("rev-list", base+"..HEAD")))
	switch w.rnd.IntN(6) {
	case 0:
		w.git("checkout", "-q", "-B", "side", base)
		name := fmt.Sprintf("other%d.x9", len(w.owner))
		w.must(os.WriteFile(filepath.Join(w.dir, name), []byte("a person's\n"), 0o666))
		w.git("add", "-A")
		w.git("commit", "-q", "-m", "a person's")
		w.git("checkout", "-q", "main")
		return "rebase" + w.orAbort("rebase", nil, "rebase", "-q", "side")
	case 1:
		w.git("commit", "-q", "--amend", "-m", "another message")
		return "amend"
	case 2:
		at := 2 + w.rnd.IntN(n-1)
		return "fixup" + w.orAbort("rebase", edit(fmt.Sprintf("sed -i.bak '%ds/^pick/fixup/' \"$1\"\n", at)),
			"rebase", "-q", "-i", base)
	case 3:
		at := 1 + w.rnd.IntN(n-1)
		return "reorder" + w.orAbort("rebase", edit(fmt.Sprintf("sed -i.bak '%d{h;d;};%dG' \"$1\"\n", at, at+1)),
			"rebase", "-q", "-i", base)
	case 4:
		if len(strings.Fields(w.git("show", "--format=", "--name-only", "HEAD"))) < 2 {
			return "nothing"
		}
		file, _, _ := strings.Cut(w.git("show", "--format=", "--name-only", "HEAD"), "\n")
		w.git("reset", "-q", "HEAD~1")
		w.git("add", "--", file)
		w.git("commit", "-q", "-m", "one file")
		w.git("add", "-A")
		w.git("commit", "-q", "-m", "the others")
		return "split"
	default:
		w.git("checkout", "-q", "-B", "picked", base)
		out := w.orAbort("cherry-pick", nil, "cherry-pick", base+"..main")
		if out == "" {
			w.git("branch", "-q", "-f", "main", "picked")
		}
		w.git("checkout", "-q", "main")
		return "cherry-pick" + out
	}
}

// Work that was moved unchanged is recognised, except in 2 % of the commits.
func TestMovedWork(t *testing.T) {
	testrepo.Thorough(t)
	first, last := seeds(20)
	governed, missed := 0, 0
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed+200)
			base := w.git("rev-parse", "HEAD")
			for range 8 {
				w.log = append(w.log, w.plainTurn())
			}
			for range 6 {
				w.log = append(w.log, w.moved(base))
				w.judge(base)
			}
			t.Log(w.stats, strings.Join(w.log, "\n"))
			governed += w.stats["governed"]
			missed += w.stats["governed, missed"]
		})
	}
	t.Logf("%d of %d governed commits are not accounted for", missed, governed)
	if governed == 0 || missed*50 > governed {
		t.Errorf("%d of %d governed commits are not accounted for: more than 2 %%", missed, governed)
	}
}

// plainTurn performs a turn whose files contain exactly what it wrote.
func (w *world) plainTurn() string {
	a, err := w.r.AssignTurn(w.ctx, runner.AssignOptions{Role: "pm"})
	w.must(err)
	names := []string{w.anyFile()}
	if other := w.anyFile(); other != names[0] {
		names = append(names, other)
	}
	for _, name := range names {
		w.edit(name, a.Turn.TurnID, 1+w.rnd.IntN(4))
	}
	w.accept(a.Turn.TurnID, names)
	_, err = w.r.Checkpoint(w.ctx, a.Turn.TurnID)
	w.must(err)
	return "turn " + a.Turn.TurnID + " " + strings.Join(names, " ")
}
