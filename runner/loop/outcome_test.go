package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// run drives a project with the given dispatch until it stops.
func run(p *project, opt loop.Options) (*loop.Result, []string) {
	p.t.Helper()
	seen := &events{}
	opt.OnEvent = seen.on
	if opt.Clock == nil {
		opt.Retries = -1
	}
	res := loop.Run(context.Background(), p.r, opt)
	p.fsck()
	return res, seen.types()
}

// Every kind of outcome, where one turn runs at a time and side by side.
func TestOutcomes(t *testing.T) {
	usd := 0.25
	type want struct {
		stop, sideBySide  loop.StopReason // the second when it differs
		cause             string
		accepted, history int
		blockedOn         string // prefix
		turn              string // status of the first turn left, "" for none
		said              string // part of an error
	}
	first := func(out func(d *loop.Dispatch) *runtimes.Outcome) loop.DispatchFunc {
		return func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome { return out(d) }
	}
	kind := func(o runtimes.Outcome) loop.DispatchFunc {
		return first(func(*loop.Dispatch) *runtimes.Outcome { return &o })
	}
	for _, c := range []struct {
		name     string
		dispatch loop.DispatchFunc
		want     want
	}{
		{"returned", first(func(d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn) }), want{
			stop:     loop.MaxTurnsReached,
			accepted: 1,
			history:  1,
		}},
		{"returned with the provider's cost", first(func(d *loop.Dispatch) *runtimes.Outcome {
			out := returned(d.Turn)
			out.CostUSD = &usd
			return out
		}), want{stop: loop.MaxTurnsReached, accepted: 1, history: 1}},
		{"nothing staged", kind(runtimes.Outcome{Kind: runtimes.Staged}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:retries-exhausted:dev",
			turn:      "failed",
		}},
		{"no JSON", kind(runtimes.Outcome{Kind: runtimes.Returned, Result: []byte("sorry")}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
		}},
		{"a list", kind(runtimes.Outcome{Kind: runtimes.Returned, Result: []byte("[]")}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
		}},
		{"no envelope", kind(runtimes.Outcome{Kind: runtimes.Returned, Result: []byte(`{"status":"completed"}`)}),
			want{
				stop:      loop.RejectExhausted,
				history:   2,
				blockedOn: "escalation:",
				turn:      "failed",
			}},
		{"not valid",
			first(func(d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn, "status", "splendid") }), want{
				stop:      loop.RejectExhausted,
				history:   2,
				blockedOn: "escalation:",
				turn:      "failed",
			}},
		{"of another turn", first(func(d *loop.Dispatch) *runtimes.Outcome {
			return returned(d.Turn, "turn_id",
				"turn_0000000000000000")
		}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
		}},
		{"rejected", kind(runtimes.Outcome{Kind: runtimes.Rejected, Reason: "no"}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
			said:      "was its last",
		}},
		{"no outcome", first(func(*loop.Dispatch) *runtimes.Outcome { return nil }), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
		}},
		{"unknown outcome", kind(runtimes.Outcome{Kind: "maybe"}), want{
			stop:      loop.RejectExhausted,
			history:   2,
			blockedOn: "escalation:",
			turn:      "failed",
		}},
		{"panic", first(func(*loop.Dispatch) *runtimes.Outcome { panic("boom") }), want{
			stop:       loop.DispatchError,
			sideBySide: loop.RejectExhausted,
			turn:       "dispatched",
			said:       "boom",
		}},
		{"transport error",
			kind(runtimes.Outcome{Kind: runtimes.Blocked, Class: "auth_failure", Reason: "key refused"}), want{
				stop:      loop.Blocked,
				history:   1,
				blockedOn: "dispatch:auth_failure",
				turn:      "dispatched",
				said:      "key refused",
			}},
		{"did not start", kind(runtimes.Outcome{
			Kind:    runtimes.Blocked,
			Failure: attempt.FailureSpawn,
			Reason:  "no such program",
		}), want{
			stop:      loop.Blocked,
			history:   1,
			blockedOn: "turn:failed_start:",
			turn:      "failed_start",
			said:      "no such program",
		}},
		{"timed out", kind(runtimes.Outcome{Kind: runtimes.TimedOut}), want{
			stop:      loop.Blocked,
			history:   1,
			blockedOn: "timeout:turn",
			turn:      "dispatched",
			said:      "not done within",
		}},
		{"fell silent", kind(runtimes.Outcome{Kind: runtimes.TimedOut, Reason: "It said nothing."}), want{
			stop:      loop.Blocked,
			history:   1,
			blockedOn: "timeout:turn",
			turn:      "dispatched",
			said:      ": It said nothing",
		}},
		{"aborted", kind(runtimes.Outcome{Kind: runtimes.Aborted}), want{
			stop: loop.CallerStopped,
			turn: "dispatched",
		}},
		{"refused", kind(runtimes.Outcome{Kind: runtimes.Aborted, Err: errors.New("not trusted")}), want{
			stop: loop.DispatchError,
			turn: "dispatched",
			said: "not trusted",
		}},
		{"a person's", kind(runtimes.Outcome{Kind: runtimes.Pending}), want{
			stop:  loop.CallerStopped,
			cause: loop.CauseAwaitingPerson,
			turn:  "dispatched",
		}},
	} {
		for _, slots := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d", c.name, slots), func(t *testing.T) {
				t.Parallel()
				p := newProject(t, slots, []string{"dev", "ops"}, nil)
				// A second slot that stays empty: only the mode differs.
				res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: c.dispatch})
				w := c.want
				if slots > 1 && w.sideBySide != "" {
					w.stop, w.turn, w.history = w.sideBySide, "failed", 2
					w.blockedOn, w.said = "escalation:", ""
				}
				if res.StopReason != w.stop || res.Cause != w.cause || res.TurnsExecuted != w.accepted ||
					len(res.TurnHistory) != w.history || res.OK {
					t.Fatalf("%s (%s), %d accepted, history %+v, errors %q", res.StopReason, res.Cause,
						res.TurnsExecuted, res.TurnHistory, res.Errors)
				}
				s := p.state()
				on := ""
				if s.BlockedOn != nil {
					on = *s.BlockedOn
				}
				if !strings.HasPrefix(on, w.blockedOn) || w.blockedOn == "" && on != "" {
					t.Fatalf("blocked on %q, want %q", on, w.blockedOn)
				}
				left := ""
				for _, turn := range s.ActiveTurns.All() {
					left = turn.Status
				}
				if left != w.turn {
					t.Fatalf("the turn is %q, want %q", left, w.turn)
				}
				if w.said != "" && !strings.Contains(strings.Join(res.Errors, "\n"), w.said) {
					t.Fatalf("errors %q do not say %q", res.Errors, w.said)
				}
				if c.name == "returned with the provider's cost" && s.BudgetStatus.SpentUSD != usd {
					t.Fatalf("spent %v", s.BudgetStatus.SpentUSD)
				}
			})
		}
	}
}

