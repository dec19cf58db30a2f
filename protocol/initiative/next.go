// What to do next with an initiative (docs/coordinator.md#when-it-is-blocked).

package initiative

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of next actions.
const (
	NextRunMismatch = "repo_run_id_mismatch"
	NextResync      = "resync"
	NextResume      = "resume"
	NextGate        = "pending_gate"
	NextDeny        = "gate_overtaken"
	NextStep        = "step"
	NextRepo        = "repo"
	NextStart       = "start"
	NextAbandon     = "abandon"
)

// CmdDeny denies the gate that waits.
const CmdDeny = "multi approve-gate --deny --reason TEXT"

// Action is something to do: a command that the initiative's status allows, and the reason.
type Action struct {
	Code    string
	Command string // words after the program's name (-C enters a repository); or a git command, with git
	Reason  string
}

// Line returns the command as a user types it; program is our program's name.
func (a Action) Line(program string) string {
	if strings.HasPrefix(a.Command, "git ") {
		return a.Command
	}
	return program + " " + a.Command
}

// Object returns the action for --json: {code, command, reason}.
func (a Action) Object(program string) *ojson.Object {
	return ojson.NewObject("code", a.Code, "command", a.Line(program), "reason", a.Reason)
}

// NextActions returns what can be done now, most urgent first; nothing when the initiative is complete. The status
// allows every command: a record that disagrees with a repository is resynced, and resumed only once it is blocked
// (docs/siblings.md). Turns that have ended need no resync of their own: a step takes them over first
// (docs/coordinator.md#a-turn).
func NextActions(w *Workspace, children Children) []Action {
	s := w.State
	switch {
	case s.Abandoned():
		return []Action{{NextStart, "multi init",
			"The initiative was ended early (" + s.BlockedReason + "). This starts another one with the same repositories."}}
	case s.Over():
		return nil
	}
	command, code := "multi resync", NextResync
	if s.Status == StatusBlocked {
		command, code = "multi resume", NextResume
	}
	var drifted, first []Action
	var stale, news []string
	for _, m := range Divergence(w, children) {
		switch {
		case m.Behind:
			c := children[m.Repo]
			first = append(first, c.run(c.catchUp(m), m.Detail))
			if m.Turn != "" {
				first = append(first, Action{NextRepo, c.relink(), "Where the turn is gone for good, this goes on without it."})
			}
		case m.Type == MismatchRun:
			drifted = append(drifted, Action{NextRunMismatch, command, m.Detail + children[m.Repo].back(m, s)})
		case m.Type == MismatchConfig || m.Type == MismatchState:
			first = append(first, unread(w.Config.Repo(m.Repo), children[m.Repo], m.Detail, s.RunOf(m.Repo))...)
		case m.Turn != "" && s.Status == StatusActive && s.PendingGate == nil:
			news = append(news, m.Detail) // a step takes it over and goes on
		case len(stale) == 0 || stale[len(stale)-1] != m.Repo:
			stale = union(stale, []string{m.Repo})
		}
	}
	if len(first) == 0 && len(drifted) == 0 {
		first = blockedAtGate(s, children)
	}
	if len(first) == 0 {
		first = refused(w, children)
	}
	if len(first) > 0 {
		return first // any other action would fail at these repositories
	}
	because := ""
	if s.BlockedReason != "" {
		because = ": " + strings.TrimSuffix(s.BlockedReason, ".")
	}
	var out []Action
	switch {
	case len(drifted) > 0:
		text := "Repositories are on other runs than the initiative's" + because +
			". Bring back the runs it knows, then continue."
		out = append([]Action{{NextRunMismatch, command, text}}, drifted...)
	case s.Status == StatusBlocked:
		out = []Action{{code, command, "The initiative is blocked" + because +
			". Remove the cause, fill in the recovery report, then resume."}}
	case len(stale) > 0:
		out = []Action{{code, command,
			fmt.Sprintf("The record is behind these repositories: %s.", strings.Join(stale, ", "))}}
	}
	g := s.PendingGate
	switch {
	case g != nil && len(out) > 0:
		out = append(out, Action{NextGate, "multi approve-gate",
			fmt.Sprintf("After that gate %s (%s) can be decided on.", g.Gate, g.GateType)})
	case g != nil:
		gate := Action{NextGate, "multi approve-gate", fmt.Sprintf("Gate %s (%s) waits for a person.", g.Gate, g.GateType)}
		ev := Reevaluate(w, children)
		if why := ev.Overtaken(); why != "" {
			gate = Action{NextDeny, CmdDeny, fmt.Sprintf("Gate %s can no longer be approved: %s The next step asks again.",
				g.Gate, why)}
		} else if !ev.Ready { // a repository was changed since the request
			var waits []string
			waits, out = waitingFor(w, children, ev)
			gate.Reason = fmt.Sprintf("Gate %s (%s) can be decided on once this has changed: %s", g.Gate, g.GateType,
				cmp.Or(shortList(waits), "the barriers hold."))
		}
		out = append(out, gate)
	case len(out) == 0:
		step, repos := stepActions(w, children, news)
		out = append(repos, step)
	}
	return append(append(out, uncountable(w, children)...), misaligned(w, children)...)
}

