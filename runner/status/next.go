// The command that moves a run on.

package status

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// NewRun is the command that begins a run after one that is over.
const NewRun = "git agentxchain assign --new-run"

// next returns the protocol's next step, adjusted to what is on disk: a result that is not staged
// yet, or accepted work that is not committed.
func (p Project) next(
	ctx context.Context, st *Standing, escalation string, tree *gitstatus.Status,
) *protocol.NextAction {
	if n := beforeAll(st.View); n != nil {
		return n
	}
	s := st.View.State
	n := protocol.NextStep(s, st.View.Config, escalation)
	if len(s.GateVotes) > 0 && p.Store != nil {
		if g := protocol.GateStep(s, st.View.Config, st.Approvals, p.authors(ctx, st.View)); g != nil {
			n = g
		}
		if len(st.Lapsed) > 0 {
			return p.lapsed(ctx, st.Lapsed)
		}
	}
	if n == nil {
		if n := awaiting(st, p.dirtyFor(ctx, st, nil, tree)); n != nil {
			return n
		}
		return p.afterEnd(ctx, s)
	}
	if s.Status == wire.StatusIdle && s.Run() == "" {
		n = p.recorded(ctx, s, n)
	}
	if away := p.away(ctx, gate.Asking(st.View), n); away != nil {
		return away
	}
	switch {
	case s.Status == wire.StatusBlocked && !strings.HasPrefix(n.Command, "git "):
		return attemptsSeen(s, sharpen(n, escalation))
	case s.Status != wire.StatusActive && s.Status != wire.StatusIdle:
		return p.asks(ctx, st, n)
	case len(st.Turns) == 0:
		return p.betweenTurns(ctx, st, n, tree)
	}
	return p.duringTurns(st, n)
}

// beforeAll returns what has to be done before any operation, nil for nothing.
func beforeAll(v *gitstore.View) *protocol.NextAction {
	switch {
	case len(v.ConfigProblems) > 0:
		return &protocol.NextAction{
			Command: "git agentxchain validate",
			Reason: "Correct " + wire.ConfigPath + " first; no operation continues with it: " +
				text.Brief(v.ConfigProblems[0].Message, 200),
		}
	case v.Lost != nil:
		return &protocol.NextAction{Command: v.Lost.Command(), Reason: v.Lost.Reason()}
	case v.Begun():
		return &protocol.NextAction{
			Command: "git agentxchain repair --adopt",
			Reason:  "Another tool began the run; nothing is built on it until a person adopts it.",
		}
	case len(v.Open) > 0:
		return &protocol.NextAction{
			Command: "git agentxchain confirm",
			Reason:  "Another tool passed what only a person can pass here; nothing is built on it until a person confirms it.",
		}
	case v.Unasked != "":
		return &protocol.NextAction{
			Command: v.Onwards(),
			Reason:  "The runs of " + v.Unasked + " were not fetched yet; one may be under way there.",
		}
	}
	return nil
}

// betweenTurns returns the step of a run without an active turn: n, the next turn, unless something on disk comes
// first.
func (p Project) betweenTurns(
	ctx context.Context, st *Standing, n *protocol.NextAction, tree *gitstatus.Status,
) *protocol.NextAction {
	role, def := nextRole(st.View)
	dirty := p.dirtyFor(ctx, st, def, tree)
	if n := awaiting(st, dirty); n != nil {
		return n
	}
	if row := st.View.Index.LastRow; row.String("turn_id") == wire.OrEmpty(st.View.State.LastCompletedTurnID) {
		if away := p.away(ctx, row, n); away != nil {
			return away
		}
	}
	if len(st.Uncommitted) > 0 && p.Store != nil {
		st.Away = st.View.Index.Uncheckpointed.Value(st.Uncommitted[0])
	}
	if gate.Mended(p.Dir, st.View) {
		return &protocol.NextAction{Command: "git agentxchain gate retry",
			Reason: "What the gate lacked is there now; asking again costs no turn."}
	}
	if n := p.underWay(n); n != nil {
		return n
	}
	if len(dirty) > 0 && def != nil && def.WriteAuthority != wire.ReviewOnly {
		first := "Commit or stash " + wire.ListSome(dirty, 3) + " first: that belongs to no turn"
		if signed := signoffs(st.View, dirty); len(signed) > 0 {
			// The approval could not commit it, or was interrupted before. A stash would remove the yes.
			first = "Commit " + wire.ListSome(signed, 3) + " first: an approval is signed there"
		}
		return &protocol.NextAction{
			Command: "git status",
			Reason:  first + ", and " + text.Brief(role, 60) + " starts from a clean work tree. Then: " + n.Command,
		}
	}
	if rt := automaticRuntime(st.View, def); rt != "" {
		return &protocol.NextAction{
			Command: "git agentxchain run",
			Reason: n.Reason + " Next is " + text.Brief(role, 60) + ", through runtime " + text.Brief(rt, 60) +
				"; git agentxchain step does one turn only.",
		}
	}
	return n
}

