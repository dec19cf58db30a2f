package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// project is a governed scratch project with one commit.
type project struct {
	t   *testing.T
	ctx context.Context
	dir string
	r   *runner.Runner
}

// newProject sets up a project; edit may change its configuration first.
func newProject(t *testing.T, edit func(cfg *ojson.Object)) *project {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv(runner.TurnMarker, "")
	p := &project{t: t, ctx: context.Background(), dir: testproject.New(t, edit)}
	var err error
	p.r, err = runner.Open(p.ctx, p.dir, runner.Options{})
	p.must(err)
	t.Cleanup(func() { _ = p.r.Close() })
	return p
}

func (p *project) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) write(path, content string) {
	p.t.Helper()
	full := filepath.Join(p.dir, filepath.FromSlash(path))
	p.must(os.MkdirAll(filepath.Dir(full), 0o777))
	p.must(os.WriteFile(full, []byte(content), 0o666))
}

func (p *project) assign(role string) *runner.Assigned {
	p.t.Helper()
	a, err := p.r.AssignTurn(p.ctx, runner.AssignOptions{Role: role})
	p.must(err)
	return a
}

// stage writes the turn's template with the given members replaced.
func (p *project) stage(turn *run.Turn, members ...any) {
	p.t.Helper()
	doc, err := p.r.Template(p.ctx, turn.TurnID)
	p.must(err)
	doc = doc.Clone()
	doc.Set("decisions", []any{})
	doc.Set("verification", ojson.NewObject("status", "skipped"))
	doc.Set("proposed_next_role", "human")
	for k, v := range ojson.NewObject(members...).All() {
		doc.Set(k, v)
	}
	p.write(wire.StagingPath(turn.TurnID), string(ojson.Pretty(doc)))
}

func (p *project) state() *run.State {
	p.t.Helper()
	v, err := p.r.View(p.ctx)
	p.must(err)
	return v.State
}

// wantCode fails unless err is a refusal with the code.
func wantCode(t *testing.T, err error, code string) *wire.Error {
	t.Helper()
	if got := runner.ErrorCode(err); got != code {
		t.Fatalf("got error %q (%v), want code %s", got, err, code)
	}
	var refusal *wire.Error
	errors.As(err, &refusal)
	return refusal
}

func review(n string) []*ojson.Object {
	return []*ojson.Object{ojson.NewObject("id", n, "severity", "low", "statement", "a real doubt")}
}

func TestReviewTurnIsAcceptedAndRecorded(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("")
	if a.Turn.AssignedRole != "pm" || !a.Started {
		t.Fatalf("first turn went to %s, started %v", a.Turn.AssignedRole, a.Started)
	}
	p.write(".planning/ROADMAP.md", "# Roadmap\n\n1. ship\n")
	p.stage(a.Turn, "summary", "planned", "objections", review("OBJ-001"),
		"files_changed", []string{".planning/ROADMAP.md"}, "proposed_next_role", "pm")
	out, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	if s := p.state(); s.ActiveTurns.Len() != 0 || *s.LastCompletedTurnID != a.Turn.TurnID ||
		s.Status != wire.StatusActive {
		t.Fatalf("unexpected state after acceptance: %s", s.Encode())
	}
	row, err := p.r.Record().LastRow(p.ctx, wire.LedgerHistory, "turn_id", a.Turn.TurnID)
	p.must(err)
	if row == nil || !ojson.Equal(row.Row, out.Result.Entry) {
		t.Fatalf("history does not hold the entry: %v", row)
	}
	if _, err := os.Stat(filepath.Join(p.dir, wire.StagingPath(a.Turn.TurnID))); !os.IsNotExist(err) {
		t.Fatalf("the staged result is still there: %v", err)
	}
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: a.Turn.TurnID})
	wantCode(t, err, wire.CodeTurnAlreadyAccepted)
}

func TestRefusedResultKeepsTurnAndFiles(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	p.write("notes.txt", "the operator's own notes\n")
	p.stage(a.Turn, "summary", "x", "objections", []any{})
	before := staged(t, p, a.Turn)
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	e := wantCode(t, err, wire.CodeValidationFailed)
	if e.Stage != "protocol" {
		t.Fatalf("stage %q", e.Stage)
	}
	if staged(t, p, a.Turn) != before {
		t.Fatal("the staged result was changed")
	}
	if data, err := os.ReadFile(filepath.Join(p.dir, "notes.txt")); err != nil ||
		string(data) != "the operator's own notes\n" {
		t.Fatalf("the operator's file is gone: %q %v", data, err)
	}
	turn, _ := p.state().ActiveTurns.Get(a.Turn.TurnID)
	if turn.Status != wire.TurnFailedAcceptance {
		t.Fatalf("turn status %s", turn.Status)
	}
}

func staged(t *testing.T, p *project, turn *run.Turn) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, wire.StagingPath(turn.TurnID)))
	p.must(err)
	return string(data)
}

// A staged document that is not sane changes nothing at all.
func TestHostileStagedResultChangesNothing(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	for name, content := range map[string]string{
		"truncated": `{"schema_version": "1.0", "run_`, "array": `[1,2]`, "deep": strings.Repeat(`{"a":`,
			500), "duplicate": `{"a":1,"a":2}`,
		"invalid utf-8": "{\"a\":\"\xff\"}", "trailing": `{} {}`, "empty": "", "braces": " {} ",
	} {
		t.Run(name, func(t *testing.T) {
			p.write(wire.StagingPath(a.Turn.TurnID), content)
			before := snapshot(t, p.dir)
			_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
			if code := runner.ErrorCode(err); code != wire.CodeInvalidJSON && code != wire.CodeStagedMissing {
				t.Fatalf("error %v (%s)", err, code)
			}
			if after := snapshot(t, p.dir); after != before {
				t.Fatalf("the project changed:\n%s\n---\n%s", before, after)
			}
		})
	}
}

// snapshot returns every file of the project below .agentxchain with its contents.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(dir, ".agentxchain"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "locks") {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
