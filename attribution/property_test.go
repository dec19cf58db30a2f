// Random histories with an independent record of who wrote each line: an answer is either right or unknown.

package attribution_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

const human = "human"

// world is a governed project whose every line has a token and a known writer.
type world struct {
	t     testing.TB
	ctx   context.Context
	dir   string
	r     *runner.Runner
	rnd   *rand.Rand
	owner map[string]string // token -> turn id or human
	log   []string
	stats map[string]int
	// prunes: objects that no ref reaches are now and then deleted at once. Git itself keeps them for weeks.
	prunes bool
}

func newWorld(t testing.TB, seed uint64) *world {
	testrepo.Isolate()
	t.Setenv(runner.TurnMarker, "")
	t.Setenv("GIT_AUTHOR_DATE", "")
	t.Setenv("GIT_COMMITTER_DATE", "")
	_ = os.Unsetenv("GIT_AUTHOR_DATE")
	_ = os.Unsetenv("GIT_COMMITTER_DATE")
	w := &world{
		t:     t,
		ctx:   context.Background(),
		dir:   t.TempDir(),
		rnd:   rand.New(rand.NewPCG(seed, 7)),
		owner: map[string]string{},
		stats: map[string]int{},
	}
	w.git("init", "-q", "-b", "main")
	w.git("config", "gc.auto", "0")
	w.git("config", "core.fsync", "none")
	w.git("config", "core.editor", "true")
	_, err := testproject.Init(w.ctx, w.dir, runner.ProjectOptions{ID: "proj"})
	w.must(err)
	cfg := filepath.Join(w.dir, wire.ConfigPath)
	data, err := os.ReadFile(cfg)
	w.must(err)
	doc, err := ojson.DecodeObject(data)
	w.must(err)
	doc.Object("roles").Object("pm").Set("write_authority", "authoritative")
	doc.Set("run_loop", ojson.NewObject("non_progress_threshold", 1_000_000))
	w.must(os.WriteFile(cfg, ojson.Pretty(doc), 0o666))
	for i := range 3 {
		w.edit(fmt.Sprintf("f%d.x%d", i, i), human, 8)
	}
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "start")
	w.r, err = runner.Open(w.ctx, w.dir, runner.Options{})
	w.must(err)
	t.Cleanup(func() { _ = w.r.Close() })
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, strings.Join(w.log[max(0, len(w.log)-25):], "\n"))
	}
}

func (w *world) tryGit(env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.tryGit(nil, args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s\n%s", strings.Join(args, " "), err, out,
			strings.Join(w.log[max(0, len(w.log)-25):], "\n"))
	}
	return out
}

