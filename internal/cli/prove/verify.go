// verify turn: would a staged result be accepted, and do its claims hold when they are run again?

package prove

import (
	"context"
	"strconv"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/commands"
)

type VerifyTurnOptions struct {
	Turn    string
	Execute bool
	Timeout time.Duration // of each command
}

func NewVerifyCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "verify",
		Category: shared.CategoryTrust,
		Usage:    "check a staged turn, a turn's bundle, an export artifact, approvals, or a range of commits, without changing anything",
		Subcommands: []*ucli.Command{newVerifyTurnCommand(f), newVerifyBundleCommand(f), newVerifyExportCommand(f),
			newVerifyApprovalsCommand(f), newVerifyDiffCommand(f), newVerifyRangeCommand(f)},
	}
}

func newVerifyTurnCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "turn",
		ArgsUsage: "[TURN]",
		Usage:     "check a staged result in five stages, without recording anything",
		Description: "With --execute it also runs the commands of machine_evidence again, in the project " +
			"directory, and compares their exit codes with the declared ones. The turn chose these commands, so " +
			"read them first. Only accept judges the work tree, the gate and the policies.",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			&ucli.BoolFlag{Name: "execute", Usage: "run the declared commands"},
			&ucli.IntFlag{Name: "timeout", Usage: "time for each command in `MS`", Value: 30000},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			ms := c.Int("timeout")
			if ms < 1 || ms > 24*60*60*1000 {
				return term.UsageErrorf("--timeout takes 1 to 86400000 milliseconds, not %d", ms)
			}
			return RunVerifyTurn(c.Context, f, &VerifyTurnOptions{
				Turn:    turn,
				Execute: c.Bool("execute"),
				Timeout: time.Duration(ms) * time.Millisecond,
			})
		}),
	}
}

func RunVerifyTurn(ctx context.Context, f *term.Factory, o *VerifyTurnOptions) error {
	r, view, err := shared.OpenView(ctx, f)
	if err != nil {
		return err
	}
	if len(view.ConfigProblems) > 0 {
		return config.Refusal(view.ConfigProblems)
	}
	turn, v, doc, err := r.Validate(ctx, o.Turn)
	if err != nil {
		return err
	}
	changes, err := r.BundleChanges(ctx, view, turn)
	if err != nil {
		return err
	}
	warning, changed := protocol.CheckBundle(view.Config, turn.TurnID, changes)
	warnings := v.Warnings
	if !v.OK {
		warnings = append(v.Notes(), warnings...)
	}
	if warning != "" {
		warnings = append([]string{warning}, warnings...)
	}
	payload := ojson.NewObject("run_id", view.State.Run(), "turn_id", turn.TurnID, "role", turn.AssignedRole,
		"staging_path", wire.StagingPath(turn.TurnID),
		"valid", v.OK && changed == nil, "result_repair", view.Config.Rules.ResultRepair, "stages", stageRows(v),
		"warnings", wire.NonNil(warnings),
		"repairs", result.Repairs(v.Events), "bundle_changes", protocol.BundleRows(changes),
		"problems", problemRows(v.Errors))
	if changed != nil { // before the result is looked at, like accept
		f.Out.Emit(payload, func(p *term.Printer) { printStages(p, turn, v, warnings) })
		return changed
	}
	if !v.OK {
		f.Out.Emit(payload, func(p *term.Printer) { printStages(p, turn, v, warnings) })
		code := wire.CodeValidationFailed
		if len(v.Errors) > 0 && v.Errors[0].Code == wire.CodeIntentCoverage {
			code = wire.CodeIntentCoverage // like accept, which has it apart from the stages
		}
		e := term.Errorf(code, "turn %s fails at the %s stage: %s", turn.TurnID, v.Stage,
			firstProblem(v.Errors)).
			WithHint("correct the staged result; nothing was recorded").
			WithDetails(ojson.NewObject("failed_stage", v.Stage, "error_class", v.Class, "error_code", v.Code(),
				"problems", problemRows(v.Errors)))
		return e
	}
	// The normalised result would be accepted, so it is also what is replayed.
	if v.Result != nil && v.Result.Raw != nil {
		doc = v.Result.Raw
	}
	replay, err := r.ReplayTurn(ctx, doc, commands.ReplayOptions{Execute: o.Execute, Timeout: o.Timeout})
	if err != nil {
		return err
	}
	payload.Set("replay", ojson.Marshal(replay))
	f.Out.Emit(payload, func(p *term.Printer) {
		printStages(p, turn, v, warnings)
		printReplay(p, doc, replay)
	})
	if !o.Execute || replay.Overall == result.ReplayMatch {
		return nil
	}
	if replay.Overall == result.ReplayMismatch {
		return term.Errorf("verification_replay_drift",
			"the evidence of turn %s is not confirmed: %d of %d commands did not end as declared",
			turn.TurnID, replay.ReplayedCommands-replay.MatchedCommands, replay.ReplayedCommands).
			WithHint("git agentxchain reject " + turn.TurnID + " --reason TEXT sends the turn back")
	}
	return term.Errorf("verification_replay_drift", "the evidence of turn %s cannot be replayed: %s", turn.TurnID,
		term.OneLine(replay.Reason)).
		WithHint("without --execute the result is judged by itself")
}

