// status: the screen people live in.

package look

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/guards"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

func NewStatusCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "status", Category: shared.CategoryLook, Usage: "where the run stands and the one next command",
		Action: func(c *ucli.Context) error {
			if err := shared.NoArgs(c); err != nil {
				return err
			}
			return runStatus(c.Context, f)
		},
	}
}

func runStatus(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	st, err := r.Standing(ctx)
	if err != nil {
		return err
	}
	silent := guards.Silent(ctx, r)
	shared.TellNotices(f, st.View.Notices)
	for _, p := range st.View.ConfigProblems {
		f.Out.Warn("agentxchain.json: %s", p.Message)
	}
	payload := statusObject(st)
	payload.Set("guards", silent.Object())
	payload.Set("dashboard_session", restore.DashboardSession(r.Record().Dir()))
	f.Out.Emit(payload, func(p *term.Printer) { printStatus(p, st, silent) })
	shared.TellNotices(f, r.Remind(ctx, st.View))
	return nil
}

// statusObject is status --json: the reference's members (docs/spec/lifecycle.md#recovery) where
// they are part of the protocol, and ours.
func statusObject(st *status.Standing) *ojson.Object {
	v := st.View
	s := v.State
	turns := []*ojson.Object{}
	for _, t := range st.Turns {
		o := shared.TurnObject(t.Turn)
		o.Set("age_seconds", int(t.Age/time.Second))
		o.Set("overdue", t.Overdue)
		o.Set("staged", ojson.OrNull(t.Staged))
		if l := t.Lease; l != nil {
			o.Set("lease_holder", ojson.NewObject("runner_id", l.RunnerID, "lease_id", l.LeaseID, "status", l.Status,
				"expires_at", wire.FormatTime(l.ExpiresAt())))
		}
		if h := t.Claim; h != nil {
			o.Set("claim_holder", shared.ClaimObject(h))
		}
		turns = append(turns, o)
	}
	budgets := []*ojson.Object{}
	for _, b := range st.Timeouts {
		budgets = append(budgets, b.Object())
	}
	o := ojson.NewObject("version", 4, "protocol_mode", "governed", "template", v.Config.Template,
		"project_goal", ojson.OrNull(v.Config.Project.Goal),
		"run_id", ojson.OrNull(s.Run()), "status", string(s.Status), "phase", s.Phase,
		"op", ojson.OrNull(string(v.Op)),
		"state", ojson.Marshal(s), "config", config.NormalizedConfig(v.Config),
		"active_turns", turns, "recovery", st.Recovery.Object(), "human_escalation", st.Escalation,
		"open_escalations", append([]*ojson.Object{}, v.Index.OpenEscalations...),
		"repo_decision_summary", ledger.RepoDecisionsSummary(v.Config, v.RepoDecisions),
		"timeouts", budgets, "uncommitted_files", wire.NonNil(st.Uncommitted),
		"open_objections", v.Index.OpenObjections, "accepted_turns", v.Index.Accepted)
	o.Set("gate", nil)
	if st.Gate != nil {
		g := shared.GateObject(st.Gate)
		g.Set("authority", shared.RuleObject(v.Config.GateRule(st.Gate.ID)))
		g.Set("approvals", shared.VoteRows(st.Approvals))
		g.Set("approvals_dropped", shared.VoteRows(st.Dropped))
		o.Set("gate", g)
	}
	actions := []*ojson.Object{}
	id := st.Escalation.String("escalation_id")
	for _, a := range protocol.NextActions(s, v.Config, id) {
		actions = append(actions, ojson.NewObject("command", a.Command, "reason", a.Reason))
	}
	proposed := []*ojson.Object{}
	for _, p := range st.Proposals {
		proposed = append(proposed, shared.ProposalObject(p))
	}
	o.Set("proposals_waiting", proposed)
	o.Set("next_actions", actions)
	o.Set("next_action", shared.NextObject(st.Next))
	o.Set("notices", wire.NonNil(v.Notices))
	o.Set("rule_changes", shared.RuleRows(v.RuleChanges))
	o.Set("hooks_untrusted", st.Untrusted)
	o.Set("delegated", shared.DelegatedRows(s))
	intents := []*ojson.Object{}
	for _, x := range st.Intents {
		intents = append(intents, shared.IntentObject(x))
	}
	o.Set("intents", intents)
	o.Set("charters", tallyCharters(s).object(s))
	sent, waiting, people := v.Index.Mailbox.Standing()
	o.Set("messages", ojson.NewObject("sent", sent, "waiting", waiting, "for_people", people))
	lost := []*ojson.Object{}
	for _, h := range st.Lost {
		lost = append(lost, ojson.NewObject("turn_id", h.Turn.TurnID, "kind", h.Kind, "failure", h.Failure,
			"running_ms", h.RunningMS, "threshold_ms", h.ThresholdMS, "recovery", h.Recovery()))
	}
	o.Set("lost_turns", lost)
	o.Set("unconfirmed", shared.ClaimObjects(v.Open))
	lacking := []*ojson.Object{}
	for _, l := range lackingApprovals(v.Config, v.Open) {
		lacking = append(lacking,
			ojson.NewObject("gate_id", l.gate, "authority", shared.RuleObject(l.rule), "text", l.String()))
	}
	o.Set("lacking_approvals", lacking)
	arrived := []*ojson.Object{}
	for _, a := range v.Arrived {
		arrived = append(arrived,
			ojson.NewObject("op", string(a.Op), "operation", a.Name, "gate_id", ojson.OrNull(a.Gate),
				"by", ojson.NewObject("name", a.Actor.Name, "email", a.Actor.Email), "at", a.At))
	}
	o.Set("arrived_decisions", arrived)
	remotes := []*ojson.Object{}
	for _, m := range st.Remotes {
		remotes = append(remotes, m.Object())
	}
	o.Set("remotes", remotes)
	o.Set("open_conflicts", st.Conflicts)
	return o
}

