// The text screen of status.

package look

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/guards"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

func printStatus(p *term.Printer, st *status.Standing, silent guards.Glance) {
	printProject(p, st)
	silent.Print(p)
	s := st.View.State
	if s.Run() == "" {
		p.Field("Run", "none has started")
		shared.PrintIntents(p, st)
		shared.PrintNext(p, st.Next)
		return
	}
	printRun(p, st)
	printOpen(p, st)
	printTally(p, st)
	if len(st.Turns) > 0 {
		p.Println()
		printTurns(p, st)
	}
	p.Println()
	printWaiting(p, st)
	if s.Status.Ended() && st.Next != nil && st.Next.Command == status.NewRun {
		what := "complete"
		if s.Status == wire.StatusFailed {
			what = "over"
		}
		p.Printf("The run is %s. A new one starts with: %s\n", what, status.NewRun)
		return
	}
	shared.PrintNext(p, st.Next)
}

// printProject prints which project this is, and whether its programs may be started.
func printProject(p *term.Printer, st *status.Standing) {
	cfg := st.View.Config
	p.Field("Project", "%s", p.Bold(term.OneLine(cfg.Project.Name)))
	if cfg.Project.Goal != "" {
		p.Field("Goal", "%s", term.OneLine(cfg.Project.Goal))
	}
	if st.Untrusted {
		what := "Hooks"
		if cfg.Hooks.Len() == 0 {
			what = "Runtimes"
		}
		p.Field(what, "%s; %s", p.Yellow("not trusted on this machine"), "git agentxchain hooks trust")
	}
}

// printRun prints where the run is: its phase, its gate, and the other clones.
func printRun(p *term.Printer, st *status.Standing) {
	s := st.View.State
	started := ""
	if s.CreatedAt != nil {
		if at, err := wire.ParseTime(*s.CreatedAt); err == nil {
			started = ", started " + p.Ago(at)
		}
	}
	p.Field("Run", "%s %s%s", term.OneLine(s.Run()), shared.StatusStyle(p, s.Status)(string(s.Status)), started)
	if text := s.Abandoned.Text(); text != "" {
		p.Field("Abandoned", "%s", term.OneLine(strings.TrimPrefix(text, "abandoned ")))
	}
	p.Field("Phase", "%s", phases(p, st.View.Config.Phases(), s.Phase, s.Status == wire.StatusCompleted))
	printGateStanding(p, st)
	shared.PrintRemotes(p, st.Remotes, "operation")
}

// printOpen prints what people have to look at, and what waits to become a turn.
func printOpen(p *term.Printer, st *status.Standing) {
	v := st.View
	if st.Conflicts > 0 {
		p.Field("Conflicts", "%s for a person; git agentxchain conflicts",
			p.Yellow(term.Counted(st.Conflicts, "conflict")))
	}
	for _, c := range v.Open {
		p.Field("Unconfirmed", "%s (by another tool or another clone)", p.Yellow(term.OneLine(c.String())))
	}
	for _, l := range lackingApprovals(v.Config, v.Open) {
		p.Field("Lacks", "%s", p.Yellow(term.OneLine(l.String())))
	}
	if n := len(v.Arrived); n > 0 {
		p.Field("Arrived", "%s not seen being made in this clone; newest: %s", term.Counted(n, "decision"),
			term.OneLine(v.Arrived[n-1].String()))
	}
	tallyCharters(v.State).print(p, v.State)
	shared.PrintDelegated(p, v.State)
	shared.PrintIntents(p, st)
	if _, _, people := v.Index.Mailbox.Standing(); people > 0 {
		p.Field("Messages", "%s; %s", p.Yellow(term.Counted(people, "message")+" for a person to answer"),
			"git agentxchain monarchic message list --for human --unacked")
	}
}