// A rejected attempt is followed by another under the same turn id, and the agent
// is told why.
func TestRetryKeepsTheTurn(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	var ids []string
	res, types := run(p, loop.Options{
		MaxTurns: 1,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			ids = append(ids, d.Turn.TurnID)
			if d.Turn.Attempt == 1 {
				return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "try harder"}
			}
			if why := d.Turn.LastRejection.String("reason"); why != "try harder" {
				t.Errorf("the retry is told %q", why)
			}
			return returned(d.Turn)
		},
	})
	if res.TurnsExecuted != 1 || len(ids) != 2 || ids[0] != ids[1] ||
		!slices.Equal(types, []string{"turn_assigned", "turn_rejected", "turn_accepted"}) {
		t.Fatalf("%+v %v %v", res, ids, types)
	}
}

// A callback that breaks down stops the loop in the way that fits its place and harms nothing.
func TestCallbacksBreak(t *testing.T) {
	testrepo.Serving(t)
	ok := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn) }
	for name, c := range map[string]struct {
		opt  loop.Options
		stop loop.StopReason
		said string
	}{
		"select panics": {loop.Options{SelectRole: func(context.Context, *agentrun.State,
			*config.Config) (string, error) {
			panic("sel")
		}}, loop.DispatchError, "sel"},
		"select fails": {loop.Options{SelectRole: func(context.Context, *agentrun.State,
			*config.Config) (string, error) {
			return "", errors.New("sel")
		}}, loop.DispatchError, "sel"},
		"select stops": {loop.Options{SelectRole: func(context.Context, *agentrun.State,
			*config.Config) (string, error) {
			return "", nil
		}}, loop.CallerStopped, ""},
		"select unknown role": {loop.Options{SelectRole: func(context.Context, *agentrun.State,
			*config.Config) (string, error) {
			return "nobody", nil
		}}, loop.Blocked, "nobody"},
		"after panics": {loop.Options{AfterAccept: func(context.Context,
			loop.AfterAccept) error {
			panic("aft")
		}}, loop.Blocked, "aft"},
		"after fails": {loop.Options{AfterAccept: func(context.Context,
			loop.AfterAccept) error {
			return errors.New("aft")
		}}, loop.Blocked, "aft"},
		"no dispatch": {loop.Options{}, loop.InitFailed, "dispatch"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, 1, []string{"dev"}, nil)
			opt := c.opt
			opt.MaxTurns = 1
			if name != "no dispatch" {
				opt.Dispatch = ok
			}
			res, _ := run(p, opt)
			if res.StopReason != c.stop || c.said != "" && !strings.Contains(strings.Join(res.Errors, "\n"), c.said) {
				t.Fatalf("%s %q", res.StopReason, res.Errors)
			}
			if opt.AfterAccept != nil &&
				(len(res.TurnHistory) != 1 || !res.TurnHistory[0].Accepted || res.TurnsExecuted != 1) {
				t.Fatalf("the accepted turn is not in %+v", res.TurnHistory)
			}
		})
	}
	t.Run("event panics", func(t *testing.T) {
		p := newProject(t, 1, []string{"dev"}, nil)
		res := loop.Run(context.Background(), p.r, loop.Options{
			MaxTurns:   1,
			Dispatch:   ok,
			OnEvent:    func(loop.Event) { panic("eve") },
			OnActivity: func(string, runtimes.Activity) { panic("act") },
		})
		if res.StopReason != loop.MaxTurnsReached || len(res.Errors) == 0 || !strings.Contains(res.Errors[0], "eve") {
			t.Fatalf("%s %q", res.StopReason, res.Errors)
		}
	})
}