// duringTurns returns the step of a run with active turns: n, or what the files on disk and the claims of its turn
// require. A turn of this clone comes before those that others work on.
func (p Project) duringTurns(st *Standing, n *protocol.NextAction) *protocol.NextAction {
	turns := st.Turns
	if ours := st.ours(); len(ours) > 0 && len(ours) < len(turns) {
		turns = ours
		active := make([]*run.Turn, len(ours))
		for i, t := range ours {
			active[i] = t.Turn
		}
		n = protocol.TurnsStep(active)
	}
	for _, t := range turns {
		if strings.HasSuffix(n.Command, " "+t.Turn.TurnID) {
			if held := elsewhere(t); held != nil {
				return held
			}
		}
		if n.Command == "git agentxchain accept "+t.Turn.TurnID {
			if refused := again(t); refused != nil {
				return refused
			}
		}
		if t.Staged == "" && t.Turn.Dispatching() {
			return p.dispatched(st.View.Config, t.Turn)
		}
	}
	return n
}

// elsewhere returns the step of a turn that another clone or a runner works on, nil when it is for this clone.
func elsewhere(t Turn) *protocol.NextAction {
	if h := t.Claim; h != nil && !h.Here {
		if h.Over {
			return &protocol.NextAction{
				Command: "git agentxchain claim " + t.Turn.TurnID,
				Reason:  "The claim of " + h.Who() + " has ended without a result.",
			}
		}
		reason := h.Who() + " works on the turn, until " + wire.FormatTime(h.Ends) + " by the clock here."
		if h.Nearby() {
			reason += " If that was this clone, and it has moved since: git agentxchain claim " + t.Turn.TurnID +
				" --steal --because moved"
		}
		return &protocol.NextAction{Command: "git agentxchain sync", Reason: reason}
	}
	if l := t.Lease; l != nil {
		return &protocol.NextAction{
			Command: "git agentxchain monarchic lease show " + t.Turn.TurnID,
			Reason: "Runner " + lease.Shown(l.RunnerID) + " carries the turn out, until " +
				wire.FormatTime(l.ExpiresAt()) + " unless it asks for more time.",
		}
	}
	return nil
}

// again returns the step of a turn whose result would be refused, or was, nil when it can be
// accepted.
func again(t Turn) *protocol.NextAction {
	if len(t.Bundle) > 0 {
		return &protocol.NextAction{
			Command: "git agentxchain reissue " + t.Turn.TurnID,
			Reason:  "Its bundle is not what was dispatched, so the result would be refused; see git agentxchain verify bundle " + t.Turn.TurnID,
		}
	}
	if t.Turn.Status == wire.TurnFailedAcceptance {
		// The turn shows why it was refused; this says what to do about it.
		return &protocol.NextAction{
			Command: "git agentxchain accept " + t.Turn.TurnID,
			Reason: "First correct what it was refused for, unless that was done since. Or send the turn back: " +
				"git agentxchain reject " + t.Turn.TurnID + " --reason TEXT",
		}
	}
	return nil
}

// dispatched returns the step of a dispatched turn that has no result yet.
func (p Project) dispatched(cfg *config.Config, t *run.Turn) *protocol.NextAction {
	rt, ok := cfg.Runtimes.Get(t.RuntimeID)
	if !ok || rt == nil || rt.Type == config.RuntimeManual {
		return &protocol.NextAction{
			Command: "git agentxchain accept " + t.TurnID,
			Reason: "First do the work of " + wire.BundleDir(t.TurnID) + "/PROMPT.md and write the result: " +
				"git agentxchain turn edit " + t.TurnID + ", or the file " + wire.StagingPath(t.TurnID) + ".",
		}
	}
	if by := p.driver(); by != nil {
		return &protocol.NextAction{
			Command: "git agentxchain status",
			Reason:  fmt.Sprintf("Turn %s of %s is at work, driven by %s.", t.TurnID, text.Brief(t.AssignedRole, 60), by),
		}
	}
	return &protocol.NextAction{
		Command: "git agentxchain step " + t.TurnID,
		Reason: "Has runtime " + text.Brief(t.RuntimeID, 60) +
			" carry the turn out; git agentxchain run continues after it.",
	}
}