func firstProblem(p wire.Problems) string {
	switch len(p) {
	case 0:
		return "it is not valid"
	case 1:
		return term.OneLine(p[0].Message)
	case 2:
		return term.OneLine(p[0].Message) + " (and 1 more problem)"
	}
	return term.OneLine(p[0].Message) + " (and " + strconv.Itoa(len(p)-1) + " more problems)"
}

// stageOutcomes returns for each stage whether it passed, failed or was not reached.
func stageOutcomes(v *result.Validation) (names, outcomes []string) {
	reached := true
	for _, name := range result.Stages() {
		outcome := "passed"
		switch {
		case !reached:
			outcome = "not_reached"
		case name == v.Stage:
			outcome, reached = "failed", false
		}
		names, outcomes = append(names, name), append(outcomes, outcome)
	}
	return names, outcomes
}

func stageRows(v *result.Validation) []*ojson.Object {
	names, outcomes := stageOutcomes(v)
	rows := make([]*ojson.Object, len(names))
	for i := range names {
		rows[i] = ojson.NewObject("stage", names[i], "outcome", outcomes[i])
	}
	return rows
}

// problemRows returns findings for --json.
func problemRows(list wire.Problems) []*ojson.Object {
	return ojson.List(list, func(p wire.Problem) *ojson.Object {
		return ojson.NewObject("code", p.Code, "field", ojson.OrNull(p.Field),
			"value", ojson.OrNull(p.Value), "message", p.Message)
	})
}

func printStages(p *term.Printer, t *run.Turn, v *result.Validation, warnings []string) {
	p.Printf("Turn %s of %s\n\n", p.Bold(t.TurnID), p.Bold(term.OneLine(t.AssignedRole)))
	names, outcomes := stageOutcomes(v)
	for i, name := range names {
		style := p.Green
		switch outcomes[i] {
		case "failed":
			style = p.Red
		case "not_reached":
			style = p.Dim
		}
		p.Printf("  %s %s\n", term.Pad(name, 14),
			style(map[string]string{"passed": "ok", "failed": "failed", "not_reached": "not reached"}[outcomes[i]]))
		if outcomes[i] == "failed" {
			for _, e := range v.Errors {
				p.Printf("  %s - %s\n", term.Pad("", 14), term.OneLine(e.Message))
			}
		}
	}
	for _, w := range warnings {
		p.Printf("  %s %s\n", p.Yellow(term.Pad("warning", 14)), term.OneLine(w))
	}
}

func printReplay(p *term.Printer, doc *ojson.Object, r *result.ReplayOutcome) {
	p.Printf("  %s %s\n\n", term.Pad("work tree", 14), p.Dim("not checked: accept checks it, the gate and the policies"))
	if r.Overall == result.ReplayNotExecuted {
		p.Printf("Evidence: not run again. --execute runs what the turn declared:\n")
		for _, e := range doc.Object("verification").Objects("machine_evidence") {
			code := "?"
			if n, ok := e.Int("exit_code"); ok {
				code = strconv.Itoa(n)
			}
			p.Printf("  $ %s  %s\n", term.OneLine(e.String("command")), p.Dim("(declared exit "+code+")"))
		}
		return
	}
	if len(r.Commands) == 0 {
		p.Printf("Evidence: %s\n", term.OneLine(r.Reason))
		return
	}
	p.Printf("Evidence: %d of %d commands ended as declared\n", r.MatchedCommands, r.ReplayedCommands)
	for _, c := range r.Commands {
		mark, style := "ok", p.Green
		if !c.Bool("matched") {
			mark, style = "no", p.Red
		}
		p.Printf("  %s $ %s%s\n", style(mark), term.OneLine(c.String("command")), p.Dim(replayText(c)))
	}
	if r.Drift != "" {
		p.Printf("%s running them changed the work tree: %s\n", p.Yellow("warning:"), term.OneLine(r.Drift))
	}
}

// replayText says how a command ended when that was not as declared.
func replayText(c *ojson.Object) string {
	if c.Bool("matched") {
		return ""
	}
	if e := c.String("error"); e != "" {
		return "  (" + term.OneLine(e) + ")"
	}
	if s := c.String("signal"); s != "" {
		return "  (ended by " + term.OneLine(s) + ")"
	}
	declared, was := "none", "none"
	if n, ok := c.Int("declared_exit_code"); ok {
		declared = strconv.Itoa(n)
	}
	if n, ok := c.Int("actual_exit_code"); ok {
		was = strconv.Itoa(n)
	}
	return "  (declared exit " + declared + ", now " + was + ")"
}
