// run --dry-run and step --dry-run: what would be done, by whom and with what.

package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

type planOptions struct {
	Role, Turn  string
	MaxTurns    int
	NewRun      bool
	AutoApprove bool
}

// runPlan shows the next turn and what may follow. It changes, starts and contacts nothing.
func runPlan(ctx context.Context, f *term.Factory, r *runner.Runner, o *planOptions) error {
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	shared.TellNotices(f, v.Notices)
	if len(v.ConfigProblems) > 0 {
		return config.Refusal(v.ConfigProblems)
	}
	s, cfg := v.State, v.Config
	if err := knownRole(cfg, o.Role); err != nil {
		return err
	}
	if s.Status == wire.StatusIdle || (s.Status == wire.StatusCompleted || s.Status == wire.StatusFailed) && o.NewRun {
		s = run.FreshState(cfg, "")
	}
	trust, err := r.TrustState(ctx)
	if err != nil {
		return err
	}
	plan := ojson.NewObject("dry_run", true, "run_id", ojson.OrNull(s.Run()), "status", string(s.Status),
		"phase", s.Phase,
		"slots", runner.MaxConcurrentTurns(cfg, s.Phase), "trusted", trust.Trusted())
	if o.Turn != "" {
		t, err := shared.ActiveTurn(v, o.Turn, "step") // by its id or the beginning of it
		if err != nil {
			return err
		}
		o.Turn = t.TurnID
	}
	turns, why, err := plannedTurns(cfg, s, r.Record().Dir(), o)
	if err != nil {
		return err
	}
	gates := []*ojson.Object{}
	for _, phase := range cfg.Phases() {
		if route := cfg.Route(phase); route != nil && route.ExitGate != "" {
			gates = append(gates, plannedGate(cfg, phase, route.ExitGate, o.AutoApprove))
		}
	}
	limit := o.MaxTurns
	if limit <= 0 {
		limit = cfg.RunLoop.MaxTurns
	}
	plan.Set("max_turns", limit)
	plan.Set("turns", turns)
	plan.Set("gates", gates)
	plan.Set("remaining_usd", nil)
	if left := s.BudgetStatus.RemainingUSD; left != nil {
		plan.Set("remaining_usd", *left)
	}
	plan.Set("stands_because", ojson.OrNull(why))
	f.Out.Emit(plan, func(p *term.Printer) {
		p.Printf("%s\n\n", p.Bold("Dry run: nothing is started or changed."))
		p.Field("Run", "%s, phase %s, %s", term.OneLine(cmp.Or(s.Run(), "(none)")), p.Bold(term.OneLine(s.Phase)),
			s.Status)
		p.Field("Limits", "%s, %s at a time", term.Counted(limit, "accepted turn"),
			term.Counted(runner.MaxConcurrentTurns(cfg, s.Phase), "turn"))
		if left := s.BudgetStatus.RemainingUSD; left != nil {
			p.Field("Budget", "%s", run.LeftText(*left))
		}
		if trust.Scope.Empty() {
			p.Field("Trust", "agentxchain.json makes this machine run and contact nothing")
		} else if trust.Trusted() {
			p.Field("Trust", "%s", p.Green("what agentxchain.json would run and contact is trusted here"))
		} else {
			p.Field("Trust", "%s", p.Red("not given here; git agentxchain hooks trust"))
		}
		if why != "" {
			p.Field("Now", "%s", p.Yellow(why))
		}
		printPlanned(p, turns, gates, why != "")
	})
	return nil
}

// plannedTurns returns the active turns, or the one of them that o names; without one, the turn that would be
// assigned. why says why the run would assign none, "" otherwise.
func plannedTurns(cfg *config.Config, s *run.State, root string, o *planOptions) (
	turns []*ojson.Object, why string, err error,
) {
	for _, t := range runner.ActiveTurns(s) {
		if o.Turn == "" || o.Turn == t.TurnID {
			turns = append(turns, plannedTurn(cfg, root, t.TurnID, t.AssignedRole, t.RuntimeID))
		}
	}
	switch {
	case len(turns) == 0 && (s.Status == wire.StatusActive || s.Status == wire.StatusIdle):
		role, _, refusal := protocol.ResolveRole(cfg, s, o.Role)
		if refusal != nil {
			return nil, "", refusal
		}
		def := cfg.Role(role)
		if def == nil {
			return nil, "", &wire.Error{
				Code:    wire.CodeUnknownRole,
				Field:   "role",
				Message: fmt.Sprintf("Role %q is not defined in agentxchain.json.", role),
				Hint:    "git agentxchain validate",
			}
		}
		turns = append(turns, plannedTurn(cfg, root, "", role, def.RuntimeID))
	case s.Status != wire.StatusActive:
		why = stands(s)
	}
	return turns, why, nil
}

