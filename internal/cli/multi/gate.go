// multi approve-gate: a person decides on the gate that the initiative waits at.

package multi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type multiApproveOptions struct {
	coordinator.ApproveOptions
	Deny   bool
	Show   bool
	Reason string
	Yes    bool
}

func newMultiApproveCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "approve-gate", Usage: "approve or deny the gate that waits",
		Description: "Checks the gate again against the present state of the repositories. Approving the completion also completes the runs that wait for it: all of them and the initiative, or none. An agent inside a dispatched turn cannot decide.",
		Flags: append([]ucli.Flag{
			&ucli.StringFlag{Name: "gate", Usage: "refuse if another gate than `ID` waits"},
			&ucli.BoolFlag{Name: "show", Usage: "show what waits, who is asked and who has agreed, and decide nothing"},
			&ucli.BoolFlag{Name: "deny", Usage: "deny the gate; needs --reason"},
			&ucli.StringFlag{Name: "reason", Usage: "why the gate is denied (`TEXT`)"},
			&ucli.BoolFlag{
				Name:  "initiative-only",
				Usage: "complete the initiative alone, and none of the runs",
			},
			&ucli.BoolFlag{Name: "allow-actions", Usage: "run the actions of the repositories' completion gates"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		}, shared.ConsentFlags()...),
		Action: func(c *ucli.Context) error {
			consent, err := shared.ConsentOptions(c, f)
			if err != nil {
				return err
			}
			o := multiApproveOptions{
				Deny:   c.Bool("deny"),
				Show:   c.Bool("show"),
				Reason: c.String("reason"),
				Yes:    c.Bool("yes"),
				ApproveOptions: coordinator.ApproveOptions{
					Gate:           c.String("gate"),
					InitiativeOnly: c.Bool("initiative-only"),
					AllowActions:   c.Bool("allow-actions"),
					Consent:        consent,
				},
			}
			switch {
			case o.Reason != "" && !o.Deny:
				return term.UsageErrorf("--reason belongs to --deny")
			case consent.Proves() && (o.Deny || o.Show):
				return term.UsageErrorf("--sign and --statement are for an approval, not for --deny or --show")
			case o.Deny && o.Show:
				return term.UsageErrorf("--show and --deny cannot be used together: --show decides nothing")
			}
			return shared.SignedTo(c, f, shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				if o.Show {
					return showGate(c.Context, f, co)
				}
				return runMultiApprove(c.Context, f, co, o)
			}))
		},
	}
}

func runMultiApprove(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, o multiApproveOptions) error {
	if o.Deny {
		out, err := co.Deny(ctx, o.Gate, o.Reason)
		if err != nil {
			return gateFailure(f, out, err)
		}
		return decidedOn(f, out, "Denied gate "+out.Gate.Gate+".")
	}
	if !o.Yes && !o.Consent.Only && f.Interactive() {
		if agreed, err := askGate(ctx, f, co, o); err != nil || !agreed {
			return err
		}
	}
	var out *coordinator.Decision
	err := shared.TrustingWorkspace(ctx, f, co, func() (err error) {
		out, err = co.Approve(ctx, o.ApproveOptions)
		return err
	})
	var signed *runner.Signed
	switch {
	case errors.As(err, &signed):
		return err
	case err != nil:
		return gateFailure(f, out, err)
	case out.Waits():
		return decidedOn(f, out, fmt.Sprintf("Approved gate %s: %d of %d people have agreed, and it waits for the others.",
			out.Gate.Gate, len(out.Tally.Votes), out.Tally.Need))
	}
	message := "Coordinator phase transition approved: " + out.Gate.From + " -> " + out.Gate.To
	if out.Gate.GateType == initiative.GateCompletion {
		message = "Coordinator run completion approved. Run is now complete."
	}
	return decidedOn(f, out, message)
}

// askGate shows a person what they are about to decide on.
func askGate(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, o multiApproveOptions) (bool, error) {
	s, err := co.Status(ctx)
	if err != nil || s.State.PendingGate == nil {
		return true, nil // the decision itself reports what is wrong
	}
	g := s.State.PendingGate
	f.Out.Notice("Gate %s (%s)", term.OneLine(g.Gate), term.OneLine(g.GateType))
	f.Out.Notice("  repositories: %s", term.OneLine(strings.Join(g.RequiredRepos, ", ")))
	if len(g.HumanBarriers) > 0 {
		f.Out.Notice("  approves the barriers: %s", term.OneLine(strings.Join(g.HumanBarriers, ", ")))
	}
	for _, fact := range s.Facts() {
		f.Out.Notice("  %s: %s", fact[0], term.OneLine(fact[1]))
	}
	if g.GateType == initiative.GateCompletion && !o.InitiativeOnly {
		f.Out.Notice("  completes the runs that wait for it, together with the initiative")
	}
	return f.Prompt.Confirm(ctx, "Approve it?", "--yes", false)
}

