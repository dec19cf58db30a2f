// A run whose developer is an MCP agent that edits real files, in a real repository.

package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
)

func TestRunWithAnAgent(t *testing.T) {
	testrepo.Isolate()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	must(err)
	dir := testproject.New(t, func(cfg *ojson.Object) {
		cfg.Set("roles", ojson.NewObject("dev",
			ojson.NewObject("title", "Dev", "mandate", "Build.", "write_authority", "authoritative", "runtime", "agent")))
		cfg.Set("runtimes", ojson.NewObject("agent", ojson.NewObject("type", "mcp", "command", []any{exe})))
		cfg.Set("routing", ojson.NewObject("build",
			ojson.NewObject("entry_role", "dev", "allowed_next_roles", []any{"dev", "human"})))
		cfg.Set("rules", ojson.NewObject("challenge_required", false, "max_turn_retries", 2))
		for _, k := range []string{"gates", "prompts"} {
			cfg.Set(k, &ojson.Object{})
		}
		for _, k := range []string{"approval_policy", "workflow_kit", "budget"} {
			cfg.Delete(k)
		}
	})
	r, err := runner.Open(ctx, dir, runner.Options{Trust: true, Getenv: func(string) string { return "" }})
	must(err)
	defer func() { _ = r.Close() }()

	d := driver.New(r, driver.Options{
		New:     builtin.New,
		Environ: func() []string { return append(os.Environ(), "MCP_TEST_SERVER=worker") },
	})
	turns := make(map[string]int)
	res := loop.Run(ctx, r, loop.Options{
		MaxTurns: 2,
		Dispatch: func(ctx context.Context, x *loop.Dispatch) *runtimes.Outcome {
			turns[x.Turn.TurnID]++
			return d.Dispatch(ctx, driver.Job{TurnID: x.Turn.TurnID, Deadline: x.Deadline, View: x.View})
		},
	})
	if res.TurnsExecuted != 2 || len(turns) != 2 {
		t.Fatalf("%d turns, dispatched %v: %+v", res.TurnsExecuted, turns, res)
	}
	work, err := os.ReadFile(filepath.Join(dir, "work.txt"))
	must(err)
	for id, n := range turns {
		if n != 2 || strings.Count(string(work), id) != 2 { // refused once, retried under the same id
			t.Errorf("turn %s was dispatched %d times; work.txt: %s", id, n, work)
		}
	}
	v, err := r.View(ctx)
	must(err)
	if v.Index.Accepted != 2 {
		t.Errorf("%d accepted turns", v.Index.Accepted)
	}
}
