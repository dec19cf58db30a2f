// multi status and multi barriers: where an initiative stands, and what each barrier waits for.

package multi

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newMultiStatusCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "status", Usage: "show where the initiative stands and what to do next",
		Description: "Reads the workspace and its repositories. Changes nothing, and runs no program of any repository.",
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f,
				func(co *coordinator.Coordinator) error { return runMultiStatus(c.Context, f, co) })
		},
	}
}

func runMultiStatus(ctx context.Context, f *term.Factory, co *coordinator.Coordinator) error {
	s, err := co.Status(ctx)
	if err != nil {
		return err
	}
	findings(f, s)
	f.Out.Emit(s.Object(), func(p *term.Printer) { printStanding(p, s) })
	return nil
}

// findings prints what was passed over or refused on the way.
func findings(f *term.Factory, s *coordinator.Standing) {
	for _, p := range s.Findings {
		f.Out.Warn("%s", term.OneLine(p.Message))
	}
	if s.Unread != nil {
		f.Out.Warn("%s", term.OneLine(s.Unread.Message))
	}
	if s.Unapproved != nil {
		f.Out.Warn("%s (%s)", term.OneLine(s.Unapproved.Message), term.OneLine(s.Unapproved.Hint))
	}
	printProblems(f, s.RepoProblems)
	printProblems(f, s.OptionalProblems)
	printProblems(f, s.Refused)
}

func printStanding(p *term.Printer, s *coordinator.Standing) {
	st := s.State
	p.Field("Super Run", "%s", p.Bold(term.OneLine(st.SuperRunID)))
	if s.Unread == nil {
		p.Field("Project", "%s", term.OneLine(s.Config.ProjectName))
	}
	if st.Abandoned() {
		p.Field("Status", "%s", p.Red(term.OneLine(st.BlockedReason)))
	} else {
		p.Field("Status", "%s", initiativeStatus(p, st.Status))
	}
	p.Field("Phase", "%s", term.OneLine(st.Phase))
	if st.Status == initiative.StatusActive {
		p.Field("Elapsed", "%s", strings.TrimSuffix(shared.Ago(p, st.CreatedAt), " ago"))
	}
	if st.BlockedReason != "" && !st.Abandoned() {
		p.Field("Blocked", "%s", p.Red(term.OneLine(st.BlockedReason)))
	}
	shared.PrintRemotes(p, s.Remotes, "change")
	if g := st.PendingGate; g != nil {
		p.Println()
		p.Println(p.Bold("Pending Gate"))
		p.Field("Type", "%s", term.OneLine(g.GateType))
		p.Field("Gate", "%s", term.OneLine(g.Gate))
		p.Field("Current Phase", "%s", term.OneLine(st.Phase))
		if g.To != "" {
			p.Field("Target Phase", "%s", term.OneLine(g.To))
		}
		p.Field("Required Repos", "%s", term.OneLine(strings.Join(g.RequiredRepos, ", ")))
		p.Field("Approval State", "%s", p.Yellow("Awaiting human approval"))
		if len(g.HumanBarriers) > 0 {
			p.Field("Human Barriers", "%s", term.OneLine(strings.Join(g.HumanBarriers, ", ")))
		}
		printFacts(p, s)
	}
	p.Println()
	t := &term.Table{
		Header: []string{"REPOSITORY", "STATUS", "PHASE", "RUN", "PATH", "CHECKOUT", "AT WORK ON"},
		Flex:   6,
	}
	for _, r := range s.Repos() {
		var notes []string
		for _, turn := range r.Objects("turns") {
			line := turn.String("turn_id") + " (" + turn.String("role")
			if since := turn.String("since"); since != "" {
				line += ", " + strings.TrimSuffix(shared.Ago(p, since), " ago")
			}
			notes = append(notes, line+")")
		}
		for _, d := range r.Objects("details") {
			if d.String("label") == "expected run" {
				notes = append(notes, "expected run "+d.String("value"))
			}
		}
		t.Row(r.String("repo_id"), r.String("status"), r.String("phase"), r.String("run_id"), r.String("path"),
			s.CheckoutText(r.String("repo_id")), strings.Join(notes, ", "))
		switch r.String("status") {
		case string(wire.StatusBlocked), coordinator.CellAbsent, coordinator.RepoMissing:
			t.Emphasise(1, p.Red)
		}
	}
	p.Table(t)
	if st.PhaseGateStatus.Len() > 0 {
		p.Println()
		g := &term.Table{Header: []string{"GATE", ""}, Flex: -1}
		for gate, v := range st.PhaseGateStatus.All() {
			g.Row(gate, v)
		}
		p.Table(g)
	}
	p.Println()
	printBoard(p, s.Board())
	for _, m := range s.Uncounted {
		p.Printf("\n%s", term.OneLine(m.Detail))
	}
	if len(s.Uncounted) > 0 {
		p.Println()
	}
	for _, w := range s.Warnings.Objects("warnings") {
		p.Printf("%s %s\n", p.Yellow("warning:"), term.OneLine(w.String("warning_message")))
	}
	printActions(p, s.Next)
}

