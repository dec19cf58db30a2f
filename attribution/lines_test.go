// Single cases: common lines, work that another person began, checkpoints with more than was accepted, clones and
// formats.

package attribution_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	w.must(os.MkdirAll(filepath.Dir(path), 0o777))
	w.must(os.WriteFile(path, []byte(text), 0o666))
}

// answers returns one word per line: the kind, or for a turn the evidence.
func (w *world) answers(name string, ranges ...history.LineRange) string {
	w.t.Helper()
	report, err := attribution.Lines(w.ctx, w.r.Record().Repository(), attribution.Query{
		Path:      name,
		Ranges:    ranges,
		ProjectID: "proj",
	})
	w.must(err)
	var words []string
	for i := range report.Lines {
		l := &report.Lines[i]
		word := string(l.Kind)
		if l.Kind == attribution.KindTurn {
			word = string(l.Evidence)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// want compares answers.
func (w *world) want(name, answers string) {
	w.t.Helper()
	if got := w.answers(name); got != answers {
		w.t.Errorf("%s: %s, want %s", name, got, answers)
	}
}

// begin assigns the pm a turn; finish accepts it with a text in a file.
func (w *world) begin() string {
	w.t.Helper()
	a, err := w.r.AssignTurn(w.ctx, runner.AssignOptions{Role: "pm"})
	w.must(err)
	return a.Turn.TurnID
}

func (w *world) checkpoint(turn string) {
	w.t.Helper()
	_, err := w.r.Checkpoint(w.ctx, turn)
	w.must(err)
}

// Braces and empty lines are attributed to a turn with the lines next to them, and with the whole change; a
// person's line among them is not.
func TestCommonLines(t *testing.T) {
	w := newWorld(t, 1)
	w.write("a.go", "func before() {\n}\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "before")
	turn := w.begin()
	w.write("a.go", "func before() {\n}\n\nfunc writtenByTheTurn() {\n\treturn\n}\n")
	w.accept(turn, []string{"a.go"})
	w.checkpoint(turn)
	w.want("a.go", "person person checkpoint checkpoint checkpoint checkpoint")
	w.git("commit", "-q", "--amend", "-m", "no trailers")
	w.want("a.go", "person person patch patch patch patch")
	w.write("a.go",
		"func before() {\n}\n\nfunc writtenByTheTurn() {\n\treturn\n}\n\nfunc ofAPerson() {\n\treturn\n}\n")
	w.git("commit", "-q", "-a", "--amend", "--no-edit")
	w.want("a.go", "person person content content content content unknown person unknown unknown")
	w.write("b.go", "func ofAPerson() {\n\treturn\n}\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "another file")
	w.want("b.go", "person person person")
}

// What a person adds between acceptance and checkpoint is in the checkpoint, and its lines cannot be distinguished.
func TestCheckpointWithMore(t *testing.T) {
	w := newWorld(t, 1)
	turn := w.begin()
	w.write("a.txt", "the line of the turn\n")
	w.write("b.txt", "the line of the turn\n")
	w.accept(turn, []string{"a.txt", "b.txt"})
	w.write("a.txt", "the line of the turn\nthe line of a person\n")
	w.checkpoint(turn)
	w.want("a.txt", "unknown unknown")
	w.want("b.txt", "checkpoint")
}

// A reviewer's document from before the turn.
func TestBegunBefore(t *testing.T) {
	w := newWorld(t, 1)
	cfg := filepath.Join(w.dir, wire.ConfigPath)
	data, err := os.ReadFile(cfg)
	w.must(err)
	doc, err := ojson.DecodeObject(data)
	w.must(err)
	doc.Object("roles").Object("pm").Set("write_authority", "review_only")
	w.must(os.WriteFile(cfg, ojson.Pretty(doc), 0o666))
	w.git("commit", "-q", "-a", "-m", "review only")
	w.write(".planning/NOTES.md", "begun by a person before\n")
	turn := w.begin()
	w.write(".planning/NOTES.md", "begun by a person before\ncontinued by the reviewer\n")
	w.write(".planning/OWN.md", "all of it by the reviewer\n")
	w.stageReview(turn, []string{".planning/NOTES.md", ".planning/OWN.md"})
	w.want(".planning/ROADMAP.md", strings.TrimSpace(strings.Repeat("person ", len(w.lines(".planning/ROADMAP.md")))))
	w.checkpoint(turn)
	w.want(".planning/NOTES.md", "unknown unknown")
	w.want(".planning/OWN.md", "checkpoint")
	w.git("commit", "-q", "--amend", "-m", "again")
	w.want(".planning/NOTES.md", "unknown unknown")
	w.want(".planning/OWN.md", "patch")
}

func (w *world) stageReview(turn string, files []string) {
	doc, err := w.r.Template(w.ctx, turn)
	w.must(err)
	doc = doc.Clone()
	for k, v := range ojson.NewObject("decisions", []any{}, "summary", "looked",
		"verification", ojson.NewObject("status", "skipped"), "files_changed", files,
		"objections", []*ojson.Object{ojson.NewObject("id", "OBJ-001", "severity", "low",
			"statement", "a real doubt")},
		"proposed_next_role", "pm").All() {
		doc.Set(k, v)
	}
	w.write(wire.StagingPath(turn), string(ojson.Pretty(doc)))
	_, err = w.r.AcceptTurn(w.ctx, runner.AcceptOptions{})
	w.must(err)
}

// A clone without the run's refs, without the turn's own commit, and a shallow one.
func TestClones(t *testing.T) {
	w := newWorld(t, 1)
	turn := w.begin()
	w.write("a.txt", "the line of the turn\n")
	w.accept(turn, []string{"a.txt"})
	w.checkpoint(turn)
	w.edit("f0.x0", human, 1)
	w.git("commit", "-q", "-a", "-m", "a person's")
	clone := func(runs bool, args ...string) string {
		at := filepath.Join(t.TempDir(), "clone")
		args = append(append([]string{"clone", "-q"}, args...), "file://"+w.dir, at)
		w.git(args...)
		if runs {
			w.git("-C", at, "fetch", "-q", "origin", "refs/agentxchain/*:refs/agentxchain/*")
		}
		repo, err := git.Discover(w.ctx, at)
		w.must(err)
		defer func() { _ = repo.Close() }()
		var words []string
		for _, name := range []string{"a.txt", "f0.x0"} {
			report, err := attribution.Lines(w.ctx, repo, attribution.Query{Path: name, ProjectID: "proj"})
			w.must(err)
			l := report.Lines[0]
			words = append(words, strings.TrimSpace(string(l.Kind)+" "+string(l.Evidence)+l.Why))
		}
		return strings.Join(words, ", ")
	}
	const stranger = "unknown the commit names a turn that no run here has accepted, person"
	for _, tt := range []struct{ name, got, want string }{
		{"all", clone(true), "turn checkpoint, person"},
		{"no runs", clone(false), stranger},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if got := clone(true, "--depth=2"); !strings.HasPrefix(got, "unknown ") {
		t.Errorf("shallow: %s", got)
	}
	// The amended checkpoint still builds on the baseline: it contains what was accepted, and what was there before
	// is known.
	w.git("reset", "-q", "--hard", "HEAD^")
	w.git("commit", "-q", "--amend", "--no-edit", "-m", "reworded")
	if got := clone(true); !strings.HasPrefix(got, "turn ") || !strings.HasSuffix(got, ", person") {
		t.Errorf("amended: %s", got)
	}
}

// A SHA-256 repository.
func TestFormats(t *testing.T) {
	testrepo.Isolate()
	t.Setenv("GIT_DEFAULT_HASH", "sha256")
	w := newWorld(t, 1)
	turn := w.begin()
	w.write("a.txt", "the line of the turn\n")
	w.accept(turn, []string{"a.txt"})
	w.checkpoint(turn)
	w.want("a.txt", "checkpoint")
	w.git("commit", "-q", "--amend", "-m", "again")
	w.want("a.txt", "patch")
}

// Revisions that git is told to ignore are skipped as git does, and never attribute a line to a turn that did not
// write it.
func TestIgnoredRevisions(t *testing.T) {
	w := newWorld(t, 1)
	turn := w.begin()
	w.write("a.txt", "the line of the turn, first\nthe line of the turn, second\n")
	w.accept(turn, []string{"a.txt"})
	w.checkpoint(turn)
	w.write("a.txt", "  the line of the turn, first\n  the line of the turn, second\n")
	w.git("commit", "-q", "-a", "-m", "reformatted")
	w.want("a.txt", "person person")
	w.write("ignored", w.git("rev-parse", "HEAD")+"\n")
	w.git("config", "blame.ignoreRevsFile", "ignored")
	w.want("a.txt", "checkpoint checkpoint")
	if _, err := exec.Command("git", "-C", w.dir, "fsck").Output(); err != nil {
		t.Fatal(err)
	}
}