// A turn whose agent does not end by itself is ended at its deadline; an agent that does not even
// listen is given up.
func TestDeadlineIsArmed(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("deaf %v", deaf), func(t *testing.T) {
			p := newProject(t, 1, []string{"dev"}, nil)
			end := make(chan struct{})
			defer close(end)
			res, types := run(p, loop.Options{
				DispatchLimit: 30 * time.Millisecond,
				Grace:         20 * time.Millisecond,
				Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
					if until := time.Until(d.Deadline); until > time.Second {
						t.Errorf("the deadline is %s away", until)
					}
					if deaf {
						<-end
					}
					<-ctx.Done()
					return &runtimes.Outcome{Kind: runtimes.Aborted}
				},
			})
			s := p.state()
			if res.StopReason != loop.Blocked || s.BlockedOn == nil || *s.BlockedOn != "timeout:turn" ||
				s.BlockedReason.Recovery.Owner != agentrun.OwnerOperator || !slices.Contains(types, "blocked") {
				t.Fatalf("%+v %v", res, s.BlockedReason)
			}
			lines, err := p.r.Record().TailRows(context.Background(), wire.LedgerDecisions, 0,
				func(o *ojson.Object) bool { return o.String("type") == "timeout" })
			p.must(err)
			if len(lines) != 1 {
				t.Fatalf("%d timeout entries in the ledger", len(lines))
			}
			// Once a person has lifted the block the same turn is dispatched again, with new time.
			_, err = p.r.ReactivateRun(context.Background(), runner.ReactivateOptions{})
			p.must(err)
			if res, _ := run(p, loop.Options{
				MaxTurns: 1,
				Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn) },
			}); res.TurnsExecuted != 1 || len(p.history()) != 1 {
				t.Fatalf("%+v", res)
			}
		})
	}
}