// files returns the test's own files at HEAD.
func (w *world) files() []string {
	var names []string
	for name := range strings.SplitSeq(w.git("ls-files", "--", ":(glob)*.x?"), "\n") {
		if name != "" && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

func (w *world) anyFile() string {
	names := w.files()
	return names[w.rnd.IntN(len(names))]
}

func (w *world) lines(name string) []string {
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if os.IsNotExist(err) || len(data) == 0 {
		return nil
	}
	w.must(err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// edit writes n new lines of a writer into a file: some inserted, some replacing others, and now and then removes
// one.
func (w *world) edit(name, writer string, n int) {
	lines := w.lines(name)
	for range n {
		token := fmt.Sprintf("token%07d", len(w.owner))
		w.owner[token] = writer
		// Many lines have the text after the token in common.
		text := token + " " + []string{"return nil, err", "}", "", "value := call(x)"}[w.rnd.IntN(4)]
		switch at := w.rnd.IntN(len(lines) + 1); {
		case at < len(lines) && w.rnd.IntN(4) == 0:
			lines[at] = text
		default:
			lines = slices.Insert(lines, at, text)
		}
		if len(lines) > 4 && w.rnd.IntN(6) == 0 {
			if at := w.rnd.IntN(len(lines)); lines[at] != text {
				lines = slices.Delete(lines, at, at+1)
			}
		}
	}
	w.must(os.WriteFile(filepath.Join(w.dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

// turn performs a whole turn through the runner, in one of the possible ways.
func (w *world) turn() string {
	a, err := w.r.AssignTurn(w.ctx, runner.AssignOptions{Role: "pm"})
	w.must(err)
	names := []string{w.anyFile()}
	if other := w.anyFile(); other != names[0] && w.rnd.IntN(2) == 0 {
		names = append(names, other)
	}
	if w.rnd.IntN(6) == 0 {
		names = append(names, fmt.Sprintf("f%d.x%d", 100+len(w.owner), w.rnd.IntN(4)))
	}
	selfCommit := w.rnd.IntN(5) == 0
	for _, name := range names {
		w.edit(name, a.Turn.TurnID, 1+w.rnd.IntN(4))
		if selfCommit {
			w.git("add", "-A")
			w.git("commit", "-q", "-m", "the actor's own")
		}
	}
	w.accept(a.Turn.TurnID, names)
	w.check(names[0])
	way := "checkpoint"
	switch w.rnd.IntN(10) {
	case 0: // a person commits the turn's work with a commit of their own
		way = "committed by hand"
		w.git("add", "-A")
		_, _ = w.tryGit(nil, "commit", "-q", "-m", "by hand")
	case 1: // a person adds to the file before the checkpoint
		way = "edited before the checkpoint"
		w.edit(names[0], human, 2)
	}
	_, err = w.r.Checkpoint(w.ctx, a.Turn.TurnID)
	w.must(err)
	if w.git("status", "--porcelain") != "" {
		w.git("add", "-A")
		w.git("commit", "-q", "-m", "the rest")
	}
	if selfCommit {
		way += ", self-committed"
	}
	return "turn " + a.Turn.TurnID + " " + way + " " + strings.Join(names, " ")
}

// back returns a commit a few steps behind HEAD on the first-parent line, and how
// many steps that is.
func (w *world) back(most int) (string, int) {
	list := strings.Split(w.git("rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", most+1), "HEAD"), "\n")
	n := w.rnd.IntN(len(list))
	if len(list) == 1 {
		return list[0], 0
	}
	if n == 0 {
		n = 1
	}
	return list[n], n
}

func (w *world) humanCommit(message string) {
	w.edit(w.anyFile(), human, 1+w.rnd.IntN(3))
	w.git("add", "-A")
	w.git("commit", "-q", "-m", message)
}

// side makes a branch with a person's commit some steps back and returns to main.
func (w *world) side(most int) {
	at, _ := w.back(most)
	w.git("checkout", "-q", "-B", "side", at)
	w.humanCommit("on the side")
	w.git("checkout", "-q", "main")
}

func (w *world) orAbort(op string, env []string, args ...string) string {
	if _, err := w.tryGit(env, args...); err != nil {
		if _, err := w.tryGit(nil, op, "--abort"); err != nil {
			w.git("reset", "-q", "--hard")
		}
		return " (given up)"
	}
	return ""
}

func (w *world) step() string {
	switch n := w.rnd.IntN(100); {
	case n < 26:
		return w.turn()
	case n < 36:
		w.humanCommit("a person's")
		return "human"
	case n < 44:
		w.side(4)
		return "rebase" + w.orAbort("rebase", nil, "rebase", "-q", "-X", []string{"ours", "theirs"}[w.rnd.IntN(2)],
			"side")
	case n < 56:
		at, _ := w.back(6)
		script := filepath.Join(w.t.TempDir(), "edit")
		var b strings.Builder
		b.WriteString("#!/bin/sh\n")
		words := []string{"pick", "pick", "fixup", "squash", "drop"}
		for i := 2; i < 8; i++ {
			fmt.Fprintf(&b, "sed -i.bak '%ds/^pick/%s/' \"$1\"\n", i, words[w.rnd.IntN(len(words))])
		}
		w.must(os.WriteFile(script, []byte(b.String()), 0o777))
		return "rebase -i" + w.orAbort("rebase", []string{"GIT_SEQUENCE_EDITOR=" + script}, "rebase", "-q", "-i", "-X",
			"theirs", at)
	case n < 64:
		if w.rnd.IntN(3) > 0 {
			w.edit(w.anyFile(), human, 1+w.rnd.IntN(2))
			w.git("add", "-A")
		}
		if w.rnd.IntN(2) == 0 {
			w.git("commit", "-q", "--amend", "--allow-empty", "-m", "amended")
			return "amend with another message"
		}
		w.git("commit", "-q", "--amend", "--allow-empty", "--no-edit")
		return "amend"
	case n < 71:
		at, k := w.back(5)
		if k == 0 {
			return "nothing"
		}
		w.git("branch", "-q", "-f", "side")
		w.git("reset", "-q", "--hard", at)
		out := w.orAbort("merge", nil, "merge", "-q", "--squash", "side")
		args := []string{"commit", "-q", "--allow-empty", "--no-edit"}
		if w.rnd.IntN(2) == 0 {
			args = []string{"commit", "-q", "--allow-empty", "-m", "squashed"}
		}
		w.git(args...)
		return fmt.Sprintf("squash of %d%s", k, out)
	case n < 77:
		// Any commit that git still has, including turns' abandoned ones.
		all := strings.Split(w.git("rev-list", "--all", "--no-merges", "--max-count=40",
			"--exclude=refs/agentxchain/*", "--reflog"), "\n")
		all = slices.DeleteFunc(all, func(s string) bool { return len(s) != 40 })
		pick := all[w.rnd.IntN(len(all))]
		if w.git("ls-tree", "-d", "--name-only", pick, ".planning") == "" {
			return "nothing"
		}
		return "cherry-pick" + w.orAbort("cherry-pick", nil, "cherry-pick", "--allow-empty",
			"--keep-redundant-commits", "-X", "theirs", pick)
	case n < 84:
		list := strings.Split(w.git("rev-list", "--no-merges", "--max-count=6", "HEAD"), "\n")
		if len(list) < 3 {
			return "nothing"
		}
		return "revert" + w.orAbort("revert", nil, "revert", "--no-edit", "-X", "theirs",
			list[w.rnd.IntN(len(list)-2)])
	case n < 90:
		w.side(5)
		return "merge" + w.orAbort("merge", nil, "merge", "-q", "--no-ff", "-m", "merged", "-X",
			[]string{"ours", "theirs"}[w.rnd.IntN(2)], "side")
	case n < 95:
		name := w.anyFile()
		w.git("mv", name, fmt.Sprintf("r%d%s", w.rnd.IntN(1_000_000), filepath.Ext(name)))
		if w.rnd.IntN(2) == 0 {
			w.git("commit", "-q", "--amend", "--allow-empty", "--no-edit")
			return "rename into the commit before " + name
		}
		w.git("commit", "-q", "-m", "renamed")
		return "rename " + name
	case n < 98 || !w.prunes:
		w.humanCommit("another of a person's")
		return "human"
	default:
		w.git("reflog", "expire", "--expire=now", "--all")
		_, _ = w.tryGit(nil, "branch", "-q", "-D", "side")
		w.git("gc", "-q", "--prune=now")
		return "gc"
	}
}

var tokenOf = regexp.MustCompile(`^token\d{7}`)

// check asks about every line of a file and compares the answers with the writers.
func (w *world) check(name string) {
	w.t.Helper()
	report, err := attribution.Lines(w.ctx, w.r.Record().Repository(), attribution.Query{
		Path:      name,
		ProjectID: "proj",
	})
	w.must(err)
	for i := range report.Lines {
		l := &report.Lines[i]
		token := tokenOf.FindString(l.Text)
		want, ok := w.owner[token]
		if !ok {
			w.t.Fatalf("line %q of %s has no writer", l.Text, name)
		}
		w.stats["lines"]++
		got := human
		switch l.Kind {
		case attribution.KindUnknown:
			w.stats["unknown"]++
			w.stats["unknown: "+l.Why]++
			switch {
			case want == human:
				w.stats["unknown, a person's"]++
			case len(l.Candidates) == 1:
				w.stats["unknown, but the turn is the only one it may be"]++
			}
			if want != human &&
				!slices.ContainsFunc(l.Candidates, func(t *attribution.Turn) bool { return t.ID == want }) {
				w.t.Fatalf("%s line %d (%s): %s is not among those it may be of: %s; commit %.12s of %s before %s\n%s",
					name, l.Number, token, want, l.Why, l.Commit.OID, l.Path, l.Previous,
					strings.Join(w.log[max(0, len(w.log)-60):], "\n"))
			}
			continue
		case attribution.KindTurn:
			got = l.Turn.ID
			w.stats["by "+string(l.Evidence)]++
		case attribution.KindPending:
			w.stats["pending"]++
		default:
			w.stats["person"]++
		}
		if got != want {
			w.t.Fatalf("%s line %d (%s): written by %s, attributed to %s (%s %s), commit %.12s of %s %q\nlast steps:\n%s\n%s",
				name, l.Number, token, want, got, l.Kind, l.Evidence, l.Commit.OID, l.Path, l.Commit.Summary,
				strings.Join(w.log[max(0, len(w.log)-40):], "\n"), w.git("log", "--oneline", "-15"))
		}
	}
}

func TestRandomHistories(t *testing.T) {
	testrepo.Thorough(t)
	seeds, steps := 1, 60
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		seeds, steps = 10, 300
	}
	first := uint64(1)
	if n, err := strconv.Atoi(os.Getenv("AGENTXCHAIN_SEED")); err == nil {
		first, seeds = uint64(n), 1
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.prunes = seed%2 == 1
			for i := range steps {
				what := w.step()
				w.log = append(w.log, fmt.Sprintf("%d %s -> %s", i, what, w.git("rev-parse", "--short", "HEAD")))
				if st := w.git("status", "--porcelain"); st != "" {
					t.Fatalf("%s left %s", what, st)
				}
				if i%3 == 0 || i == steps-1 {
					for _, name := range w.files() {
						w.check(name)
					}
				}
			}
			// An answer that is always "unknown" is never wrong either.
			if share := 100 * w.stats["unknown"] / w.stats["lines"]; !w.prunes && share > 25 {
				t.Errorf("%d%% of the lines cannot be told with everything still there", share)
			}
			for _, k := range slices.Sorted(maps.Keys(w.stats)) {
				t.Logf("%6d %5.1f%% %s", w.stats[k], 100*float64(w.stats[k])/float64(w.stats["lines"]), k)
			}
		})
	}
}