// printTally counts what the run has made and used up.
func printTally(p *term.Printer, st *status.Standing) {
	v := st.View
	p.Field("Accepted", "%s, %s", term.Counted(v.Index.Accepted, "turn"), term.Counted(v.Index.Decisions, "decision"))
	if budget := v.State.BudgetStatus; budget.RemainingUSD != nil {
		p.Field("Budget", "%s, %s", run.SpentText(budget.SpentUSD), run.LeftText(*budget.RemainingUSD))
	}
	if n := len(v.Index.OpenObjections); n > 0 {
		p.Field("Objections", "%d open", n)
	}
	if len(st.Uncommitted) > 0 {
		where := ""
		if st.Away != "" {
			where = ", unchanged here: git pull if another clone has committed them, else git agentxchain checkpoint " +
				st.Away
		}
		p.Field("Uncommitted", "%s of accepted turns%s", term.Counted(len(st.Uncommitted), "file"), where)
	}
	for _, b := range st.Timeouts {
		if b.Exceeded {
			p.Field("Overdue", "%s limit of %g minutes", b.Scope, b.LimitMinutes)
		}
	}
}

// printTurns prints the table of the active turns, and details of each below it.
func printTurns(p *term.Printer, st *status.Standing) {
	t := &term.Table{Header: []string{"TURN", "ROLE", "STATUS", "ATTEMPT", "AGE", "DEADLINE", "RESULT"}, Flex: -1}
	for _, ts := range st.Turns {
		deadline, staged := "", "not staged"
		if !ts.Deadline.IsZero() {
			deadline = p.Ago(ts.Deadline)
		}
		if ts.Staged != "" {
			staged = "staged"
		}
		t.Row(ts.Turn.TurnID, ts.Turn.AssignedRole, ts.Turn.Status, strconv.Itoa(ts.Turn.Attempt),
			term.Age(ts.Age), deadline, staged)
		if ts.Overdue {
			t.Emphasise(5, p.Red)
		}
	}
	p.Table(t)
	for _, ts := range st.Turns {
		if l := ts.Lease; l != nil {
			p.Printf("Turn %s is leased to runner %s; the lease ends %s.\n", ts.Turn.TurnID,
				term.OneLine(l.RunnerID), p.Ago(l.ExpiresAt()))
		}
		if ts.Claim != nil {
			p.Printf("Turn %s %s.\n", ts.Turn.TurnID, shared.ClaimText(p, ts.Claim))
		}
		printFailure(p, ts.Turn)
		printRejection(p, ts.Turn)
	}
	for _, h := range st.Lost {
		p.Printf("%s\n", p.Yellow(lostText(h)))
	}
}

// printWaiting prints whom the run waits for and why.
func printWaiting(p *term.Printer, st *status.Standing) {
	switch rec := st.Recovery; {
	case rec != nil:
		p.Field("Waiting for", "%s (%s)", p.Yellow(term.OneLine(rec.Owner)), term.OneLine(rec.TypedReason))
		if rec.Detail != nil && *rec.Detail != "" {
			p.Field("Because", "%s", term.OneLine(*rec.Detail))
		}
		asked := st.Escalation.String("escalation_id")
		if asked != "" {
			p.Field("Escalation", "%s", asked)
		}
		for _, open := range st.View.Index.OpenEscalations {
			if id := open.String("escalation_id"); id != asked {
				p.Field("Also open", "%s, blocked on %s", term.OneLine(id), term.OneLine(open.String("blocked_on")))
			}
		}
	case len(st.Proposals) > 0 && len(st.Turns) == 0:
		p.Field("Waiting for", "a person (a proposal)")
	case len(st.Turns) > 0:
		p.Field("Waiting for", "%s", term.OneLine(st.Turns[0].Turn.AssignedRole))
	}
	for _, w := range st.Proposals {
		p.Field("Proposal", "%s of %s, %s, waits: git agentxchain proposal show %s", term.OneLine(w.Turn),
			term.OneLine(w.Role),
			term.Counted(len(w.Files), "file"), term.OneLine(w.Turn))
	}
}

