// gate list and gate show: what a phase's exit requires, and what it lacks right now.

package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

func newGateCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "gate", Category: shared.CategoryLook, Usage: "show the gates of the phases and what they lack",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "evaluate every gate on the current files",
				Action: func(c *ucli.Context) error { return runGateList(c.Context, f) },
			},
			{
				Name: "show", ArgsUsage: "[GATE]", Usage: "show one gate in full; by default the current phase's",
				Description: "Showing a gate decides nothing. The gate is evaluated again when a turn asks to " +
					"leave the phase, and when a person approves.",
				Flags: []ucli.Flag{
					&ucli.StringFlag{Name: "gate", Usage: "the gate's `ID` (same as the argument)"},
					&ucli.BoolFlag{
						Name:   "evaluate",
						Usage:  "accepted for compatibility: gates are always evaluated",
						Hidden: true,
					},
				},
				Action: shared.OnOne("gate", "gate", func(c *ucli.Context, id string) error {
					return runGateShow(c.Context, f, id)
				}),
			},
			{
				Name: "retry", Usage: "evaluate the failed gate again on the current documents",
				Description: "It repeats the request of the last accepted turn, so it takes no new turn and costs " +
					"nothing. First correct what the gate lacks. run and approve do this automatically.",
				Action: func(c *ucli.Context) error { return runGateRetry(c.Context, f) },
			},
		},
	}
}

func runGateRetry(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.RetryGate(ctx)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return shared.Listed(f, err)
	}
	g := out.Result.Gate
	payload := shared.DonePayload(&out.Done, "gate_type", out.Result.GateType, "gate_id", g.GateID,
		"requested_by_turn", out.Result.Turn, "gate", g.Object(out.Result.GateType == run.GatePhase))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		what := "opens"
		if out.State.Status == wire.StatusPaused {
			what = "is in order now and waits for a person"
		}
		p.Printf("Gate %s %s; turn %s had asked for it.\n\n",
			p.Bold(term.OneLine(wire.OrEmpty(g.GateID))), what, term.OneLine(out.Result.Turn))
	})
	return nil
}

// gateRow is a gate with the phase it closes; standing is nil for a gate that is defined and closes
// no phase.
type gateRow struct {
	id, phase string
	def       *config.Gate // nil: routed but not defined
	standing  *gate.Standing
	current   bool
}

// gateRows lists the exit gates in phase order, then the gates that no phase uses.
func gateRows(v *runner.View, standings []gate.Standing) []gateRow {
	var out []gateRow
	routed := map[string]bool{}
	for _, phase := range v.Config.Phases() {
		route := v.Config.Route(phase)
		if route == nil || route.ExitGate == "" || len(standings) == 0 {
			continue
		}
		out = append(out, gateRow{
			id:       route.ExitGate,
			phase:    phase,
			def:      v.Config.Gate(route.ExitGate),
			standing: &standings[0],
			current:  phase == v.State.Phase,
		})
		routed[route.ExitGate] = true
		standings = standings[1:]
	}
	for id, def := range v.Config.Gates.All() {
		if !routed[id] {
			out = append(out, gateRow{id: id, def: def})
		}
	}
	return out
}

// readGates opens the project and evaluates every gate.
func readGates(ctx context.Context, f *term.Factory) (*runner.View, []gateRow, error) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	v, standings, err := r.GateStandings(ctx)
	if err != nil {
		return nil, nil, err
	}
	shared.TellNotices(f, v.Notices)
	for _, p := range v.ConfigProblems {
		f.Out.Warn("%s: %s", wire.ConfigPath, p.Message)
	}
	return v, gateRows(v, standings), nil
}

func runGateList(ctx context.Context, f *term.Factory) error {
	v, rows, err := readGates(ctx, f)
	if err != nil {
		return err
	}
	list := []*ojson.Object{}
	for i := range rows {
		list = append(list, gateRowObject(&rows[i]))
	}
	f.Out.Emit(ojson.NewObject("run_id", ojson.OrNull(v.State.Run()), "phase", v.State.Phase, "gates", list),
		func(p *term.Printer) {
			if len(rows) == 0 {
				p.Println("No gate is configured.")
				return
			}
			t := &term.Table{Header: []string{"", "GATE", "PHASE", "STATUS", "NOW", "ASKS FOR"}, Flex: 5}
			for i := range rows {
				g := &rows[i]
				mark := ""
				if g.current {
					mark = "*"
				}
				now, style := gateNow(p, g)
				t.Row(mark, g.id, g.phase, gateStatus(g), now, gatePredicates(g.def))
				t.Emphasise(4, style)
				if g.current {
					t.Emphasise(1, p.Bold)
				}
			}
			p.Table(t)
		})
	return nil
}

func gateStatus(g *gateRow) string {
	switch {
	case g.standing == nil:
		return "unused"
	case g.standing.Status == "":
		return wire.GatePending
	}
	return g.standing.Status
}

