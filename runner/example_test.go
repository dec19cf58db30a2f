// The interface as a runner author uses it. Every example runs as a test, in a
// real repository.

package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// scratch makes a governed repository with one commit and opens it.
func scratch(ctx context.Context) (*runner.Runner, string) {
	dir, err := os.MkdirTemp("", "agentxchain-example-")
	check(err)
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %v: %v\n%s", args, err, out))
		}
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "Ada")
	git("config", "user.email", "ada@example.org")
	_, err = runner.InitProject(ctx, dir, runner.ProjectOptions{ID: "example"})
	check(err)
	git("add", "-A")
	git("commit", "-q", "-m", "governed project")
	// A person's own terminal, whatever started this program.
	r, err := runner.Open(ctx, dir, runner.Options{Getenv: func(string) string { return "" }})
	check(err)
	return r, dir
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// plan returns a result of the planning role that asks for nothing more.
func plan(a *runner.Assigned) []byte {
	data, err := json.Marshal(map[string]any{
		"schema_version": "1.0",
		"run_id":         a.Run,
		"turn_id":        a.Turn.TurnID,
		"role":           a.Turn.AssignedRole,
		"runtime_id":     a.Turn.RuntimeID,
		"status":         "completed",
		"summary":        "Wrote the roadmap.",
		"decisions":      []any{},
		"files_changed":  []string{},
		"objections": []any{map[string]any{
			"id":        "OBJ-001",
			"severity":  "low",
			"statement": "The second step has no owner.",
		}},
		"verification":       map[string]any{"status": "skipped"},
		"artifact":           map[string]any{"type": "review", "ref": nil},
		"proposed_next_role": "pm",
	})
	check(err)
	return data
}

// One turn: assign, stage, accept.
func Example() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"}) // starts the run, writes and seals the bundle
	check(err)
	fmt.Println("assigned:", a.OK, a.Turn.AssignedRole, a.Turn.Status)

	_, err = r.StageResult(ctx, a.Turn.TurnID, plan(a)) // what the agent hands back
	check(err)
	done, err := r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: a.Turn.TurnID})
	check(err)
	fmt.Println("accepted:", done.OK, done.State.Status, runner.ActiveTurnCount(done.State))
	// Output:
	// assigned: true pm dispatched
	// accepted: true active 0
}

func ExampleRunner_LoadContext() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	c, err := r.LoadContext(ctx)
	check(err)
	fmt.Println(c.OK, filepath.IsAbs(c.Root), c.Version, c.RawConfig.String("schema_version"))
	fmt.Println(runner.MaxConcurrentTurns(c.Config, "planning"), "turn at a time")
	// Output:
	// true true 4 1.0
	// 1 turn at a time
}

func ExampleRunner_LoadState() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	s, err := r.LoadState(ctx)
	check(err)
	fmt.Println("before:", s.State.Status, s.Turn == nil)

	// A state that cannot be read is never taken for a fresh project.
	check(os.WriteFile(filepath.Join(dir, ".agentxchain", "state.json"), []byte("{"), 0o666))
	s, err = r.LoadState(ctx)
	fmt.Println("damaged:", s.OK, s.Code, err != nil)
	done, _ := r.InitRun(ctx, runner.InitRunOptions{})
	fmt.Println("init:", done.OK, done.Code)
	// Output:
	// before: idle true
	// damaged: false invalid_state true
	// init: false invalid_state
}

func ExampleRunner_AssignTurn() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	_, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	again, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	fmt.Println(again.OK, again.Code, runner.ErrorCode(err) == again.Code, again.Hint != "")
	fmt.Println(runner.ActiveTurn(again.State).AssignedRole)
	// Output:
	// false turn_already_assigned true true
	// pm
}

func ExampleRunner_StageResult() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	out, _ := r.StageResult(ctx, a.Turn.TurnID, []byte("I am done!"))
	fmt.Println(out.OK, out.Code)
	out, err = r.StageResult(ctx, a.Turn.TurnID, plan(a))
	check(err)
	fmt.Println(out.OK, out.Path == runner.TurnStagingResultPath(a.Turn.TurnID))
	// Output:
	// false invalid_json
	// true true
}

func ExampleRunner_RejectTurn() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	back, err := r.RejectTurn(ctx, runner.RejectOptions{
		TurnID: a.Turn.TurnID,
		Stage:  "dispatch",
		Reason: "the agent answered in prose",
	})
	check(err)
	again := back.Result.Turn
	fmt.Println(again.TurnID == a.Turn.TurnID, again.Attempt, back.Result.Escalated)

	// The last attempt that fails blocks the run and asks for a person.
	back, err = r.RejectTurn(ctx, runner.RejectOptions{TurnID: a.Turn.TurnID, Stage: "dispatch", Reason: "again"})
	check(err)
	fmt.Println(back.Result.Escalated, back.State.Status, *back.State.BlockedOn)
	// Output:
	// true 2 false
	// true blocked escalation:retries-exhausted:pm
}

