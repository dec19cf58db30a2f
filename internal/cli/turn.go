// turn: writing its result, and turn show: an active turn with its assignment, bundle and staged result, or an
// accepted one.

package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type turnShowOptions struct {
	Turn     string
	Template bool
	Artifact string // "", assignment, prompt, context, manifest
}

// turnArtifacts maps the words of --artifact to files of the bundle.
func turnArtifacts() map[string]string {
	return map[string]string{
		"assignment": "ASSIGNMENT.json",
		"prompt":     "PROMPT.md",
		"context":    "CONTEXT.md",
		"manifest":   "MANIFEST.json",
	}
}

func newTurnCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "turn", Category: shared.CategoryLook, Usage: "show a turn, its result and its log; write the result",
		Subcommands: []*ucli.Command{{
			Name: "edit", ArgsUsage: "[TURN]", Usage: "write the result of a turn in your editor and stage it",
			Description: "The editor is git's (GIT_EDITOR, core.editor, VISUAL, EDITOR). It opens the staged " +
				"result or, if there is none, the skeleton of a result. What you save is staged and checked as by " +
				"\"verify turn\". Hand it in with \"accept\".",
			Flags:  []ucli.Flag{shared.TurnFlag()},
			Action: shared.OnTurn(func(c *ucli.Context, id string) error { return runTurnEdit(c.Context, f, id) }),
		}, {
			Name: "log", ArgsUsage: "[TURN]", Usage: "show what the agent of a turn printed, in words",
			Description: "By default TURN is the only active turn, else the turn accepted last. Output of known " +
				"agents is shown as what they did (\"Bash: make test\"); --raw shows every line as it came.",
			Flags: []ucli.Flag{
				shared.TurnFlag(),
				&ucli.BoolFlag{
					Name:    "follow",
					Aliases: []string{"f"},
					Usage:   "wait for more until the turn is over; ends with ^C",
				},
				&ucli.BoolFlag{Name: "raw", Usage: "every line of the log as it is, but for control characters"},
			},
			Action: shared.OnTurn(func(c *ucli.Context, id string) error {
				if c.Bool("follow") && f.JSON() {
					return term.UsageErrorf("--follow prints lines as they come; --json prints one object")
				}
				return runTurnLog(c.Context, f, &turnLogOptions{
					Turn:   id,
					Raw:    c.Bool("raw"),
					Follow: c.Bool("follow"),
				})
			}),
		}, {
			Name: "show", ArgsUsage: "[TURN]", Usage: "a turn; the only active one by default",
			Description: "TURN is the id of an active turn, a unique prefix of it, or the id of an accepted turn.",
			Flags: []ucli.Flag{
				shared.TurnFlag(),
				&ucli.BoolFlag{
					Name:  "template",
					Usage: "print the skeleton of the turn's result, to be filled in and staged",
				},
				term.NewChoiceFlag("artifact", "print one file of the bundle as it is: `NAME`", "", "assignment",
					"prompt", "context", "manifest"),
			},
			Action: shared.OnTurn(func(c *ucli.Context, id string) error {
				o := &turnShowOptions{Turn: id, Template: c.Bool("template"), Artifact: c.String("artifact")}
				if o.Template && o.Artifact != "" {
					return term.UsageErrorf("--template and --artifact print different things; give one of them")
				}
				return runTurnShow(c.Context, f, o)
			}),
		}},
	}
}

func runTurnShow(ctx context.Context, f *term.Factory, o *turnShowOptions) error {
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return err
	}
	turn, err := shared.ActiveTurn(v, o.Turn, "turn show")
	if err != nil {
		if o.Template || o.Artifact != "" || o.Turn == "" {
			return err
		}
		row, rerr := r.Record().LastRow(ctx, wire.LedgerHistory, "turn_id", o.Turn)
		if rerr != nil || row == nil {
			return cmp.Or(rerr, err)
		}
		f.Out.Emit(ojson.NewObject("turn_id", o.Turn, "active", false, "accepted", row.Row), func(p *term.Printer) {
			printAcceptedTurn(p, row.Row)
		})
		return nil
	}
	switch {
	case o.Template:
		return runTurnTemplate(ctx, f, r, turn)
	case o.Artifact != "":
		return runTurnArtifact(ctx, f, r, v, turn, turnArtifacts()[o.Artifact])
	}
	return showActiveTurn(f, r, v, turn)
}