func printStatus(p *term.Printer, st *status.Standing, silent guards.Glance) {
	v := st.View
	s := v.State
	p.Field("Project", "%s", p.Bold(term.OneLine(v.Config.Project.Name)))
	if v.Config.Project.Goal != "" {
		p.Field("Goal", "%s", term.OneLine(v.Config.Project.Goal))
	}
	if st.Untrusted {
		what := "Hooks"
		if v.Config.Hooks.Len() == 0 {
			what = "Runtimes"
		}
		p.Field(what, "%s; %s", p.Yellow("not trusted on this machine"), "git agentxchain hooks trust")
	}
	silent.Print(p)
	if s.Run() == "" {
		p.Field("Run", "none has started")
		shared.PrintIntents(p, st)
		shared.PrintNext(p, st.Next)
		return
	}
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
	p.Field("Phase", "%s", phases(p, v.Config.Phases(), s.Phase, s.Status == wire.StatusCompleted))
	printGateStanding(p, st)
	shared.PrintRemotes(p, st.Remotes, "operation")
	printConflicts(p, st)
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
	tallyCharters(s).print(p, s)
	shared.PrintDelegated(p, s)
	shared.PrintIntents(p, st)
	if _, _, people := v.Index.Mailbox.Standing(); people > 0 {
		p.Field("Messages", "%s; %s", p.Yellow(term.Counted(people, "message")+" for a person to answer"),
			"git agentxchain monarchic message list --for human --unacked")
	}
	p.Field("Accepted", "%s, %s", term.Counted(v.Index.Accepted, "turn"), term.Counted(v.Index.Decisions, "decision"))
	if s.BudgetStatus.RemainingUSD != nil {
		p.Field("Budget", "$%.2f spent, %s", s.BudgetStatus.SpentUSD, run.LeftText(*s.BudgetStatus.RemainingUSD))
	}
	if n := len(v.Index.OpenObjections); n > 0 {
		p.Field("Objections", "%d open", n)
	}
	if len(st.Uncommitted) > 0 {
		where := ""
		if st.Away != "" {
			where = ", unchanged here: git agentxchain checkpoint " + st.Away
		}
		p.Field("Uncommitted", "%s of accepted turns%s", term.Counted(len(st.Uncommitted), "file"), where)
	}
	for _, b := range st.Timeouts {
		if b.Exceeded {
			p.Field("Overdue", "%s limit of %g minutes", b.Scope, b.LimitMinutes)
		}
	}
	if len(st.Turns) > 0 {
		p.Println()
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
	p.Println()
	if rec := st.Recovery; rec != nil {
		p.Field("Waiting for", "%s (%s)", p.Yellow(term.OneLine(rec.Owner)), term.OneLine(rec.TypedReason))
		if rec.Detail != nil && *rec.Detail != "" {
			p.Field("Because", "%s", term.OneLine(*rec.Detail))
		}
		if id := st.Escalation.String("escalation_id"); id != "" {
			p.Field("Escalation", "%s", id)
		}
		for _, open := range st.View.Index.OpenEscalations {
			if id := open.String("escalation_id"); id != st.Escalation.String("escalation_id") {
				p.Field("Also open", "%s, blocked on %s", term.OneLine(id), term.OneLine(open.String("blocked_on")))
			}
		}
	} else if len(st.Proposals) > 0 && len(st.Turns) == 0 {
		p.Field("Waiting for", "a person (a proposal)")
	} else if len(st.Turns) > 0 {
		p.Field("Waiting for", "%s", term.OneLine(st.Turns[0].Turn.AssignedRole))
	}
	for _, w := range st.Proposals {
		p.Field("Proposal", "%s of %s, %s, waits: git agentxchain proposal show %s", term.OneLine(w.Turn),
			term.OneLine(w.Role),
			term.Counted(len(w.Files), "file"), term.OneLine(w.Turn))
	}
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

// printConflicts counts what waits for a person since two sides were joined.
func printConflicts(p *term.Printer, st *status.Standing) {
	if st.Conflicts > 0 {
		p.Field("Conflicts", "%s for a person; git agentxchain conflicts",
			p.Yellow(term.Counted(st.Conflicts, "conflict")))
	}
}

// lostText says why a turn looks as if nobody worked on it any more.
func lostText(h attempt.TurnHealth) string {
	what := "its agent never started"
	if h.Kind == "stale" {
		what = "its agent has fallen silent"
	}
	return h.Turn.TurnID + " looks " + h.Kind + ": " + what + " (" +
		term.Age(time.Duration(h.RunningMS)*time.Millisecond) + " since it was dispatched)"
}

// printFailure says why a turn was not accepted, one finding a line: the reason
// is a sentence with its findings after a colon, separated by semicolons.
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

// printRejection says why the attempt before was sent back.
func printRejection(p *term.Printer, t *run.Turn) {
	last := t.LastRejection
	if last == nil || t.FailureReason != "" { // what failed since then is newer
		return
	}
	p.Printf("Turn %s was sent back: %s\n", t.TurnID, p.Yellow(term.OneLine(last.String("reason"))))
	for _, e := range shared.RejectionErrors(last) {
		p.Printf("  - %s\n", term.OneLine(e))
	}
}

const maxPhasesShown = 12 // of more, those at both ends and around the present one

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
