package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// project is a governed scratch project with one commit.
type project struct {
	t   testing.TB
	dir string
	r   *runner.Runner
}

// newProject makes a project of one phase, build, with the given roles; writers are authoritative
// and write anywhere, the others review. slots is the phase's max_concurrent_turns.
func newProject(t testing.TB, slots int, roles []string, edit func(cfg *ojson.Object)) *project {
	t.Helper()
	testrepo.Isolate()
	p := &project{t: t, dir: testproject.New(t, func(cfg *ojson.Object) {
		all := &ojson.Object{}
		for _, id := range roles {
			all.Set(id, ojson.NewObject("title", id, "mandate", "Build.", "write_authority", "authoritative",
				"runtime", "agent"))
		}
		cfg.Set("roles", all)
		cfg.Set("runtimes", ojson.NewObject("agent", ojson.NewObject("type", "local_cli", "command", []string{"true"})))
		cfg.Set("routing", ojson.NewObject("build", ojson.NewObject("entry_role", roles[0],
			"allowed_next_roles", append(append([]string{}, roles...), "human"), "max_concurrent_turns", slots)))
		for _, k := range []string{"gates", "prompts"} {
			cfg.Set(k, &ojson.Object{})
		}
		for _, k := range []string{"approval_policy", "budget", "workflow_kit"} {
			cfg.Delete(k)
		}
		cfg.Set("rules", ojson.NewObject("challenge_required", false, "max_turn_retries", 2))
		if edit != nil {
			edit(cfg)
		}
	})}
	p.open()
	return p
}

func (p *project) open() {
	p.t.Helper()
	r, err := runner.Open(context.Background(), p.dir, runner.Options{})
	p.must(err)
	p.r = r
	p.t.Cleanup(func() { _ = r.Close() })
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

func (p *project) state() *agentrun.State {
	p.t.Helper()
	v, err := p.r.View(context.Background())
	p.must(err)
	return v.State
}

func (p *project) fsck() {
	p.t.Helper()
	report, err := p.r.Record().Fsck(context.Background(), proof.Options{Replay: true})
	p.must(err)
	if !report.Clean() {
		p.t.Fatalf("fsck: %+v", report.Findings)
	}
}

// history returns the accepted rows of the run.
func (p *project) history() []*ojson.Object {
	p.t.Helper()
	lines, err := p.r.Record().TailRows(context.Background(), wire.LedgerHistory, 0, nil)
	p.must(err)
	var out []*ojson.Object
	for _, l := range lines {
		if l.Row.String("status") != "reissued" {
			out = append(out, l.Row)
		}
	}
	return out
}

// result returns a valid result of the turn.
func result(turn *agentrun.Turn, members ...any) []byte {
	doc := ojson.NewObject("schema_version", "1.0", "run_id", turn.RunID, "turn_id", turn.TurnID,
		"role", turn.AssignedRole, "runtime_id", turn.RuntimeID,
		"status", "completed", "summary", "did "+turn.TurnID, "decisions", []any{}, "objections", []any{},
		"files_changed", []any{},
		"verification", ojson.NewObject("status", "skipped"), "artifact", ojson.NewObject("type", "review"),
		"proposed_next_role", turn.AssignedRole)
	for k, v := range ojson.NewObject(members...).All() {
		doc.Set(k, v)
	}
	return ojson.Pretty(doc)
}

func returned(turn *agentrun.Turn, members ...any) *runtimes.Outcome {
	return &runtimes.Outcome{Kind: runtimes.Returned, Result: result(turn, members...)}
}

// events collects the events of a loop.
type events struct {
	mu   sync.Mutex
	list []loop.Event
}

func (e *events) on(ev loop.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
}

func (e *events) types() []string {
	var out []string
	for _, ev := range e.list {
		out = append(out, ev.Type)
	}
	return out
}