func runTurnTemplate(ctx context.Context, f *term.Factory, r *runner.Runner, t *run.Turn) error {
	doc, err := r.Template(ctx, t.TurnID)
	if err != nil {
		return err
	}
	if doc == nil {
		return term.Errorf("invalid_config", "role %s of turn %s is not in %s, so its result has no known shape",
			term.OneLine(t.AssignedRole), t.TurnID, wire.ConfigPath).
			WithHint("git agentxchain validate")
	}
	if f.JSON() {
		f.Out.Emit(ojson.NewObject("turn_id", t.TurnID, "staging_path", wire.StagingPath(t.TurnID),
			"result_template", doc), nil)
		return nil
	}
	_, err = f.Out.Raw().Write(ojson.Pretty(doc))
	return err
}

// runTurnArtifact prints a file of a bundle that is as it was sealed: the verified bytes. For a
// bundle without a seal, such as one of another tool, it prints the file as it is.
func runTurnArtifact(ctx context.Context, f *term.Factory, r *runner.Runner, v *runner.View, t *run.Turn,
	name string) error {
	path := wire.BundleDir(t.TurnID) + "/" + name
	data, err := sealedFile(ctx, r, v, t, name)
	if unsealed(err) {
		data, err = r.ReadFile(path)
	}
	if err != nil {
		return err
	}
	if data == nil {
		return term.Errorf("not_found", "turn %s has no %s in its bundle", t.TurnID, name).
			WithHint("git agentxchain doctor says how the bundle comes back")
	}
	if f.JSON() {
		f.Out.Emit(ojson.NewObject("turn_id", t.TurnID, "path", path, "content", string(data)), nil)
		return nil
	}
	_, err = f.Out.Raw().Write(data)
	return err
}

// sealedFile returns a file of the bundle, or its seal; nil when there is none.
func sealedFile(ctx context.Context, r *runner.Runner, v *runner.View, t *run.Turn, name string) ([]byte, error) {
	b, err := r.OpenBundle(ctx, v, t)
	if err != nil {
		var refusal *wire.Error
		if errors.As(err, &refusal) && refusal.Hint == "" {
			refusal.Hint = "git agentxchain verify bundle " + t.TurnID
		}
		return nil, err
	}
	if name == "MANIFEST.json" {
		return b.Seal(), nil
	}
	data, _ := b.File(name)
	return data, nil
}

// unsealed reports an error that only says that there is no seal.
func unsealed(err error) bool {
	var refusal *wire.Error
	if !errors.As(err, &refusal) {
		return false
	}
	problems := refusal.Details.Objects("problems")
	return len(problems) == 1 && problems[0].String("type") == "missing_manifest"
}

func showActiveTurn(f *term.Factory, r *runner.Runner, v *runner.View, t *run.Turn) error {
	bundle := r.CheckBundle(v.State.Run(), t)
	staged, stagedErr := r.Staged(t.TurnID)
	payload := ojson.NewObject("turn_id", t.TurnID, "active", true, "turn", shared.TurnObject(t))
	files, problems := []*ojson.Object{}, []*ojson.Object{}
	for _, name := range bundle.Names() {
		info := bundle.Files[name]
		files = append(files, ojson.NewObject("path", wire.BundleDir(t.TurnID)+"/"+name, "size", int(info.Size),
			"sha256", ojson.OrNull(info.SHA256)))
	}
	for _, e := range bundle.Problems {
		problems = append(problems, ojson.NewObject("type", e.Type, "path", ojson.OrNull(e.Path), "detail", e.Detail))
	}
	payload.Set("bundle", ojson.NewObject("path", wire.BundleDir(t.TurnID), "sealed", len(bundle.Problems) == 0,
		"files", files, "problems", problems))
	var result *ojson.Object
	if stagedErr == nil && staged.Data != nil {
		result, _ = ojson.DecodeObject(staged.Data)
	}
	so := ojson.NewObject("path", wire.StagingPath(t.TurnID), "present", staged.Data != nil, "bytes", len(staged.Data),
		"readable", result != nil)
	if stagedErr != nil {
		so.Set("problem", stagedErr.Error())
	}
	if result != nil {
		so.Set("result", result)
	}
	payload.Set("staged", so)
	_, log, _ := r.TurnLog(t.TurnID, t.Attempt)
	f.Out.Emit(payload, func(p *term.Printer) {
		printTurn(p, v, t)
		p.Println()
		p.Field("Instructions", "%s/PROMPT.md", wire.BundleDir(t.TurnID))
		if len(bundle.Problems) == 0 {
			p.Field("Bundle", "%d files, %s", len(bundle.Files), p.Green("matches its seal"))
		} else {
			p.Field("Bundle", "%s: %s", p.Red("does not match its seal"), term.OneLine(bundle.Problems[0].Detail))
		}
		p.Field("Result to", "%s", wire.StagingPath(t.TurnID))
		switch {
		case stagedErr != nil:
			p.Field("Staged", "%s", p.Red(term.OneLine(stagedErr.Error())))
		case staged.Data == nil:
			p.Field("Staged", "nothing yet")
		case result == nil:
			p.Field("Staged", "%s, %d bytes that are not a JSON object", term.OneLine(staged.Path), len(staged.Data))
		default:
			p.Field("Staged", "%s: %s", term.OneLine(result.String("status")), term.OneLine(result.String("summary")))
		}
		if log != nil {
			p.Field("Log", "git agentxchain turn log %s", t.TurnID)
		}
		p.Println()
		next := "git agentxchain turn edit " + t.TurnID
		if staged.Data != nil {
			next = "git agentxchain verify turn " + t.TurnID
		}
		if step := protocol.TurnStep(t); step != nil && t.Status != wire.TurnFailedAcceptance {
			next = step.Command // no result of it can be accepted
		}
		p.Field("Next", "%s", p.Bold(next))
	})
	return nil
}

