// The watchdog of dispatched turns: agents whose dispatcher is gone
// (docs/spec/lifecycle.md#recovery, docs/runtimes.md#what-is-written-while-an-agent-works).

package runner

import (
	"context"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Watched is the outcome of Watchdog and FailTurn.
type Watched struct {
	Done
	Result *attempt.WatchResult // nil when nothing was wrong
}

// Health lists the active turns whose agent never started or has fallen silent, as the run stands
// in v. It changes nothing; manual turns are never listed.
func (r *Runner) Health(v *gitstore.View) []attempt.TurnHealth {
	if v == nil || v.State == nil || v.Config == nil {
		return nil
	}
	return attempt.WatchTurns(v.Config, v.State, r.watched(v.Config, v.State), r.Now())
}

// Watchdog marks such turns failed_start or stalled, gives their reservations back and blocks the
// run on them until a person reissues them. Without any it does nothing; the run is not even
// locked.
func (r *Runner) Watchdog(ctx context.Context) (*Watched, error) {
	out := &Watched{}
	v, err := r.View(ctx)
	if err != nil || len(r.Health(v)) == 0 {
		return out, out.settle(err)
	}
	return r.watch(ctx, nil)
}

// FailTurn records that the agent of a turn could not be started or showed no sign of life to the
// dispatcher that was waiting for it. failure is one of protocol.FailureSpawn, FailureAttach and
// FailureNoOutput.
func (r *Runner) FailTurn(ctx context.Context, turnID, failure, detail string) (*Watched, error) {
	return r.watch(ctx, &attempt.WatchedTurn{TurnID: turnID, Failure: failure, Detail: detail})
}

func (r *Runner) watch(ctx context.Context, failed *attempt.WatchedTurn) (*Watched, error) {
	out := &Watched{}
	done, err := r.do(ctx, "watch", func(_ context.Context, c *change) (*plan, error) {
		op := &attempt.Watch{}
		if failed != nil {
			op.Turns = []attempt.WatchedTurn{*failed}
			return &plan{op: op}, nil
		}
		op.Turns = r.watched(c.view.Config, c.view.State)
		if len(attempt.WatchTurns(c.view.Config, c.view.State, op.Turns, c.env.Now)) == 0 {
			return nil, nil // dealt with meanwhile
		}
		return &plan{op: op}, nil
	})
	out.Done, out.Result = *done, resultOf[*attempt.WatchResult](done, err)
	return out, err
}

// watched gathers what can be seen of the active turns from outside: what is staged, the progress
// file, and whether a process looks after them or did until it was interrupted.
func (r *Runner) watched(cfg *config.Config, s *run.State) []attempt.WatchedTurn {
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	var out []attempt.WatchedTurn
	for id, turn := range s.ActiveTurns.All() {
		w := attempt.WatchedTurn{TurnID: id}
		if st, err := r.LookStaged(id); err == nil {
			w.Staged = st.Data != nil
		}
		p, err := runtimes.ReadProgress(root, id)
		if err != nil || p == nil || p.Attempt != 0 && turn != nil && p.Attempt != turn.Attempt {
			p = nil // of no attempt, or of an earlier one
		}
		if p != nil {
			w.ActivityAt = wireTime(p.LastActivityAt)
			if p.FirstOutputAt != nil {
				w.FirstOutputAt = wireTime(*p.FirstOutputAt)
			}
			// A dispatcher of ours that was interrupted or killed leaves this behind. The next run
			// goes on with the attempt, however long that takes.
			w.Driven = p.DriverPID > 0 && p.Attempt != 0
		} else if turn != nil && (turn.Status == wire.TurnDispatched || turn.Status == wire.TurnRetrying) {
			w.Driven = true // assigned and not begun: the next step begins it, however long that takes
		}
		if seen, err := lease.Of(context.Background(), r.store, s.Run(), turn); err == nil && seen != nil &&
			seen.Lease.Live(r.Now()) {
			w.Driven = true // a runner elsewhere answers for it, until its lease ends
		}
		if claim := run.ClaimOf(turn); claim.Held() && claim.Clone != travel.CloneID(r.store.Repository()) {
			w.Driven = true // another clone answers for it, until its claim is taken over
		}
		out = append(out, w)
	}
	for _, h := range attempt.WatchTurns(cfg, s, out, r.Now()) {
		// The owning process is searched only for the few turns that look lost, as that looks at
		// every process. It is found on Linux only.
		for i := range out {
			if out[i].TurnID == h.Turn.TurnID {
				out[i].Driven = turnmark.Owner(h.Turn.TurnID) != 0
			}
		}
	}
	return out
}

// wireTime rewrites a time of a progress file, "" for an invalid one.
func wireTime(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return wire.FormatTime(at)
}