// When the caller gives up, the agents are ended, the turns stay, and another loop goes on with
// them.
func TestCancelledLoopIsResumed(t *testing.T) {
	p := newProject(t, 2, []string{"dev", "ops"}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan string, 2)
	go func() { <-started; <-started; cancel() }()
	res := loop.Run(ctx, p.r, loop.Options{Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
		started <- d.Turn.TurnID
		<-ctx.Done()
		if d.Turn.AssignedRole == "ops" {
			return returned(d.Turn) // it was done just then: the result is not lost
		}
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	}})
	if res.StopReason != loop.CallerStopped || res.Cause != loop.CauseCancelled || res.State.ActiveTurns.Len() != 2 {
		t.Fatalf("%+v", res)
	}
	asked := map[string]int{}
	done := make(chan string, 10)
	res, types := run(p, loop.Options{
		MaxTurns: 2,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			done <- d.Turn.AssignedRole
			return returned(d.Turn)
		},
	})
	close(done)
	for role := range done {
		asked[role]++
	}
	if res.TurnsExecuted != 2 || asked["dev"] != 1 || asked["ops"] != 0 || slices.Contains(types, "turn_assigned") ||
		!slices.Contains(types, loop.EventTurnResumed) {
		t.Fatalf("%+v %v %v", res, asked, types)
	}
}

// A turn that a person sends back, or gives up, while its agent is at work: neither what that agent brings nor its failure
// counts for the attempt that follows.
func TestAttemptEndsWhileAtWork(t *testing.T) {
	staged := func(p *project, d *loop.Dispatch) *runtimes.Outcome {
		p.write(d.StagingPath, string(result(d.Turn)))
		return &runtimes.Outcome{Kind: runtimes.Staged}
	}
	back := func(p *project, d *loop.Dispatch) *runtimes.Outcome { return returned(d.Turn) }
	failed := func(*project, *loop.Dispatch) *runtimes.Outcome {
		return &runtimes.Outcome{Kind: runtimes.Blocked, Failure: attempt.FailureNoOutput, Reason: "it ended without a word"}
	}
	sendBack := func(p *project, id string) error {
		_, err := p.r.RejectTurn(t.Context(), runner.RejectOptions{TurnID: id, Reason: "stop that"})
		return err
	}
	giveUp := func(p *project, id string) error {
		_, err := p.r.ReissueTurn(t.Context(), runner.ReissueOptions{TurnID: id, Reason: "stop that"})
		return err
	}
	for name, c := range map[string]struct {
		first func(*project, *loop.Dispatch) *runtimes.Outcome
		end   func(*project, string) error
	}{
		"staged, sent back":   {staged, sendBack},
		"returned, sent back": {back, sendBack},
		"failed, sent back":   {failed, sendBack},
		"staged, given up":    {staged, giveUp},
		"returned, given up":  {back, giveUp},
		"failed, given up":    {failed, giveUp},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, 1, []string{"dev"}, nil)
			asked := 0
			res, _ := run(p, loop.Options{
				MaxTurns: 1,
				Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
					if asked++; asked > 1 {
						return returned(d.Turn)
					}
					out := c.first(p, d)
					p.must(c.end(p, d.Turn.TurnID))
					return out
				},
			})
			if asked != 2 || res.TurnsExecuted != 1 || res.StopReason != loop.MaxTurnsReached || len(res.TurnHistory) != 2 ||
				res.TurnHistory[0].Accepted || !strings.Contains(res.TurnHistory[0].AcceptError, "was not taken") {
				t.Fatalf("asked %d times: %+v", asked, res)
			}
		})
	}
}

