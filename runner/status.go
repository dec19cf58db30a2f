// The read model behind status: where the run stands and what moves it on.

package runner

import (
	"context"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/claims"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// Standing is everything a person wants to know of a run at a glance.
type Standing struct {
	Intents     []*intake.Intent // of the run: those that wait and those turns work on
	View        *gitstore.View
	Gate        *gate.Standing // the current phase's exit gate; nil without one
	Turns       []TurnStanding
	Recovery    *run.RecoveryView // why the run waits; nil when it does not
	Escalation  *ojson.Object     // the open record of the current block, or nil
	Timeouts    []limits.TimeoutBudget
	Next        *protocol.NextAction // the one next command
	Head        string               // commit id, "" when unborn
	Branch      string
	Uncommitted []string              // files of accepted turns that are not checkpointed
	Untrusted   bool                  // hooks or runtimes are configured that this machine does not trust
	Proposals   []*proposal.Proposal  // that wait to be applied or rejected, oldest first
	Lost        []protocol.TurnHealth // turns whose agent never started or has fallen silent

	Remotes   []transport.Standing // how the run stands to what was last seen of it elsewhere
	Conflicts int                  // that wait for a person
}

// TurnStanding is one active turn.
type TurnStanding struct {
	Turn     *run.Turn
	Age      time.Duration
	Deadline time.Time // zero when unknown
	Overdue  bool
	Staged   string       // path of the staged result, "" when there is none yet
	Lease    *Lease       // the runner that holds the turn; nil when nobody does
	Claim    *claims.Hold // the clone that works on the turn; nil when none has claimed it
	// Bundle is what of the bundle is not as it was dispatched. It is looked at once a
	// result is staged, in projects that then refuse the result.
	Bundle []protocol.BundleChange
}

// Standing reads the run without changing anything on disk.
func (r *Runner) Standing(ctx context.Context) (*Standing, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	st, err := r.standing(v)
	if err != nil {
		return nil, err
	}
	if v.Config.Hooks.Len() > 0 || automatic(v.Config) {
		st.Untrusted = !r.trusted(ctx, v.Config)
	}
	r.lost(st)
	if v.Run != "" && v.Op != "" {
		if st.Remotes, err = transport.Standings(ctx, r.store.Repository(), v.Run, v.Op); err != nil {
			return nil, err
		}
	}
	if len(st.Remotes) > 0 {
		all, err := conflict.All(ctx, r.store.Repository())
		if err != nil {
			return nil, err
		}
		st.Conflicts = travel.OpenConflicts(all)
	}
	return st, nil
}

// lost notes turns nobody works on any more; they come before everything else.
func (r *Runner) lost(st *Standing) {
	if st.Lost = r.Health(st.View); len(st.Lost) > 0 && st.View.State.Status == wire.StatusActive {
		lost := st.Lost[0]
		st.Next = &protocol.NextAction{Command: lost.Recovery(), Reason: "Turn " + lost.Turn.TurnID + " seems abandoned; another turn takes its place."}
	}
}

// Next returns the one next command, nil when there is none or it cannot be told.
// After an operation of this Runner it is what follows from that operation, and
// nothing of the run is read again.
func (r *Runner) Next(ctx context.Context) *protocol.NextAction {
	r.serial.Lock()
	v, tree := r.after, r.afterTree
	r.afterTree = nil // it tells of the moment of the operation, not of a later one
	r.serial.Unlock()
	if v == nil {
		tree = nil
		var err error
		if v, err = r.View(ctx); err != nil {
			return nil
		}
	}
	st, err := r.standingIn(v, tree)
	if err != nil {
		return nil
	}
	return st.Next
}

// standing tells what a view means.
func (r *Runner) standing(v *gitstore.View) (*Standing, error) { return r.standingIn(v, nil) }

// standingIn is standing with the state of the work tree; nil has it looked at where it matters.
func (r *Runner) standingIn(v *gitstore.View, tree *git.WorktreeStatus) (*Standing, error) {
	st := &Standing{View: v}
	now := r.Now()
	holds := claims.Of(r.store, v, now)
	for id, t := range v.State.ActiveTurns.All() {
		ts := TurnStanding{Turn: t, Claim: holds[id]}
		if at, err := wire.ParseTime(t.AssignedAt); err == nil {
			ts.Age = now.Sub(at)
		}
		if at, err := wire.ParseTime(t.DeadlineAt); err == nil {
			ts.Deadline, ts.Overdue = at, now.After(at)
		}
		if s, err := turnfiles.ReadStaged(r.dir(), id); err == nil && s.Counts() {
			ts.Staged = s.Path
			if r.store != nil && v.Config.StrictResults() {
				ts.Bundle, _ = turnfiles.Changes(context.Background(), r.store, v, t)
			}
		}
		if seen, err := lease.Of(context.Background(), r.store, v.State.Run(), t); err == nil && seen != nil && seen.Lease.Live(now) {
			ts.Lease = seen.Lease
		}
		st.Turns = append(st.Turns, ts)
	}
	var err error
	if st.Gate, err = gate.Stand(r.dir(), v, v.State.Phase); err != nil {
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
	all, err := r.intents(v)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.Waits || x.Turn != "" {
			st.Intents = append(st.Intents, x)
		}
	}
	if st.Proposals, err = proposal.Waiting(context.Background(), r.store, v); err != nil {
		return nil, err
	}
	st.Next = r.next(st, escalation, tree)
	if len(st.Proposals) > 0 && v.State.Status == wire.StatusActive && v.State.ActiveTurns.Len() == 0 {
		p := st.Proposals[0]
		st.Next = &protocol.NextAction{Command: "git agentxchain proposal show " + wire.ShellWord(p.Turn), Reason: p.WaitsText()}
	}
	return st, nil
}

// automatic reports whether a role is bound to a runtime that is no person's hands.
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

// next is the protocol's next step, sharpened by what is on disk: a result that
// is not staged yet, or accepted work that is not committed.
func (r *Runner) next(st *Standing, escalation string, tree *git.WorktreeStatus) *protocol.NextAction {
	if p := st.View.ConfigProblems; len(p) > 0 {
		return &protocol.NextAction{
			Command: "git agentxchain validate",
			Reason:  "Correct " + wire.ConfigPath + " first, no operation goes on with it: " + text.Brief(p[0].Message, 200),
		}
	}
	if lost := st.View.Lost; lost != nil {
		return &protocol.NextAction{Command: lost.Command(), Reason: lost.Reason()}
	}
	if st.View.Begun() {
		return &protocol.NextAction{
			Command: "git agentxchain repair --adopt",
			Reason:  "Another tool began the run; nothing is built on it before a person has looked at it and taken it up.",
		}
	}
	if len(st.View.Open) > 0 {
		return &protocol.NextAction{
			Command: "git agentxchain confirm",
			Reason:  "Another tool passed what only a person can pass here; nothing is built on it before a person has confirmed it.",
		}
	}
	if remote := st.View.Unasked; remote != "" {
		return &protocol.NextAction{
			Command: "git agentxchain sync " + wire.ShellWord(remote),
			Reason:  "The runs of " + remote + " were not fetched yet; one may be under way there.",
		}
	}
	n := protocol.NextStep(st.View.State, st.View.Config, escalation)
	if n == nil {
		return &protocol.NextAction{Command: "git agentxchain assign --new-run", Reason: "Run " + text.Brief(st.View.State.Run(), 60) + " is over; another one starts only on purpose."}
	}
	if n != nil && st.View.State.Status == wire.StatusBlocked && !strings.HasPrefix(n.Command, "git ") {
		return sharpen(n, escalation)
	}
	if n == nil || st.View.State.Status != wire.StatusActive && st.View.State.Status != wire.StatusIdle {
		return n
	}
	if len(st.Turns) == 0 {
		role, def := nextRole(st.View)
		dirty := r.dirtyFor(st, def, tree)
		if turns := st.View.Index.Awaiting(dirty); len(turns) > 0 {
			return &protocol.NextAction{Command: "git agentxchain checkpoint " + turns[0], Reason: "The files of that accepted turn are not committed yet."}
		}
		if gate.Mended(r.dir(), st.View) {
			return &protocol.NextAction{Command: "git agentxchain gate retry",
				Reason: "What the gate lacked is there now; asking again costs no turn."}
		}
		if len(dirty) > 0 && def != nil && def.WriteAuthority != wire.ReviewOnly {
			return &protocol.NextAction{Command: "git status",
				Reason: "Commit or stash " + wire.ListSome(dirty, 3) + " first: that belongs to no turn, and " + text.Brief(role, 60) + " starts from a clean work tree. Then: " + n.Command}
		}
		if rt := automaticRuntime(st.View, def); rt != "" {
			return &protocol.NextAction{Command: "git agentxchain run", Reason: n.Reason + " Next is " + text.Brief(role, 60) + ", through runtime " + text.Brief(rt, 60) + "; git agentxchain step does one turn only."}
		}
	}
	for _, t := range st.Turns {
		if h := t.Claim; h != nil && !h.Here && strings.HasSuffix(n.Command, " "+t.Turn.TurnID) {
			if h.Over {
				return &protocol.NextAction{
					Command: "git agentxchain claim " + t.Turn.TurnID,
					Reason:  "The claim of " + h.Who() + " has ended without a result.",
				}
			}
			return &protocol.NextAction{
				Command: "git agentxchain sync",
				Reason:  h.Who() + " works on the turn, until " + wire.FormatTime(h.Ends) + " by the clock here.",
			}
		}
		if l := t.Lease; l != nil && strings.HasSuffix(n.Command, " "+t.Turn.TurnID) {
			return &protocol.NextAction{Command: "git agentxchain monarchic lease show " + t.Turn.TurnID,
				Reason: "Runner " + lease.Shown(l.RunnerID) + " carries the turn out, until " + wire.FormatTime(l.ExpiresAt()) + " unless it asks for more time."}
		}
		if len(t.Bundle) > 0 && n.Command == "git agentxchain accept "+t.Turn.TurnID {
			return &protocol.NextAction{Command: "git agentxchain reissue " + t.Turn.TurnID,
				Reason: "Its bundle is not what was dispatched, so the result would be refused; see git agentxchain verify bundle " + t.Turn.TurnID}
		}
		if t.Turn.Status == wire.TurnFailedAcceptance && n.Command == "git agentxchain accept "+t.Turn.TurnID {
			// Why it was refused stands beside the turn; what to do about it belongs here.
			return &protocol.NextAction{Command: n.Command,
				Reason: "Correct the staged result first, or send the turn back: git agentxchain reject " + t.Turn.TurnID + " --reason TEXT"}
		}
		if t.Staged == "" && (t.Turn.Status == wire.TurnDispatched || t.Turn.Status == wire.TurnAssigned || t.Turn.Status == wire.TurnRetrying || t.Turn.Status == wire.TurnRunning) {
			if rt, ok := st.View.Config.Runtimes.Get(t.Turn.RuntimeID); ok && rt != nil && rt.Type != config.RuntimeManual {
				return &protocol.NextAction{Command: "git agentxchain step " + t.Turn.TurnID,
					Reason: "Has runtime " + text.Brief(t.Turn.RuntimeID, 60) + " carry the turn out; git agentxchain run goes on after it."}
			}
			return &protocol.NextAction{Command: "git agentxchain accept " + t.Turn.TurnID,
				Reason: "Do the work of " + wire.BundleDir(t.Turn.TurnID) + "/PROMPT.md and stage the result at " + wire.StagingPath(t.Turn.TurnID) + " first."}
		}
	}
	return n
}

// dirtyFor are the dirty paths that matter for what comes next, sorted: of accepted turns, whose
// checkpoint would commit them, or of nobody where def, the role of the next turn, writes files.
// tree is the state of the work tree, nil when it is to be looked at.
func (r *Runner) dirtyFor(st *Standing, def *config.Role, tree *git.WorktreeStatus) []string {
	if r.store == nil || len(st.Uncommitted) == 0 && (def == nil || def.WriteAuthority == wire.ReviewOnly) {
		return nil
	}
	if tree == nil {
		var err error
		if tree, err = r.worktree(context.Background()); err != nil {
			return nil
		}
	}
	return observe.ProjectDirty(tree)
}

// nextRole is the role that would get the next turn, nil when none can be told.
func nextRole(v *gitstore.View) (string, *config.Role) {
	s := v.State
	if s.Status == wire.StatusIdle {
		s = run.FreshState(v.Config, "") // what the run will begin as
	}
	role, _, refusal := protocol.ResolveRole(v.Config, s, "")
	if refusal != nil {
		return "", nil
	}
	return role, v.Config.Role(role)
}

// automaticRuntime is the runtime of a role, "" when a person does its work.
func automaticRuntime(v *gitstore.View, def *config.Role) string {
	if def == nil {
		return ""
	}
	if rt, ok := v.Config.Runtimes.Get(def.RuntimeID); !ok || rt == nil || rt.Type == config.RuntimeManual {
		return ""
	}
	return def.RuntimeID
}

// sharpen takes the command out of advice in words. Whoever escalated may have
// named none; then lifting the block is what comes after.
func sharpen(n *protocol.NextAction, escalation string) *protocol.NextAction {
	advice, command := n.Command, "git agentxchain unblock"
	if i := strings.LastIndex(advice, "git agentxchain "); i >= 0 {
		advice, command = advice[:i], advice[i:]
		advice = strings.TrimSuffix(strings.TrimRight(advice, " :"), ", then run")
	} else if escalation != "" {
		command += " " + escalation
	}
	return &protocol.NextAction{Command: command, Reason: "First: " + advice + " (" + n.Reason + ")"}
}

// GateStandings holds every gate of the configuration against the files of now.
func (r *Runner) GateStandings(ctx context.Context) (*gitstore.View, []gate.Standing, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []gate.Standing
	for _, phase := range v.Config.Phases() {
		g, err := gate.Stand(r.dir(), v, phase)
		if err != nil {
			return v, nil, err
		}
		if g != nil {
			out = append(out, *g)
		}
	}
	return v, out, nil
}