// uncountable names the turns that were given out for workstreams which the configuration does not have any more, or
// which left out the repository: once accepted, such a turn blocks the initiative.
func uncountable(w *Workspace, children Children) (out []Action) {
	for _, row := range w.History.Open() {
		repo, name := row.String("repo_id"), row.String("workstream_id")
		c := children[repo]
		if ws := w.Config.Workstream(name); c == nil || ws != nil && slices.Contains(ws.Repos, repo) {
			continue
		}
		if turn := c.Follow(row.String("repo_turn_id")); c.Active(turn) || c.Accepted(turn) != nil {
			out = append(out, Action{NextRepo, "git log -p -- " + ConfigFile, fmt.Sprintf(
				"Turn %s of %s was given out for workstream %s, which %s does not have any more for it. Put that back, or end "+
					"the initiative with git agentxchain multi abandon --reason TEXT.", turn, repo, name, ConfigFile)})
		}
	}
	return out
}

// misaligned returns what to do about repositories whose phases are no longer those of the initiative: the work stops
// where one comes to a phase that the other does not have.
func misaligned(w *Workspace, children Children) (out []Action) {
	for _, repo := range w.Config.Repos.Keys() {
		c := children[repo]
		if c == nil || c.State == nil || len(w.Config.Phases()) == 0 {
			continue
		}
		if p := CheckPhases(w.Config, c); p != nil {
			out = append(out, c.run("config adopt", "The phases differ: "+p.Message+". Give both the same first, in "+
				wire.ConfigPath+" or in "+ConfigFile+". Where its run cannot go back, abandon it there. "+
				c.another()))
		}
	}
	return out
}

// maxReasons bounds how many reasons to wait one line lists; the board has the rest.
const maxReasons = 4

// stepActions says what a step would do now: take news over, dispatch a turn or ask for the gate. When it can do
// none of these, it says what it waits for, and what to run in the repositories it waits for.
func stepActions(w *Workspace, children Children, news []string) (step Action, repos []Action) {
	step = Action{Code: NextStep, Command: "multi step"}
	if len(news) > 0 {
		step.Reason = shortList(news)
		return step, nil
	}
	if a, _ := Select(w, children); a != nil {
		step.Reason = fmt.Sprintf("Workstream %s has a turn for %s in %s.", a.Workstream, a.Role, a.Repo)
		return step, nil
	}
	if no := w.deadEnd(); no != nil {
		return Action{NextAbandon, "multi abandon --reason " + wire.ShellWord(no.reason), no.Detail + " " + no.wayOut}, nil
	}
	ev := EvaluatePhase(w, children, "")
	if w.Config.NextPhase(w.State.Phase) == "" {
		ev = EvaluateCompletion(w, children)
	}
	if ev.Ready {
		step.Reason = fmt.Sprintf("Gate %s can be asked for.", ev.Gate)
		return step, nil
	}
	waits, repos := waitingFor(w, children, ev)
	step.Reason = "The board says what the barriers wait for."
	if len(waits) > 0 {
		step.Reason = "Run this again when that has changed: " + shortList(waits)
	}
	return step, repos
}

// waitingFor returns what a gate that is not ready waits for, and what to run in the repositories it waits for.
func waitingFor(w *Workspace, children Children, ev *Evaluation) (waits []string, repos []Action) {
	var told []string
	for stream, c := range owing(w, children) {
		if slices.Contains(told, c.ID) {
			continue
		}
		owes := fmt.Sprintf("Workstream %s waits for a turn of repository %s.", stream.ID, c.ID)
		switch {
		case c.over() != "":
			told, repos, waits = append(told, c.ID), append(repos, c.restart()), append(waits, c.over())
		case c.State.PendingRunCompletion != nil:
			told, repos, waits = append(told, c.ID), append(repos, c.keepOn(owes)), append(waits, owes)
		case c.State.Status == wire.StatusActive && c.State.ActiveTurns.Len() == 0 && c.phase() == w.State.Phase:
			told = append(told, c.ID) // a step dispatches its turn once the others have caught up
		}
	}
	for _, b := range ev.Blockers {
		repo := b.String("repo_id")
		if b.String("code") == BlockNoPhase {
			waits = append(waits, b.String("message"))
		}
		if repo == "" {
			continue
		}
		waits = append(waits, b.String("message"))
		if len(repos) < maxReasons && !slices.Contains(told, repo) {
			told = append(told, repo)
			repos = append(repos, children[repo].action(w, b)...)
		}
	}
	return waits, repos
}