// The agent of such an attempt is stopped: it would go on with work that is not taken. One whose turn is accepted ends
// by itself.
func TestAgentOfAnEndedAttemptIsStopped(t *testing.T) {
	testrepo.Thorough(t)
	for name, end := range map[string]func(*project, string) error{
		"sent back": func(p *project, id string) error {
			_, err := p.r.RejectTurn(t.Context(), runner.RejectOptions{TurnID: id, Reason: "stop that"})
			return err
		},
		"given up": func(p *project, id string) error {
			_, err := p.r.ReissueTurn(t.Context(), runner.ReissueOptions{TurnID: id, Reason: "stop that"})
			return err
		},
		"accepted": func(p *project, id string) error {
			_, err := p.r.AcceptTurn(t.Context(), runner.AcceptOptions{TurnID: id})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, 1, []string{"dev"}, nil)
			asked, stopped := 0, false
			patience := time.Minute
			if name == "accepted" {
				patience = 2 * time.Second
			}
			run(p, loop.Options{
				MaxTurns: 2,
				Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
					if asked++; asked > 1 {
						return returned(d.Turn)
					}
					p.write(d.StagingPath, string(result(d.Turn)))
					// Its progress is to be recorded when the loop learns of the end.
					d.Activity(runtimes.Activity{PID: os.Getpid(), Stream: "stdout"})
					p.must(end(p, d.Turn.TurnID))
					select {
					case <-ctx.Done():
						stopped = true
					case <-time.After(patience):
					}
					return &runtimes.Outcome{Kind: runtimes.Staged}
				},
			})
			if want := name != "accepted"; stopped != want || asked < 2 {
				t.Errorf("asked %d times; the agent was stopped: %t, want %t", asked, stopped, want)
			}
		})
	}
}

// A turn that its agent has accepted by itself, over MCP or by the command, is done, however the agent ends.
func TestAgentAccepts(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	asked := 0
	res, _ := run(p, loop.Options{
		MaxTurns: 1,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			if asked++; asked > 1 {
				return returned(d.Turn)
			}
			p.write(d.StagingPath, string(result(d.Turn)))
			_, err := p.r.AcceptTurn(t.Context(), runner.AcceptOptions{TurnID: d.Turn.TurnID})
			p.must(err)
			return &runtimes.Outcome{Kind: runtimes.Blocked, Failure: attempt.FailureNoOutput, Reason: "it ended without a word"}
		},
	})
	if res.TurnsExecuted != 1 || len(res.Errors) != 0 || len(p.history()) != 2 {
		t.Fatalf("%+v", res)
	}
}

// Two loops never drive one work tree at a time.
func TestSecondLoopIsRefused(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	other, err := runner.Open(context.Background(), p.dir, runner.Options{})
	p.must(err)
	defer func() { _ = other.Close() }()
	var second *loop.Result
	res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		second = loop.Run(context.Background(), other,
			loop.Options{Dispatch: func(context.Context, *loop.Dispatch) *runtimes.Outcome { return nil }})
		return returned(d.Turn)
	}})
	if res.TurnsExecuted != 1 || second.StopReason != loop.AdmissionRejected ||
		second.Cause != loop.CauseLoopRunning || second.State != nil || runner.ErrorCode(second.Err) != "locked" {
		t.Fatalf("%+v %+v", res, second)
	}
}