// lostText says why a turn seems abandoned.
func lostText(h attempt.TurnHealth) string {
	what := "its agent never started"
	if h.Kind == "stale" {
		what = "its agent has fallen silent"
	}
	return h.Turn.TurnID + " looks " + h.Kind + ": " + what + " (" +
		term.Age(time.Duration(h.RunningMS)*time.Millisecond) + " since it was dispatched)"
}

// printFailure prints why a turn was not accepted, one finding a line: the reason is a sentence
// with its findings after a colon, separated by semicolons.
func printFailure(p *term.Printer, t *run.Turn) {
	if t.FailureReason == "" {
		return
	}
	head, rest, ok := strings.Cut(term.OneLine(t.FailureReason), ": ")
	parts := strings.Split(rest, "; ")
	if !ok || len(parts) < 2 {
		p.Printf("%s\n", p.Red(term.OneLine(t.FailureReason)))
		return
	}
	p.Printf("%s:\n", p.Red(head))
	for _, part := range parts {
		p.Printf("  - %s\n", part)
	}
}

// printRejection prints why the previous attempt was sent back.
func printRejection(p *term.Printer, t *run.Turn) {
	last := t.LastRejection
	if last == nil || t.FailureReason != "" { // a later failure is newer
		return
	}
	p.Printf("Turn %s was sent back: %s\n", t.TurnID, p.Yellow(term.OneLine(last.String("reason"))))
	for _, e := range shared.RejectionErrors(last) {
		p.Printf("  - %s\n", term.OneLine(e))
	}
}

const maxPhasesShown = 12 // of more, those at both ends and around the present one are shown

// phases renders the phases with the present one marked.
func phases(p *term.Printer, all []string, now string, done bool) string {
	out, passed := "", true
	at := slices.Index(all, now)
	for i, ph := range all {
		if far := i > 1 && i < len(all)-2 && (i < at-2 || i > at+2); far && len(all) > maxPhasesShown {
			if i == 2 || i == at+3 {
				out += p.Dim(" -> …")
			}
			passed = passed && i < at
			continue
		}
		if i > 0 {
			out += p.Dim(" -> ")
		}
		switch {
		case ph == now && !done:
			out += p.Bold("[" + term.OneLine(ph) + "]")
			passed = false
		case passed:
			out += p.Green(term.OneLine(ph))
		default:
			out += p.Dim(term.OneLine(ph))
		}
	}
	if out == "" {
		return term.OneLine(now)
	}
	return out
}

// printGateStanding shows the current gate and everything it lacks.
func printGateStanding(p *term.Printer, st *status.Standing) {
	g := st.Gate
	if s := st.View.State.Status; g == nil || s == wire.StatusCompleted || s == wire.StatusFailed {
		return
	}
	if n := len(st.View.State.OpenCharters()); n > 0 {
		p.Field("Gate", "%s: waits for %s", term.OneLine(g.ID), term.Counted(n, "charter"))
		return
	}
	what := "the files are in order"
	style := p.Green
	if g.Result.Action == gates.ActionGateFailed {
		what, style = "lacks", p.Red
	} else if g.HumanNeeded {
		what = "the files are in order; a person or the approval policy decides"
	}
	if st.View.State.Status == wire.StatusPaused {
		what, style = "waits for a person", p.Yellow
		if protocol.Overtaken(st.View.State, st.View.Config) != "" {
			what, style = "not the gate that was asked for", p.Red
		}
	}
	p.Field("Gate", "%s: %s", term.OneLine(g.ID), style(what))
	for _, reason := range g.Result.Reasons {
		p.Printf("%s - %s\n", term.Pad("", 14), term.OneLine(reason))
	}
	printWaitingApproval(p, st)
	f := st.View.State.LastGateFailure
	if f == nil || f.GateID == nil || *f.GateID != g.ID || st.View.State.Status == wire.StatusPaused {
		return
	}
	for _, reason := range f.Reasons {
		if !slices.Contains(g.Result.Reasons, reason) {
			p.Printf("%s - when last asked: %s\n", term.Pad("", 14), term.OneLine(reason))
		}
	}
}
