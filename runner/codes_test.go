package runner_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// documented reads docs/runner-errors.md: operation -> codes, groups included.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../docs/runner-errors.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([a-z_]+)`")
	codes := func(s string) (out []string) {
		for _, m := range code.FindAllStringSubmatch(s, -1) {
			out = append(out, m[1])
		}
		return out
	}
	groups, ops := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "**"), "**: "); ok && strings.HasPrefix(line, "**") {
			groups[name] = codes(rest)
		}
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		op := strings.Trim(cells[1], " `")
		ops[op] = codes(cells[3])
		for g := range strings.SplitSeq(cells[2], ",") {
			ops[op] = append(ops[op], groups[strings.TrimSpace(g)]...)
		}
	}
	if len(ops) < 20 || len(groups["read"]) == 0 || len(groups["change"]) == 0 {
		t.Fatalf("the tables cannot be read: %d operations, %d groups", len(ops), len(groups))
	}
	return ops
}

// Every failure has ok, error and code, the same as the Go error, and the code is documented for
// the operation.
func TestEveryFailureIsTypedAndDocumented(t *testing.T) {
	testrepo.Thorough(t)
	docs := documented(t)
	ctx := context.Background()
	inTurn := runner.Options{LockWait: -1, Getenv: func(k string) string {
		if k == runner.TurnMarker {
			return "turn_of_an_agent"
		}
		return ""
	}}
	agent := func(p *project) *runner.Runner {
		r, err := runner.Open(ctx, p.dir, inTurn)
		p.must(err)
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	assigned := func(p *project) { p.assign("pm") }
	block := runner.Block{
		BlockedOn:   "dispatch:auth",
		Category:    "dispatch_error",
		TypedReason: "dispatch_error",
		Owner:       "operator",
		Action:      "mend it",
	}
	blocked := func(p *project) {
		assigned(p)
		_, err := p.r.MarkRunBlocked(ctx, block)
		p.must(err)
	}
	damaged := func(p *project) { p.write(".agentxchain/state.json", "{") }
	for _, c := range []struct {
		op, code string
		before   func(p *project)
		do       func(p *project) (runner.Outcome, error)
	}{
		{"LoadContext", "invalid_config", func(p *project) { p.write(wire.ConfigPath, "{}") },
			func(p *project) (runner.Outcome, error) { o, err := p.r.LoadContext(ctx); return o.Outcome, err }},
		{"LoadContext", "invalid_json", func(p *project) { p.write(wire.ConfigPath, "{") },
			func(p *project) (runner.Outcome, error) { o, err := p.r.LoadContext(ctx); return o.Outcome, err }},
		{"LoadState", "invalid_state", damaged,
			func(p *project) (runner.Outcome, error) { o, err := p.r.LoadState(ctx); return o.Outcome, err }},
		{"LoadState", "state_tampered", func(p *project) {
			assigned(p)
			p.must(os.Remove(p.dir + "/.agentxchain/state.json"))
		}, func(p *project) (runner.Outcome, error) {
			o, err := p.r.LoadState(ctx)
			return o.Outcome, err
		}},
		{"InitRun", "invalid_state", damaged, func(p *project) (runner.Outcome, error) {
			o, err := p.r.InitRun(ctx, runner.InitRunOptions{})
			return o.Outcome, err
		}},
		{"InitRun", "invalid_state_transition", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.InitRun(ctx, runner.InitRunOptions{})
			return o.Outcome, err
		}},
		{"InitRun", "invalid_config", func(p *project) { p.write(wire.ConfigPath, "{}") },
			func(p *project) (runner.Outcome, error) {
				o, err := p.r.InitRun(ctx, runner.InitRunOptions{})
				return o.Outcome, err
			}},
		{"ReactivateRun", "invalid_state_transition", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.ReactivateRun(ctx, runner.ReactivateOptions{})
			return o.Outcome, err
		}},
		{"ReactivateRun", "not_found", blocked, func(p *project) (runner.Outcome, error) {
			o, err := p.r.ReactivateRun(ctx, runner.ReactivateOptions{EscalationID: "hesc_x"})
			return o.Outcome, err
		}},
		{"ReactivateRun", "state_moved", blocked, func(p *project) (runner.Outcome, error) {
			o, err := p.r.ReactivateRun(ctx, runner.ReactivateOptions{Seen: "0123"})
			return o.Outcome, err
		}},
		{"ReactivateRun", "inside_dispatched_turn", blocked, func(p *project) (runner.Outcome, error) {
			o, err := agent(p).ReactivateRun(ctx, runner.ReactivateOptions{})
			return o.Outcome, err
		}},
		{"AssignTurn", "unknown_role", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AssignTurn(ctx, runner.AssignOptions{Role: "nobody"})
			return o.Outcome, err
		}},
		{"AssignTurn", "turn_already_assigned", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AssignTurn(ctx, runner.AssignOptions{Role: "dev"})
			return o.Outcome, err
		}},
		{"AssignTurn", "dirty_tree", func(p *project) { p.write("loose.txt", "x") },
			func(p *project) (runner.Outcome, error) {
				o, err := p.r.AssignTurn(ctx, runner.AssignOptions{Role: "dev"})
				return o.Outcome, err
			}},
		{"AssignTurn", "run_blocked", blocked, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AssignTurn(ctx, runner.AssignOptions{})
			return o.Outcome, err
		}},
		{"AcceptTurn", "not_found", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{})
			return o.Outcome, err
		}},
		{"AcceptTurn", "turn_not_active", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: "turn_x"})
			return o.Outcome, err
		}},
		{"AcceptTurn", "staged_result_missing", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{})
			return o.Outcome, err
		}},
		{"AcceptTurn", "protocol_error", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{Resolution: "by_dice"})
			return o.Outcome, err
		}},
		{"AcceptTurn", "validation_failed", func(p *project) { p.stage(p.assign("pm").Turn, "objections", []any{}) },
			func(p *project) (runner.Outcome, error) {
				o, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{})
				return o.Outcome, err
			}},
		{"RejectTurn", "reason_required", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.RejectTurn(ctx, runner.RejectOptions{})
			return o.Outcome, err
		}},
		{"RejectTurn", "not_found", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.RejectTurn(ctx, runner.RejectOptions{Reason: "x"})
			return o.Outcome, err
		}},
		{"ReissueTurn", "unknown_role", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.ReissueTurn(ctx, runner.ReissueOptions{Role: "nobody", Reason: "x"})
			return o.Outcome, err
		}},
		{"ApprovePhaseGate", "invalid_state_transition", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.ApprovePhaseGate(ctx, runner.GateOptions{})
			return o.Outcome, err
		}},
		{"ApproveCompletionGate", "inside_dispatched_turn", assigned, func(p *project) (runner.Outcome, error) {
			o, err := agent(p).ApproveCompletionGate(ctx, runner.GateOptions{})
			return o.Outcome, err
		}},
		{"MarkRunBlocked", "invalid_argument", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.MarkRunBlocked(ctx, runner.Block{BlockedOn: "x"})
			return o.Outcome, err
		}},
		{"MarkRunBlocked", "run_blocked", blocked, func(p *project) (runner.Outcome, error) {
			other := block
			other.BlockedOn = "dispatch:other"
			o, err := p.r.MarkRunBlocked(ctx, other)
			return o.Outcome, err
		}},
		{"MarkRunBlocked", "turn_not_active", assigned, func(p *project) (runner.Outcome, error) {
			other := block
			other.TurnID = "turn_x"
			o, err := p.r.MarkRunBlocked(ctx, other)
			return o.Outcome, err
		}},
		{"Escalate", "reason_required", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.Escalate(ctx, runner.Escalation{})
			return o.Outcome, err
		}},
		{"Escalate", "invalid_state_transition", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.Escalate(ctx, runner.Escalation{Reason: "x"})
			return o.Outcome, err
		}},
		{"WriteDispatchBundle", "not_found", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.WriteDispatchBundle(ctx, "")
			return o.Outcome, err
		}},
		{"WriteDispatchBundle", "bundle_invalid", func(p *project) {
			p.write(wire.BundleDir(p.assign("pm").Turn.TurnID)+"/planted.md", "orders")
		}, func(p *project) (runner.Outcome, error) {
			o, err := p.r.WriteDispatchBundle(ctx, "")
			return o.Outcome, err
		}},
		{"RefreshTurnBaseline", "turn_not_active", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.RefreshTurnBaseline(ctx, "turn_x")
			return o.Outcome, err
		}},
		{"RefreshTurnBaseline", "invalid_state_transition", func(p *project) { p.stage(p.assign("pm").Turn) },
			func(p *project) (runner.Outcome, error) {
				o, err := p.r.RefreshTurnBaseline(ctx, "")
				return o.Outcome, err
			}},
		{"StageResult", "not_found", nil, func(p *project) (runner.Outcome, error) {
			o, err := p.r.StageResult(ctx, "", []byte(`{"a":1}`))
			return o.Outcome, err
		}},
		{"StageResult", "turn_not_active", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.StageResult(ctx, "../../x", []byte(`{"a":1}`))
			return o.Outcome, err
		}},
		{"StageResult", "invalid_json", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.StageResult(ctx, "", []byte("[]"))
			return o.Outcome, err
		}},
		{"StageResult", "invalid_argument", assigned, func(p *project) (runner.Outcome, error) {
			o, err := p.r.StageResult(ctx, "", make([]byte, protocol.MaxStagedBytes+1))
			return o.Outcome, err
		}},
		{"RunHooks", "invalid_state", damaged, func(p *project) (runner.Outcome, error) {
			o, err := p.r.RunHooks(ctx, runner.HookCall{Phase: "before_gate"})
			return o.Outcome, err
		}},
		{"EmitNotifications", "invalid_config", func(p *project) { p.write(wire.ConfigPath, "{}") },
			func(p *project) (runner.Outcome, error) {
				o, err := p.r.EmitNotifications(ctx, "run_blocked", nil, nil)
				return o.Outcome, err
			}},
		{"AcquireLock", "locked", nil, func(p *project) (runner.Outcome, error) {
			other := agent(p)
			_, err := p.r.AcquireLock(ctx, "a")
			p.must(err)
			o, err := other.AcquireLock(ctx, "b")
			return o.Outcome, err
		}},
		{"ReleaseLock", "lock_lost", nil, func(p *project) (runner.Outcome, error) {
			h, err := p.r.AcquireLock(ctx, "a")
			p.must(err)
			theirs := string(ojson.Compact(
				ojson.NewObject("owner_pid", os.Getpid(), "acquired_at", "2999-01-01T00:00:00.000Z")))
			p.write(wire.LockPath, theirs)
			err = p.r.ReleaseLock(h)
			if p.read(wire.LockPath) != theirs {
				t.Error("another owner's lock was taken away")
			}
			return runner.OutcomeOf(err), err
		}},
		{"Checkpoint", "not_found", assigned,
			func(p *project) (runner.Outcome, error) { o, err := p.r.Checkpoint(ctx, ""); return o.Outcome, err }},
	} {
		t.Run(c.op+"/"+c.code, func(t *testing.T) {
			p := newProject(t, nil)
			if c.before != nil {
				c.before(p)
			}
			out, err := c.do(p)
			if err == nil || out.OK || out.Code != c.code || out.Error != err.Error() ||
				runner.ErrorCode(err) != c.code {
				t.Fatalf("outcome %+v, error %v, want code %s", out, err, c.code)
			}
			if !slices.Contains(docs[c.op], c.code) {
				t.Errorf("docs/runner-errors.md does not have %s for %s: %v", c.code, c.op, docs[c.op])
			}
		})
	}
}

func TestOutcomeOf(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	p := newProject(t, nil)
	out, err := p.r.InitRun(cancelled, runner.InitRunOptions{})
	if err == nil || out.OK || out.Code != "interrupted" {
		t.Errorf("cancelled: %+v %v", out.Outcome, err)
	}
	if o := runner.OutcomeOf(context.DeadlineExceeded); o.Code != "timeout" {
		t.Errorf("%+v", o)
	}
	if o := runner.OutcomeOf(os.ErrClosed); o.Code != "failed" || o.Error == "" {
		t.Errorf("%+v", o)
	}
	if o := runner.OutcomeOf(nil); !o.OK || o.Code != "" || o.Error != "" {
		t.Errorf("%+v", o)
	}
}