// showGate shows the waiting gate, who is asked and who has agreed.
func showGate(ctx context.Context, f *term.Factory, co *coordinator.Coordinator) error {
	s, err := co.Status(ctx)
	if err != nil {
		return err
	}
	g := s.State.PendingGate
	if g == nil {
		return &wire.Error{
			Code:    wire.CodeNothingPending,
			Message: "No gate of the initiative waits for a decision.",
			Hint:    "git agentxchain multi status",
		}
	}
	o := s.Object()
	payload := ojson.NewObject("gate_type", g.GateType, "message", "Gate "+g.Gate+" waits for a person.",
		"gate", g.Gate, "completed_repos", ojson.NewObject(), "pending_gate", o.Value("pending_gate"),
		"gate_approvals", o.Value("gate_approvals"), "configuration_changes", o.Value("configuration_changes"))
	actionObjects(payload, s.Next)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Field("Gate", "%s", p.Bold(term.OneLine(g.Gate)))
		p.Field("Repositories", "%s", term.OneLine(strings.Join(g.RequiredRepos, ", ")))
		if len(g.HumanBarriers) > 0 {
			p.Field("Barriers", "%s", term.OneLine(strings.Join(g.HumanBarriers, ", ")))
		}
		printFacts(p, s)
		printActions(p, s.Next)
	})
	return nil
}

func printFacts(p *term.Printer, s *coordinator.Standing) {
	for _, fact := range s.Facts() {
		p.Field(fact[0], "%s", term.OneLine(fact[1]))
	}
}

// decidedOn emits the answer of a decision (docs/commands.md): {gate_type, status, phase, message,
// next_action, next_actions}, then our own members.
func decidedOn(f *term.Factory, out *coordinator.Decision, message string) error {
	payload := ojson.NewObject("gate_type", out.Gate.GateType)
	if out.State != nil {
		payload.Set("status", string(out.State.Status))
		payload.Set("phase", out.State.Phase)
	}
	payload.Set("message", message)
	actionObjects(payload, out.Next)
	payload.Set("gate", out.Gate.Gate)
	moved := ojson.NewObject()
	for _, repo := range slices.Sorted(maps.Keys(out.Moved)) {
		moved.Set(repo, out.Moved[repo])
	}
	payload.Set("completed_repos", moved)
	if t := out.Tally; t != nil {
		payload.Set("approvals",
			ojson.NewObject("needed", t.Need, "votes", run.VoteRows(t.Votes), "passed", t.Reached()))
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Println(term.OneLine(message))
		for repo := range moved.All() {
			p.Printf("The run of %s is complete.\n", term.OneLine(repo))
		}
		printActions(p, out.Next)
	})
	return nil
}

// gateFailure returns the answer of a decision that was not made (docs/coordinator.md#gates); its
// sentence is in the error of the envelope, as everywhere.
func gateFailure(f *term.Factory, out *coordinator.Decision, err error) error {
	var e *wire.Error
	if !errors.As(err, &e) || out == nil || out.Gate == nil {
		return err
	}
	code, reason := "approval_failed", "approval_failed"
	var phase, hook any
	if out.Hook != nil {
		phase, hook = coordinator.HookBeforeGate, ojson.OrNull(out.Hook.Details.String("hook_name"))
		code, reason = "hook_failed", "hook_failure"
		if out.Hook.Code == wire.CodeHookBlocked {
			code, reason = "hook_blocked", "hook_block"
		}
	}
	action := e.Hint
	if action == "" {
		action = "git agentxchain multi status"
	}
	payload := ojson.NewObject("code", code, "gate", out.Gate.Gate, "gate_type", out.Gate.GateType,
		"hook_phase", phase, "hook_name", hook)
	actionObjects(payload, out.Next)
	payload.Set("recovery_summary",
		ojson.NewObject("typed_reason", reason, "owner", "human", "recovery_action", action,
			"detail", "Coordinator state is unchanged. "+e.Message))
	if e.Details.Has("blockers") {
		payload.Set("blockers", e.Details.Objects("blockers"))
	}
	f.Out.Emit(payload, nil)
	return err
}