// ours returns the active turns that no other clone and no runner works on.
func (st *Standing) ours() []Turn {
	var out []Turn
	for _, t := range st.Turns {
		if (t.Claim == nil || t.Claim.Here || t.Claim.Over) && t.Lease == nil {
			out = append(out, t)
		}
	}
	return out
}

// away returns what comes before n when this checkout lacks the work of the accepted turn of row: a person would
// answer for older documents, and the next role would begin without the work. It is nil when nothing is missing.
func (p Project) away(ctx context.Context, row *ojson.Object, n *protocol.NextAction) *protocol.NextAction {
	if p.Store == nil || row == nil || n == nil {
		return nil
	}
	away := gate.Work(ctx, p.Store.Repository(), p.Dir, row)
	if away == nil {
		return nil
	}
	what := away.What()
	return &protocol.NextAction{
		Command: away.Bring(),
		Reason:  strings.ToUpper(what[:1]) + what[1:] + ". Then: " + n.Command + " (" + strings.TrimSuffix(n.Reason, ".") + ")",
	}
}

// driver returns the other process that drives the run of this work tree, nil when that is unknown or none lives.
func (p Project) driver() *git.LockedError {
	l, err := git.ReadLock(filepath.Join(p.Dir, filepath.FromSlash(wire.LoopLockPath)))
	if err != nil || l.OfThisProcess() {
		return nil
	}
	return l.Held(time.Now())
}

// authors returns who made what the waiting gate decides on, when it is not for them; none when that is unknown.
func (p Project) authors(ctx context.Context, v *gitstore.View) []string {
	w := v.State.Waiting()
	if w == nil {
		return nil
	}
	if rule := v.Config.GateRule(w.Gate); rule == nil || !rule.NotAuthor {
		return nil
	}
	at, err := consent.At(ctx, p.Store, v)
	if err != nil {
		return nil // the answer to the gate will report it
	}
	list, err := at.Authors(ctx, w.By)
	if err != nil {
		return nil // likewise
	}
	return list
}

// lapsed returns what to do about approvals of the waiting gate that would be refused now.
func (p Project) lapsed(ctx context.Context, lapsed []agreement.Lapse) *protocol.NextAction {
	first := lapsed[0]
	why := text.Brief(first.Why.Message, 300)
	if _, email := p.Store.Identity(ctx); len(lapsed) == 1 && agreement.SamePerson(first.Vote.Principal, email) {
		return &protocol.NextAction{Command: "git agentxchain approve --withdraw", Reason: why}
	}
	return &protocol.NextAction{
		Command: "git agentxchain approve --deny --reason TEXT",
		Reason:  why + " The next turn asks again.",
	}
}

// asks returns n, or the gate to look at when it does not wait for the person here.
func (p Project) asks(ctx context.Context, st *Standing, n *protocol.NextAction) *protocol.NextAction {
	w := st.View.State.Waiting()
	if w == nil || p.Store == nil || protocol.Overtaken(st.View.State, st.View.Config) != "" {
		return n
	}
	rule := st.View.Config.GateRule(w.Gate)
	if rule == nil {
		return n
	}
	_, email := p.Store.Identity(ctx)
	look := &protocol.NextAction{Command: "git agentxchain approve --show", Reason: n.Reason}
	authors := p.authors(ctx, st.View)
	few := agreement.TooFew(rule, authors)
	switch {
	case few != "":
		look.Reason = "Gate " + text.Brief(w.Gate, 100) + " cannot open in this run: " + few + "."
	case !agreement.Names(rule, email):
		if email == wire.NoEmail {
			email = "a person without user.email"
		}
		look.Reason += " It asks for " + rule.People() + ", not for " + text.Brief(email, 100) + "."
	case !slices.ContainsFunc(agreement.Unheard(rule, st.Approvals), func(p string) bool {
		return agreement.SamePerson(p, email)
	}):
		look.Reason += " You have approved it."
	case rule.NotAuthor && slices.ContainsFunc(authors, func(p string) bool { return agreement.SamePerson(p, email) }):
		look.Reason += " You have made a part of it, so another person decides."
	default:
		return n
	}
	return look
}

// awaiting returns the checkpoint that comes first, nil when no dirty path belongs to an accepted
// turn.
func awaiting(st *Standing, dirty []string) *protocol.NextAction {
	turns := st.View.Index.Awaiting(dirty)
	if len(turns) == 0 {
		return nil
	}
	return &protocol.NextAction{
		Command: "git agentxchain checkpoint " + turns[0],
		Reason:  "The files of that accepted turn are not committed yet.",
	}
}