func ExampleRunner_ReissueTurn() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	out, err := r.ReissueTurn(ctx, runner.ReissueOptions{TurnID: a.Turn.TurnID, Reason: "its machine is gone"})
	check(err)
	fmt.Println(out.Result.Turn.TurnID != a.Turn.TurnID, out.Result.Turn.ReissuedFrom == a.Turn.TurnID)
	// Output: true true
}

func ExampleRunner_WriteDispatchBundle() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	b, err := r.WriteDispatchBundle(ctx, a.Turn.TurnID)
	check(err)
	fmt.Println("as assigned:", b.OK, b.Rebuilt)

	check(os.Remove(filepath.Join(dir, filepath.FromSlash(b.Path), "PROMPT.md")))
	b, err = r.WriteDispatchBundle(ctx, a.Turn.TurnID)
	check(err)
	_, missing := os.Stat(filepath.Join(dir, filepath.FromSlash(b.Path), "PROMPT.md"))
	fmt.Println("damaged:", b.Rebuilt, missing == nil)
	// Output:
	// as assigned: true false
	// damaged: true true
}

func ExampleRunner_RefreshTurnBaseline() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	a, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	check(os.WriteFile(filepath.Join(dir, "fixture.txt"), []byte("put here by the runner\n"), 0o666))
	out, err := r.RefreshTurnBaseline(ctx, a.Turn.TurnID)
	check(err)
	fmt.Println(out.OK, out.Files)
	// Output: true [fixture.txt]
}

func ExampleRunner_MarkRunBlocked() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	_, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	out, err := r.MarkRunBlocked(ctx, runner.Block{
		BlockedOn:   "dispatch:auth_failed",
		Category:    "dispatch_error",
		TypedReason: "dispatch_error",
		Owner:       "operator",
		Action:      "Renew the key, then run: git agentxchain unblock",
		Detail:      "the provider refused the key",
	})
	check(err)
	fmt.Println(out.OK, out.State.Status, out.Result.BlockedOn)
	events, err := os.ReadFile(filepath.Join(dir, ".agentxchain", "events.jsonl"))
	check(err)
	fmt.Println("said so:", strings.Count(string(events), `"event_type":"run_blocked"`))

	// A decision made on an older look at the run is refused.
	seen, err := r.LoadState(ctx)
	check(err)
	back, err := r.ReactivateRun(ctx, runner.ReactivateOptions{Seen: seen.Op})
	check(err)
	fmt.Println(back.State.Status)
	late, _ := r.ReactivateRun(ctx, runner.ReactivateOptions{Seen: seen.Op})
	fmt.Println(late.Code)
	// Output:
	// true blocked dispatch:auth_failed
	// said so: 1
	// active
	// state_moved
}

func ExampleRunner_Escalate() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	_, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	check(err)
	out, err := r.Escalate(ctx, runner.Escalation{Reason: "the contract is unclear"})
	check(err)
	fmt.Println(out.State.Status, out.Result.BlockedOn)
	// Output: blocked escalation:operator:the-contract-is-unclear
}

func ExampleRunner_ApprovePhaseGate() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	_, err := r.InitRun(ctx, runner.InitRunOptions{})
	check(err)
	out, _ := r.ApprovePhaseGate(ctx, runner.GateOptions{DryRun: true})
	fmt.Println(out.OK, out.Code)
	out, _ = r.ApproveCompletionGate(ctx, runner.GateOptions{})
	fmt.Println(out.OK, out.Code)
	// Output:
	// false invalid_state_transition
	// false invalid_state_transition
}

func ExampleRunner_AcquireLock() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()
	other, err := runner.Open(ctx, dir, runner.Options{LockWait: -1})
	check(err)
	defer func() { _ = other.Close() }()

	held, err := r.AcquireLock(ctx, "upload")
	check(err)
	mine, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"}) // works under the held lock
	check(err)
	theirs, _ := other.RejectTurn(ctx, runner.RejectOptions{TurnID: mine.Turn.TurnID, Reason: "too slow"})
	fmt.Println(mine.OK, theirs.OK, theirs.Code)
	fmt.Println(r.ReleaseLock(held), r.ReleaseLock(held))
	theirs, err = other.RejectTurn(ctx, runner.RejectOptions{TurnID: mine.Turn.TurnID, Reason: "too slow"})
	fmt.Println(theirs.OK, err)
	// Output:
	// true false locked
	// <nil> <nil>
	// true <nil>
}

func ExampleRunner_RunHooks() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	out, err := r.RunHooks(ctx, runner.HookCall{
		Phase:   "before_gate",
		Payload: runner.NewObject("gate_type", "phase_transition"),
	})
	check(err)
	fmt.Println(out.OK, len(out.Result.Entries)) // no hooks are configured here
	// Output: true 0
}

func ExampleRunner_EmitNotifications() {
	ctx := context.Background()
	r, dir := scratch(ctx)
	defer func() { _ = r.Close(); _ = os.RemoveAll(dir) }()

	out, err := r.EmitNotifications(ctx, "run_blocked", runner.NewObject("category", "dispatch_error"), nil)
	check(err)
	fmt.Println(out.OK, len(out.Results)) // no webhooks are configured here
	// Output: true 0
}