func printTurn(p *term.Printer, v *runner.View, t *run.Turn) {
	p.Field("Turn", "%s %s", p.Bold(t.TurnID), term.OneLine(t.Status))
	role := v.Config.Role(t.AssignedRole)
	if role != nil {
		p.Field("Role", "%s (%s), %s", p.Bold(term.OneLine(t.AssignedRole)), term.OneLine(role.Title),
			term.OneLine(role.WriteAuthority))
		p.Field("Mandate", "%s", term.OneLine(role.Mandate))
	} else {
		p.Field("Role", "%s %s", p.Bold(term.OneLine(t.AssignedRole)), p.Red("(not in "+wire.ConfigPath+")"))
	}
	p.Field("Runtime", "%s", term.OneLine(t.RuntimeID))
	p.Field("Attempt", "%d", t.Attempt)
	if t.AssignedAt != "" {
		p.Field("Assigned", "%s", term.OneLine(shared.Ago(p, t.AssignedAt)))
	}
	if at, err := wire.ParseTime(t.DeadlineAt); err == nil {
		when := p.Ago(at)
		if p.Now().After(at) {
			when = p.Red(when)
		}
		p.Field("Deadline", "%s", when)
	}
	if b := t.Baseline; b != nil && b.HeadRef != nil {
		p.Field("Started from", "%.12s", term.OneLine(*b.HeadRef))
	}
	if len(t.ConcurrentWith) > 0 {
		p.Field("Beside", "%s", term.OneLine(term.JoinComma(t.ConcurrentWith)))
	}
	if t.DelegationContext != nil {
		p.Field("Delegated", "%s", term.OneLine(t.DelegationContext.String("charter")))
	}
	if id := t.CharterID(); id != "" {
		p.Field("Charter", "%s: %s", p.Bold(term.OneLine(id)), term.OneLine(t.IntakeContext.String("charter")))
	}
	if t.FailureReason != "" {
		p.Field("Failed", "%s", p.Red(term.OneLine(t.FailureReason)))
	}
	if last := t.LastRejection; last != nil {
		p.Field("Sent back", "%s", term.OneLine(last.String("reason")))
		for _, e := range shared.RejectionErrors(last) {
			p.Printf("%s - %s\n", term.Pad("", 14), term.OneLine(e))
		}
	}
}

func printAcceptedTurn(p *term.Printer, row *ojson.Object) {
	p.Field("Turn", "%s %s", p.Bold(term.OneLine(row.String("turn_id"))), term.OneLine(row.String("status")))
	p.Field("Role", "%s", term.OneLine(row.String("role")))
	p.Field("Phase", "%s", term.OneLine(row.String("phase")))
	if id := row.String("charter_id"); id != "" {
		p.Field("Charter", "%s", term.OneLine(id))
	}
	if at := row.String("accepted_at"); at != "" {
		when := term.OneLine(at)
		if t, err := wire.ParseTime(at); err == nil {
			when = p.Ago(t) + " (" + t.Local().Format(time.DateTime) + ")"
		}
		p.Field("Accepted", "%s", when)
	}
	p.Field("Summary", "%s", term.OneLine(row.String("summary")))
	if files := row.Strings("files_changed"); len(files) > 0 {
		p.Field("Files", "%s", term.OneLine(term.JoinComma(files)))
	}
	shared.PrintStatements(p, row)
	if n := row.Object("normalized_verification"); n != nil {
		p.Field("Verification", "%s: %s", term.OneLine(n.String("status")), term.OneLine(n.String("reason")))
	}
	if sha := row.String("checkpoint_sha"); sha != "" {
		p.Field("Checkpoint", "%.12s", term.OneLine(sha))
	}
}