func initiativeStatus(p *term.Printer, s initiative.Status) string {
	switch s {
	case initiative.StatusBlocked:
		return p.Red(string(s))
	case initiative.StatusPaused:
		return p.Yellow(string(s))
	case initiative.StatusCompleted:
		return p.Green(string(s))
	}
	return string(s)
}

func newMultiBarriersCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "barriers", Usage: "show the workstreams and what each barrier waits for",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "workstream", Usage: "show only workstream `ID`"},
		},
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiBarriers(c.Context, f, co, c.String("workstream"))
			})
		},
	}
}

func runMultiBarriers(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, only string) error {
	s, err := co.Status(ctx)
	if err != nil {
		return err
	}
	if s.Unread != nil {
		return s.Unread // without the configuration there is no board
	}
	rows := s.Board()
	if only != "" {
		if s.Config.Workstream(only) == nil {
			e := term.Errorf(initiative.CodeUnknownWorkstream, "there is no workstream %q in %s", term.OneLine(only),
				initiative.ConfigFile).WithHint("git agentxchain multi barriers")
			if near := term.Nearest(only, s.Config.Workstreams.Keys()); near != "" {
				e.Hint = "did you mean " + near + "? git agentxchain multi barriers shows all"
			}
			return e
		}
		kept := rows[:0]
		for _, r := range rows {
			if r.Workstream.ID == only {
				kept = append(kept, r)
			}
		}
		rows = kept
	}
	findings(f, s)
	list := []*ojson.Object{}
	for i := range rows {
		list = append(list, rows[i].Object())
	}
	payload := ojson.NewObject("super_run_id", s.State.SuperRunID, "status", string(s.State.Status),
		"phase", s.State.Phase, "workstreams", list, "barriers", s.Barriers.Object())
	actionObjects(payload, s.Next)
	f.Out.Emit(payload, func(p *term.Printer) {
		printBoard(p, rows)
		printActions(p, s.Next)
	})
	return nil
}

// printBoard prints a line for each workstream and, below it, what its barrier waits for.
func printBoard(p *term.Printer, rows []coordinator.Row) {
	t := &term.Table{
		Header: []string{"", "WORKSTREAM", "PHASE", "BARRIER", "STATUS", "REPOSITORIES", "WAITS FOR"},
		Flex:   6,
	}
	for _, r := range rows {
		mark, kind, status := "", r.Workstream.Barrier, "missing"
		if r.Current {
			mark = "*"
		}
		if r.Barrier != nil {
			kind, status = r.Barrier.Type, r.Barrier.Status
		}
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, cellText(c))
		}
		waits := strings.Join(r.WaitsFor, "; ")
		if waits == "" {
			waits = "-"
		}
		t.Row(mark, r.Workstream.ID, r.Workstream.Phase, kind, status, strings.Join(cells, " "), waits)
		switch status {
		case initiative.Satisfied:
			t.Emphasise(4, p.Green)
		case initiative.PartiallySatisfied:
			t.Emphasise(4, p.Yellow)
		}
		if r.Current {
			t.Emphasise(1, p.Bold)
		}
	}
	p.Table(t)
	told := make(map[string]bool)
	for _, r := range rows {
		for _, c := range r.Cells {
			if c.State == coordinator.CellLoose && !told[c.Repo] {
				told[c.Repo] = true
				p.Printf("\nTurn %s was accepted in %s, and this initiative did not assign it. It counts at the next multi resync if it "+
					"fits one workstream only.\n", term.OneLine(c.Turn), term.OneLine(c.Repo))
			}
		}
	}
}

// cellText returns a repository on the board: its name and its progress.
func cellText(c coordinator.Cell) string {
	switch c.State {
	case coordinator.CellDone:
		return c.Repo + "[x]"
	case coordinator.CellWorking:
		return c.Repo + "[working]"
	case coordinator.CellPartial:
		return c.Repo + "[decisions]"
	case coordinator.CellAccepted:
		return c.Repo + "[accepted, not counted]"
	case coordinator.CellLoose:
		return c.Repo + "[accepted, not assigned]"
	case coordinator.CellBlocked:
		return c.Repo + "[blocked]"
	case coordinator.CellGate:
		return c.Repo + "[gate]"
	case coordinator.CellBehind:
		return c.Repo + "[earlier phase]"
	case coordinator.CellAbsent:
		return c.Repo + "[unreadable]"
	}
	return c.Repo + "[ ]"
}