// afterEnd returns what comes once a run is over: the run that goes on without this work tree, else another
// one.
func (p Project) afterEnd(ctx context.Context, s *run.State) *protocol.NextAction {
	over := "Run " + text.Brief(s.Run(), 60) + " is over"
	if p.Store != nil {
		if beside := p.Store.RunBeside(ctx, s); beside != "" {
			return &protocol.NextAction{
				Command: "git agentxchain repair --from-ref " + beside,
				Reason:  over + ", and " + beside + " is under way; git agentxchain assign --new-run starts another.",
			}
		}
	}
	return &protocol.NextAction{Command: NewRun, Reason: over + "; another one starts only on purpose."}
}

// recorded adds to the first step the run that goes on without a work tree: it may have been in one that was removed.
// A run that another work tree is in, for example a session of the service, is left to that one.
func (p Project) recorded(ctx context.Context, s *run.State, n *protocol.NextAction) *protocol.NextAction {
	if p.Store == nil {
		return n
	}
	if refs, err := chain.Runs(ctx, p.Store.Repository()); err != nil || len(refs) == 0 {
		return n
	}
	reason := "No run has started in this work tree; git records others (git agentxchain runs)."
	if beside := p.Store.RunBeside(ctx, s); beside != "" {
		reason = "No run has started in this work tree. Git records " + beside + ": git agentxchain repair --from-ref " +
			beside + " brings it here."
	}
	return &protocol.NextAction{Command: n.Command, Reason: reason}
}

// underWay returns what comes before n when git is in the middle of something, nil when it is not.
func (p Project) underWay(n *protocol.NextAction) *protocol.NextAction {
	if p.Store == nil {
		return nil
	}
	command, end := p.Store.Repository().UnderWay()
	if command == "" {
		return nil
	}
	return &protocol.NextAction{
		Command: "git status",
		Reason:  "A git " + command + " is under way, which comes first: " + end + ". Then: " + n.Command,
	}
}

// signoffs returns those of the paths that carry a person's recorded yes.
func signoffs(v *gitstore.View, paths []string) []string {
	var out []string
	for _, path := range paths {
		m, ok := v.State.GateDocuments.Get(path)
		if ok && m.Signed && gates.SignoffDocument(v.Config, path) {
			out = append(out, path)
		}
	}
	return out
}

// dirtyFor returns the project's dirty paths, sorted, when they matter for what comes next:
// accepted turns await a checkpoint, or def, the role of the next turn, writes files. tree is the
// state of the work tree, nil to look at it.
func (p Project) dirtyFor(ctx context.Context, st *Standing, def *config.Role, tree *gitstatus.Status) []string {
	if p.Store == nil || len(st.Uncommitted) == 0 && (def == nil || def.WriteAuthority == wire.ReviewOnly) {
		return nil
	}
	if tree == nil {
		repo := p.Store.Repository()
		var err error
		if tree, err = gitstatus.Of(ctx, repo, repo.Prefix); err != nil {
			return nil
		}
	}
	return observe.ProjectDirty(tree)
}

// nextRole returns the role that would get the next turn, nil when it is unknown.
func nextRole(v *gitstore.View) (string, *config.Role) {
	s := v.State
	if s.Status == wire.StatusIdle {
		s = run.FreshState(v.Config, "") // the state in which the run will begin
	}
	role, _, refusal := protocol.ResolveRole(v.Config, s, "")
	if refusal != nil {
		return "", nil
	}
	return role, v.Config.Role(role)
}

// automaticRuntime returns the runtime of a role, "" when a person does its work.
func automaticRuntime(v *gitstore.View, def *config.Role) string {
	if def == nil {
		return ""
	}
	if rt, ok := v.Config.Runtimes.Get(def.RuntimeID); !ok || rt == nil || rt.Type == config.RuntimeManual {
		return ""
	}
	return def.RuntimeID
}

// attemptsSeen returns n, with where to look when the attempts of a turn are used up. The advice itself is recorded
// with the block, so its wording belongs to its rule set.
func attemptsSeen(s *run.State, n *protocol.NextAction) *protocol.NextAction {
	if b := s.BlockedReason; b != nil && b.Recovery.TypedReason == "retries_exhausted" && wire.OrEmpty(b.TurnID) != "" {
		n.Reason += " git agentxchain turn show " + wire.ShellWord(*b.TurnID) + " says how they went."
	}
	return n
}

// sharpen extracts the command from advice in words. If the advice has none, the command lifts the
// block.
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