// gateNow returns the present evaluation in two words.
func gateNow(p *term.Printer, g *gateRow) (string, func(string) string) {
	if g.standing == nil {
		return "", p.Dim
	}
	switch n := len(g.standing.Result.Reasons); {
	case g.def == nil:
		return "open", p.Yellow
	case g.standing.Result.Action == gates.ActionGateFailed && n == 1:
		return "lacks 1", p.Red
	case g.standing.Result.Action == gates.ActionGateFailed:
		return "lacks " + strconv.Itoa(n), p.Red
	case g.standing.HumanNeeded && gateStatus(g) != wire.GatePassed:
		return "approval", p.Yellow
	}
	return "in order", p.Green
}

// gatePredicates describes in a few words what a gate requires.
func gatePredicates(g *config.Gate) string {
	if g == nil {
		return "not defined in " + wire.ConfigPath + ": open"
	}
	var parts []string
	if n := len(g.RequiresFiles); n > 0 {
		parts = append(parts, strings.Join(g.RequiresFiles, ", "))
	}
	if g.RequiresVerify {
		parts = append(parts, "a passing verification")
	}
	if g.RequiresHuman {
		parts = append(parts, "approval")
	}
	if g.Credentialed {
		parts = append(parts, "credentials")
	}
	if n := len(g.Actions); n == 1 {
		parts = append(parts, "1 action")
	} else if n > 1 {
		parts = append(parts, strconv.Itoa(n)+" actions")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

func gateRowObject(g *gateRow) *ojson.Object {
	o := ojson.NewObject("gate_id", g.id, "phase", ojson.OrNull(g.phase), "current", g.current,
		"defined", g.def != nil,
		"completion", g.standing != nil && g.standing.Completion, "status", gateStatus(g))
	if d := g.def; d != nil {
		o.Set("requires_files", wire.NonNil(d.RequiresFiles))
		o.Set("requires_verification_pass", d.RequiresVerify)
		o.Set("requires_human_approval", d.RequiresHuman)
		o.Set("credentialed", d.Credentialed)
		o.Set("gate_actions", actionRows(d.Actions))
	}
	if g.standing != nil {
		o.Set("evaluation", shared.GateObject(g.standing))
	}
	return o
}

func runGateShow(ctx context.Context, f *term.Factory, id string) error {
	v, rows, err := readGates(ctx, f)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(g gateRow) bool {
		if id == "" {
			return g.current
		}
		return g.id == id
	})
	if at < 0 {
		return noSuchGate(v, rows, id)
	}
	// A gate may close several phases; the current one is meant.
	for i := range rows {
		if rows[i].id == rows[at].id && rows[i].current {
			at = i
		}
	}
	g := &rows[at]
	payload := gateRowObject(g)
	files := gateFileRows(v, g)
	list := ojson.List(files, func(fr gateFileRow) *ojson.Object {
		return ojson.NewObject("path", fr.path, "required", fr.required,
			"owned_by", ojson.OrNull(fr.owner), "semantics", ojson.OrNull(fr.semantics),
			"missing", fr.missing, "reasons", wire.NonNil(fr.reasons), "notes", noteRows(fr.notes))
	})
	payload.Set("files", list)
	if fail := lastFailure(v, g); fail != nil {
		payload.Set("last_failure", ojson.Marshal(fail))
	} else {
		payload.Set("last_failure", nil)
	}
	payload.Set("pending_approval", run.PendingGate(v.State) == g.id)
	payload.Set("authority", shared.RuleObject(v.Config.GateRule(g.id)))
	f.Out.Emit(payload, func(p *term.Printer) { printGate(p, v, g, files) })
	return nil
}

func noSuchGate(v *runner.View, rows []gateRow, id string) error {
	if id == "" {
		return term.Errorf("not_found", "phase %s has no exit gate",
			term.OneLine(v.State.Phase)).WithHint("git agentxchain gate list")
	}
	var known []string
	for i := range rows {
		known = append(known, rows[i].id)
	}
	e := term.Errorf("not_found", "there is no gate %q in %s", term.OneLine(id),
		wire.ConfigPath).WithHint("git agentxchain gate list")
	if near := term.Nearest(id, known); near != "" {
		e.Hint = "did you mean " + near + "? git agentxchain gate list shows all"
	}
	return e
}

// gateFileRow is one file that a gate reads, with its problems.
type gateFileRow struct {
	path, owner, semantics string
	required, missing      bool
	absent                 bool // missing and not required
	reasons                []string
	notes                  []gates.Finding // does not fail the gate, but a person should know it
}

func gateFileRows(v *runner.View, g *gateRow) []gateFileRow {
	if g.def == nil || g.standing == nil {
		return nil
	}
	kit, _ := v.Config.WorkflowKit.Phases.Get(g.phase)
	var out []gateFileRow
	for _, path := range gates.Files(v.Config, g.phase) {
		row := gateFileRow{path: path, required: slices.Contains(g.def.RequiresFiles, path)}
		if row.required {
			row.semantics = config.PathSemantics(path)
		}
		for _, a := range kit {
			if a.Path != path {
				continue
			}
			row.required = row.required || a.Required
			if a.OwnedBy != "" {
				row.owner = a.OwnedBy
			}
			if a.Semantics != "" {
				row.semantics = a.Semantics
			}
		}
		for _, fd := range g.standing.Result.Findings {
			if fd.Path == path {
				row.missing = row.missing || fd.Code == verdict.FindingMissingFile
				row.reasons = append(row.reasons, fd.Reason)
			}
		}
		for _, fd := range g.standing.Result.Warnings {
			if fd.Path == path {
				row.notes = append(row.notes, fd)
			}
		}
		row.absent = !row.missing && len(row.reasons) == 0 && slices.Contains(g.standing.Absent, path)
		out = append(out, row)
	}
	return out
}

// actionRows returns the commands that passing a gate runs, for programs.
func actionRows(actions []config.GateAction) []*ojson.Object {
	return ojson.List(actions, func(a config.GateAction) *ojson.Object {
		return ojson.NewObject("run", a.Run, "label", ojson.OrNull(a.Label), "timeout_ms", a.TimeoutMS)
	})
}

// noteRows returns findings that do not fail a gate, for programs.
func noteRows(notes []gates.Finding) []*ojson.Object {
	return ojson.List(notes, func(n gates.Finding) *ojson.Object {
		return ojson.NewObject("code", n.Code, "path", n.Path, "message", n.Reason)
	})
}

// lastFailure returns the recorded failure of this very gate in the present phase.
func lastFailure(v *runner.View, g *gateRow) *run.GateFailure {
	if fail := v.State.LastGateFailure; fail != nil && fail.GateID != nil && *fail.GateID == g.id &&
		fail.Phase == g.phase {
		return fail
	}
	return nil
}

func printGate(p *term.Printer, v *runner.View, g *gateRow, files []gateFileRow) {
	p.Field("Gate", "%s", p.Bold(term.OneLine(g.id)))
	switch {
	case g.standing == nil:
		p.Field("Closes", "no phase: no exit_gate in routing names it")
	case g.standing.Completion:
		p.Field("Closes", "phase %s, and with it the run", term.OneLine(g.phase))
	default:
		p.Field("Closes", "phase %s, before %s", term.OneLine(g.phase), term.OneLine(v.Config.NextPhase(g.phase)))
	}
	p.Field("Status", "%s", gateStatus(g))
	p.Field("Asks for", "%s", term.OneLine(gatePredicates(g.def)))
	if rule := v.Config.GateRule(g.id); rule != nil {
		p.Field("Decided by", "%s", term.OneLine(shared.ApproversText(rule)))
	}
	if g.def != nil {
		for _, a := range g.def.Actions {
			p.Field("Action", "%s", term.OneLine(a.Run))
		}
	}
	if g.standing == nil {
		return
	}
	if len(files) > 0 {
		p.Println()
		t := &term.Table{Header: []string{"FILE", "OWNER", "CHECKED AS", "NOW"}, Flex: -1}
		for _, fr := range files {
			now, style := "in order", p.Green
			switch {
			case fr.missing:
				now, style = "missing", p.Red
			case fr.absent:
				now, style = "not there (optional)", p.Dim
			case len(fr.reasons) > 0:
				now, style = "not yet", p.Red
			}
			t.Row(fr.path, fr.owner, fr.semantics, now)
			t.Emphasise(3, style)
		}
		p.Table(t)
	}
	p.Println()
	passed := gateStatus(g) == wire.GatePassed
	overtaken := protocol.Overtaken(v.State, v.Config)
	switch {
	case g.current && overtaken != "":
		p.Field("Now", "%s: %s", p.Red("the request that waits can no longer be approved"), term.OneLine(overtaken))
		p.Field("Next", "git agentxchain approve --deny --reason TEXT; the next turn asks again")
	case run.PendingGate(v.State) == g.id:
		p.Field("Now", "%s: git agentxchain approve", p.Yellow("waits for a person"))
	case g.standing.Result.Action == gates.ActionGateFailed:
		p.Field("Now", "%s", p.Red("lacks"))
	case g.standing.HumanNeeded && !passed:
		p.Field("Now", "the files are in order; a person or the approval policy decides")
	default:
		p.Field("Now", "%s", p.Green("in order"))
	}
	for _, reason := range g.standing.Result.Reasons {
		p.Printf("%s - %s\n", term.Pad("", 14), term.OneLine(reason))
	}
	if passed {
		return // the notes are for the person who decides, and this gate is decided
	}
	for _, fr := range files {
		for _, note := range fr.notes {
			p.Field("Note", "%s", term.OneLine(note.Reason))
		}
	}
	if fail := lastFailure(v, g); fail != nil {
		p.Field("Last failed", "%s", shared.Ago(p, fail.FailedAt))
	}
}