// TestRecoveryFollowed does what a blocked run asks for, whatever the runtime reported: the same
// turn is then carried out.
func TestRecoveryFollowed(t *testing.T) {
	for recovery, want := range map[string]string{
		"":            "Mend what kept the turn from being carried out, then run: git agentxchain unblock",
		"Turn it on.": "Turn it on, then run: git agentxchain unblock",
		"Turn it on, then: git agentxchain unblock": "Turn it on, then run: git agentxchain unblock",
	} {
		p := newProject(t, 1, []string{"dev"}, nil)
		off := true
		dispatch := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			if off {
				return &runtimes.Outcome{Kind: runtimes.Blocked, Class: "off", Reason: "it is off", Recovery: recovery}
			}
			return returned(d.Turn)
		}
		res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: dispatch})
		if res.StopReason != loop.Blocked || res.State.BlockedReason == nil ||
			res.State.BlockedReason.Recovery.RecoveryAction != want {
			t.Fatalf("%q: %+v, %+v", recovery, res, res.State.BlockedReason)
		}
		off = false
		if res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: dispatch}); res.StopReason != loop.Blocked {
			t.Errorf("a blocked run went on: %+v", res)
		}
		if _, err := p.r.ReactivateRun(context.Background(), runner.ReactivateOptions{}); err != nil {
			t.Fatal(err)
		}
		id := res.State.ActiveTurns.Keys()[0]
		if res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: dispatch}); res.TurnsExecuted != 1 ||
			res.TurnHistory[0].TurnID != id {
			t.Errorf("%q: %+v", recovery, res)
		}
	}
}

// TestConfigMended corrects the configuration as the blocked run asks for: the change is not taken
// for the agent's.
func TestConfigMended(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	off := true
	dispatch := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		if off {
			return &runtimes.Outcome{
				Kind:     runtimes.Blocked,
				Class:    "off",
				Reason:   "it is off",
				Recovery: "correct url in agentxchain.json, then: git agentxchain unblock",
			}
		}
		return returned(d.Turn)
	}
	res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: dispatch})
	id := res.State.ActiveTurns.Keys()[0]
	if got := res.State.BlockedReason.Recovery.RecoveryAction; got != "correct url in agentxchain.json, commit it, then run: git agentxchain reissue "+id+" --take-commits" {
		t.Fatal(got)
	}
	off = false
	data, err := os.ReadFile(filepath.Join(p.dir, wire.ConfigPath))
	p.must(err)
	p.write(wire.ConfigPath, string(data)+"\n")
	_, err = gitcommit.Paths(context.Background(), p.r.Record().Repository(), []string{wire.ConfigPath}, "mend")
	p.must(err)
	look, err := p.r.TurnCommits(context.Background(), id)
	p.must(err)
	if _, err := p.r.ReissueTurn(context.Background(), runner.ReissueOptions{
		TurnID:      id,
		TakeCommits: true,
		Head:        look.Head,
	}); err != nil {
		t.Fatal(err)
	}
	if res, _ := run(p, loop.Options{MaxTurns: 1, Dispatch: dispatch}); res.TurnsExecuted != 1 ||
		len(res.TurnHistory) != 1 {
		t.Errorf("%+v", res)
	}
}

// TestUnreadableResults puts something other than a file of sensible size in the result's place: it
// costs an attempt, and the next one counts.
func TestUnreadableResults(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"a directory": func(file string) error { return os.MkdirAll(file, 0o777) },
		"a link":      func(file string) error { return os.Symlink("/etc/passwd", file) },
		"far too large": func(file string) error {
			return os.WriteFile(file, make([]byte, protocol.MaxStagedBytes+1), 0o666)
		},
	} {
		p := newProject(t, 1, []string{"dev"}, nil)
		res, _ := run(p, loop.Options{
			MaxTurns: 1,
			Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
				file := filepath.Join(d.Root, d.StagingPath)
				if d.Turn.Attempt > 1 {
					p.must(os.RemoveAll(file))
					return returned(d.Turn)
				}
				p.must(os.MkdirAll(filepath.Dir(file), 0o777))
				p.must(put(file))
				return &runtimes.Outcome{Kind: runtimes.Staged}
			},
		})
		if res.TurnsExecuted != 1 || len(res.TurnHistory) != 2 ||
			res.TurnHistory[0].ErrorCode != loop.CodeDispatchRejected ||
			res.TurnHistory[0].TurnID != res.TurnHistory[1].TurnID {
			t.Errorf("%s: %+v", name, res)
		}
	}
}
