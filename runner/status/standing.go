// Where a run stands.

package status

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/claims"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// Standing is everything a person wants to know about a run at a glance.
type Standing struct {
	Intents     []*intake.Intent // of the run: those that wait and those that turns work on
	View        *gitstore.View
	Gate        *gate.Standing // the current phase's exit gate; nil without one
	Turns       []Turn
	Recovery    *run.RecoveryView // why the run waits; nil when it does not
	Escalation  *ojson.Object     // the open record of the current block, or nil
	Timeouts    []limits.TimeoutBudget
	Next        *protocol.NextAction // the one next command
	Head        string               // commit id, "" when unborn
	Branch      string
	Uncommitted []string             // files of accepted turns that are not checkpointed
	Away        string               // a turn of Uncommitted of which nothing is changed in this work tree
	Untrusted   bool                 // hooks or runtimes are configured that this machine does not trust
	gate.Given                       // of the waiting gate
	Proposals   []*proposal.Proposal // that wait to be applied or rejected, oldest first
	Lost        []attempt.TurnHealth // turns whose agent never started or has fallen silent

	Remotes   []transport.Standing // the run compared with what was last seen of it elsewhere
	Conflicts int                  // that wait for a person
}

// Turn is one active turn.
type Turn struct {
	Turn     *run.Turn
	Age      time.Duration
	Deadline time.Time // zero when unknown
	Overdue  bool
	Staged   string       // path of the staged result, "" when there is none yet
	Lease    *run.Lease   // the runner that holds the turn; nil for none
	Claim    *claims.Hold // the clone that works on the turn; nil when none has claimed it
	// Bundle lists how the bundle differs from the dispatched one. It is checked once a result is
	// staged, in projects that then refuse the result.
	Bundle []protocol.BundleChange
}

// Project says where the run lies.
type Project struct {
	Dir   string
	Store *gitstore.Store // nil for the files of an artifact
	Now   time.Time
}

// Stand returns what a view means. tree is the state of the work tree, nil to look at it when it
// matters.
func (p Project) Stand(ctx context.Context, v *gitstore.View, tree *gitstatus.Status) (*Standing, error) {
	ctx = context.WithoutCancel(ctx) // what was read is reported even when the operation was interrupted
	st := &Standing{View: v}
	now := p.Now
	holds := claims.Of(p.Store, v, now)
	for id, t := range v.State.ActiveTurns.All() {
		ts := Turn{Turn: t, Claim: holds[id]}
		if at, err := wire.ParseTime(t.AssignedAt); err == nil {
			ts.Age = now.Sub(at)
		}
		if at, err := wire.ParseTime(t.DeadlineAt); err == nil {
			ts.Deadline, ts.Overdue = at, now.After(at)
		}
		if s, err := turnfiles.ReadStaged(p.Dir, id); err == nil && s.Counts() {
			ts.Staged = s.Path
			if p.Store != nil && v.Config.StrictResults() {
				ts.Bundle, _ = turnfiles.Changes(ctx, p.Store, v, t)
			}
		}
		if seen, err := lease.Of(ctx, p.Store, v.State.Run(), t); err == nil && seen != nil && seen.Lease.Live(now) {
			ts.Lease = seen.Lease
		}
		st.Turns = append(st.Turns, ts)
	}
	var err error
	if st.Gate, err = gate.Stand(p.Dir, v, v.State.Phase); err != nil {
		return nil, err
	}
	st.Recovery = run.DeriveRecovery(v.State, v.Config)
	escalation := ""
	for _, open := range v.Index.OpenEscalations {
		if v.State.BlockedOn != nil && open.String("blocked_on") == *v.State.BlockedOn {
			st.Escalation, escalation = open, open.String("escalation_id")
		}
	}
	st.Timeouts = limits.TimeoutBudgets(v.Config, v.State, v.State.OnlyTurn(), now)
	st.Uncommitted = v.Index.Uncheckpointed.Keys()
	files := p.Dir
	if p.Store == nil {
		files = "" // an artifact's intents are in its state
	}
	all, err := intake.List(files, v)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.Waits || x.Turn != "" {
			st.Intents = append(st.Intents, x)
		}
	}
	// First what turns work on, then what waits, in the order it will be handed out.
	slices.SortStableFunc(st.Intents, func(a, b *intake.Intent) int {
		if (a.Turn == "") != (b.Turn == "") {
			return cmp.Compare(b.Turn, a.Turn)
		}
		return intents.Order(a.Document, b.Document)
	})
	if st.Proposals, err = proposal.Waiting(ctx, p.Store, v); err != nil {
		return nil, err
	}
	if p.Store == nil {
		st.Approvals = v.State.GateVotes
	} else if st.Given, err = gate.Votes(ctx, p.Store, v); err != nil {
		return nil, err
	}
	st.Next = p.next(ctx, st, escalation, tree)
	if len(st.Proposals) > 0 && v.State.Status == wire.StatusActive && v.State.ActiveTurns.Len() == 0 {
		first := st.Proposals[0]
		st.Next = &protocol.NextAction{
			Command: "git agentxchain proposal show " + wire.ShellWord(first.Turn),
			Reason:  first.WaitsText(),
		}
	}
	return st, nil
}

// Trusts reports whether cfg has anything that only runs, or is only contacted, when trusted.
func Trusts(cfg *config.Config) bool { return cfg.Hooks.Len() > 0 || automatic(cfg) }

// automatic reports whether a role is bound to a runtime that is not a person.
func automatic(cfg *config.Config) bool {
	for _, role := range cfg.Roles.All() {
		if role == nil {
			continue
		}
		if rt, ok := cfg.Runtimes.Get(role.RuntimeID); ok && rt != nil && rt.Type != config.RuntimeManual {
			return true
		}
	}
	return false
}