// Ending reports whether a repository that a barrier of the phase waits for has ended its run, or asks to.
func Ending(w *Workspace, children Children) bool {
	for _, c := range owing(w, children) {
		if c.over() != "" || c.State.PendingRunCompletion != nil {
			return true
		}
	}
	return false
}

// owing yields the repositories with a run that a barrier of the phase waits for, each with its workstream.
func owing(w *Workspace, children Children) iter.Seq2[*Workstream, *Child] {
	return func(yield func(*Workstream, *Child) bool) {
		for _, stream := range w.Due() {
			b := w.BarrierOf(stream.ID)
			if b == nil {
				continue
			}
			for _, repo := range b.Waiting(w.History).Keys() {
				if c := children[repo]; c != nil && c.State != nil && !yield(stream, c) {
					return
				}
			}
		}
	}
}

// action returns what moves on the run of a repository that a gate waits for: one that is at work, behind, blocked,
// or at a gate of its own. Only the repository shows what a turn at work waits for, its agent or a person.
func (c *Child) action(w *Workspace, blocker *ojson.Object) []Action {
	if c != nil && c.State == nil && w.State.RunOf(c.ID) == "" { // of a known run the divergence tells
		return unread(w.Config.Repo(c.ID), c, c.noState(), "")
	}
	if c == nil || c.State == nil || c.Config == nil {
		return nil
	}
	if blocker.String("code") == BlockRunMismatch && blocker.String("expected_run_id") == "" {
		return []Action{{NextRepo, c.relink(), blocker.String("message") + " This goes on with it."}}
	}
	if blocker.String("code") == BlockNotReady && !slices.Contains(w.Config.Phases(), c.State.Phase) {
		return nil // what its phases are to be comes first
	}
	if c.State.ActiveTurns.Len() > 0 {
		return []Action{c.run("status", blocker.String("message")+" The status there says what the turn waits for.")}
	}
	if c.State.Status == wire.StatusFailed {
		return []Action{c.restart()}
	}
	switch blocker.String("code") {
	case BlockPendingGate, BlockNotReady, BlockRepoBlocked, BlockNotComplete:
	default:
		return nil
	}
	next := protocol.NextStep(c.State, c.Config, "")
	if next == nil {
		return nil
	}
	why := blocker.String("message")
	if c.State.Phase != w.State.Phase {
		why = fmt.Sprintf("Repository %s is in phase %s, the initiative in %s.", c.ID, c.State.Phase, w.State.Phase)
	}
	command, whole := strings.CutPrefix(next.Command, "git agentxchain ")
	if !whole {
		command = "status" // status shows the full advice
	}
	return []Action{c.run(command, why+" "+next.Reason)}
}

// run returns a command in the repository or, for a clone elsewhere, the command that fetches its outcome.
func (c *Child) run(command, why string) Action {
	if c.Remote {
		return Action{NextRepo, "sync", why + " " + onServer(c.ID, "git agentxchain "+command+" is run")}
	}
	return Action{NextRepo, "-C " + wire.ShellWord(c.Path) + " " + command, why}
}

// typed returns a command in the repository as a user types it.
func (c *Child) typed(command string) string {
	return "git agentxchain -C " + wire.ShellWord(c.Path) + " " + command
}

// back says how a repository returns to the run that the initiative knows, or the initiative to the repository's
// run.
func (c *Child) back(m Mismatch, s *State) string {
	if c == nil || c.Remote {
		return ""
	}
	text := fmt.Sprintf(" %s brings it back, after %s where that clone lacks it.",
		c.typed("repair --from-ref "+wire.ShellWord(m.Recorded)), c.typed("sync"))
	switch {
	case m.Actual == "":
	case s.Status == StatusBlocked:
		text += fmt.Sprintf(" Where %s was begun on purpose: git agentxchain %s.", m.Actual, c.relink())
	default:
		text += fmt.Sprintf(" Where %s was begun on purpose: %s.", m.Actual, c.blockFirst())
	}
	return text
}

// catchUp returns the command that moves a clone that is behind to the initiative's run.
func (c *Child) catchUp(m Mismatch) string {
	if c.Holds {
		return "repair --from-ref " + wire.ShellWord(m.Recorded)
	}
	return "sync"
}