// printPlanned prints turns and gates; halted says that the run goes on with no turn.
func printPlanned(p *term.Printer, turns, gates []*ojson.Object, halted bool) {
	for _, t := range turns {
		verb := "would be assigned"
		if id := t.String("turn_id"); id != "" {
			verb = id + " would be resumed"
			if halted {
				verb = id + " stays as it is"
			}
		}
		p.Printf("\n%s  %s\n", p.Bold(term.OneLine(t.String("role"))), verb)
		p.Field("Runtime", "%s (%s)", term.OneLine(t.String("runtime_id")), term.OneLine(t.String("runtime_type")))
		if w := t.String("does"); w != "" {
			p.Field("Does", "%s", term.OneLine(w))
		}
		if w := t.String("lacks"); w != "" {
			p.Field("Lacks", "%s", p.Red(term.OneLine(w)))
		}
	}
	if len(gates) > 0 {
		p.Println()
	}
	for _, g := range gates {
		p.Field("Gate", "%s after %s: %s", term.OneLine(g.String("gate_id")), term.OneLine(g.String("phase")),
			term.OneLine(g.String("passed_by")))
	}
}

// stands says why no turn would be assigned, "" when one would.
func stands(s *run.State) string {
	switch {
	case s.Status == wire.StatusPaused:
		return "a gate waits for a person"
	case s.Status == wire.StatusBlocked && s.BlockedOn != nil:
		return "the run is blocked on " + term.OneLine(*s.BlockedOn)
	case s.Status == wire.StatusCompleted:
		return "the run is complete; --new-run starts another"
	case s.Status == wire.StatusFailed:
		return "the run was given up; --new-run starts another"
	}
	return "the run is " + string(s.Status)
}

func plannedTurn(cfg *config.Config, root, id, role, runtimeID string) *ojson.Object {
	rt, _ := cfg.Runtimes.Get(runtimeID)
	kind, does, lacks := config.RuntimeManual, "waits for a person", ""
	if rt != nil {
		kind, does, lacks = rt.Type, deed(rt), runtimes.ProgramProblem(rt.Raw, root)
	}
	return ojson.NewObject("turn_id", ojson.OrNull(id), "role", role, "runtime_id", runtimeID, "runtime_type", kind,
		"does", does, "lacks", ojson.OrNull(lacks))
}

// deed describes what a dispatch to a runtime would do on this machine. URLs are shown without
// parts that may be secret.
func deed(rt *config.Runtime) string {
	switch rt.Type {
	case config.RuntimeManual:
		return "waits for a person"
	case "local_cli":
		return "runs " + strings.Join(runtimes.Command(rt.Raw), " ")
	case "mcp":
		if rt.Raw.String("url") == "" {
			return "starts " + strings.Join(runtimes.Command(rt.Raw), " ")
		}
		return "calls " + bareURL(rt.Raw.String("url"))
	case "api_proxy":
		where := rt.Raw.String("provider")
		if base := rt.Raw.String("base_url"); base != "" {
			where += " at " + bareURL(base)
		}
		return "asks " + rt.Raw.String("model") + " of " + where
	case "remote_agent":
		return "posts to " + bareURL(rt.Raw.String("url"))
	}
	return ""
}

func bareURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func plannedGate(cfg *config.Config, phase, id string, auto bool) *ojson.Object {
	gate := cfg.Gate(id)
	by := "automatically, once its conditions are met"
	credentialed := gates.CredentialedExitGate(cfg, phase)
	switch {
	case gate == nil:
		by = "never: it is not defined"
	case credentialed:
		by = "by a person only; it is credentialed"
	case gate.RequiresHuman && auto:
		by = "by --auto-approve"
	case gate.RequiresHuman:
		by = "by a person, or an approval policy"
	}
	return ojson.NewObject("gate_id", id, "phase", phase, "credentialed", credentialed, "passed_by", by)
}