// behindError refuses what cannot be decided in a clone that is behind.
func (c *Child) behindError(m Mismatch) *wire.Error {
	e := &wire.Error{Code: CodeRunElsewhere, Field: "repos." + m.Repo, Message: m.Detail}
	if e.Hint = c.typed(c.catchUp(m)) + ", then run this again"; c.Remote {
		e.Hint = "git agentxchain sync, then run this again"
	} else {
		e.Hint += "; where it is right, and the initiative is to continue with it: git agentxchain " + c.relink()
	}
	return e
}

// restart returns the way on in a repository whose run was abandoned.
func (c *Child) restart() Action {
	return c.run("assign --new-run", c.over()+" "+c.another())
}

// keepOn returns the denial of a completion whose run the initiative still needs; why says for what.
func (c *Child) keepOn(why string) Action {
	return c.run("approve --deny --reason "+wire.ShellWord(why), fmt.Sprintf(
		"Run %s of repository %s asks for its completion, and the initiative still needs it. ", c.Run(), c.ID)+why)
}

// another says how the initiative goes on with a run that was started in place of the one it knows.
func (c *Child) another() string {
	return "To go on with another one, begin it, then: " + c.blockFirst() + "."
}

// blockFirst returns the commands that go on with the repository's present run in an initiative that is not blocked.
func (c *Child) blockFirst() string {
	return "git agentxchain multi resync, and once its report is filled in: git agentxchain " + c.relink()
}

// relink returns the command that goes on with the repository's present run.
func (c *Child) relink() string { return "multi resume --relink " + wire.ShellWord(c.ID) }

// over says that the run of a repository has ended, "" for a run that has not.
func (c *Child) over() string {
	how := map[wire.Status]string{wire.StatusFailed: "it was abandoned", wire.StatusCompleted: "it is complete"}
	if why := how[c.State.Status]; why != "" {
		return fmt.Sprintf("Run %s of repository %s is over: %s.", c.Run(), c.ID, why)
	}
	return ""
}

// unread returns what makes a repository readable: c, or what belongs at its place; run is the one that the initiative
// knows.
func unread(at *Repo, c *Child, why, run string) []Action {
	if c == nil {
		if at == nil || !at.Required {
			return nil
		}
		return []Action{{NextRepo, "git clone URL " + wire.ShellWord(at.Path),
			why + " In the workspace, clone it from where it comes, or correct the path in " + ConfigFile + "."}}
	}
	command := "doctor"
	switch {
	case c.Bare:
		return []Action{{NextRepo, "git clone URL DIR",
			why + " Clone it to another directory, and name that as its path in " + ConfigFile + "."}}
	case c.Config == nil:
		command, why = "validate", why+" Correct its "+wire.ConfigPath+" first."
	case c.Lost != "":
		return []Action{
			c.run("sync", why+" What it lacks comes from its remote, or from a clone that has it."),
			{NextRepo, c.relink(), "Where sync has joined it with the work of another machine, or it is gone for good, this" +
				" goes on with what the repository has; what it had accepted still counts."},
		}
	case c.Fresh && run == "":
		command, why = "assign", why+" This begins one, or says how to bring the one that its remote has."
	case c.Fresh && c.Holds:
		command, why = "repair --from-ref "+wire.ShellWord(run), why+" Its run is recorded there; this brings the files."
	case c.Fresh:
		command, why = "sync", why+
			" No command has worked in that clone yet; its run comes from its remote, once the clone that began it has run sync."+
			" If no clone has it: "+c.typed("assign --new-run")+". "+c.another()
	}
	return []Action{c.run(command, why)}
}

// refused returns what to run in repositories whose working files are invalid.
func refused(w *Workspace, children Children) (out []Action) {
	for _, repo := range w.Config.Repos.Keys() {
		if c := children[repo]; c != nil && c.State != nil && c.Refused != "" {
			out = append(out, c.run("status", fmt.Sprintf("The working files of repository %s do not hold: %s", repo, c.Refused)))
		}
	}
	return out
}

// blockedAtGate returns what to run in repositories that are blocked while the gate waits for them: a resync would
// block the initiative because of them.
func blockedAtGate(s *State, children Children) (out []Action) {
	if s.PendingGate == nil || s.Status == StatusBlocked {
		return nil
	}
	for _, repo := range s.PendingGate.RequiredRepos {
		if state := children.State(repo); state != nil && state.Status == wire.StatusBlocked {
			why := fmt.Sprintf("Gate %s waits for repository %s, which is blocked.", s.PendingGate.Gate, repo)
			out = append(out, children[repo].run("status", why))
		}
	}
	return out
}

func shortList(list []string) string {
	if n := len(list) - maxReasons; n > 0 {
		list = append(slices.Clone(list[:maxReasons]), fmt.Sprintf("(and %d more)", n))
	}
	return strings.Join(list, " ")
}
