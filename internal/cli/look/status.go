// status: where the run stands, and its --json.

package look

import (
	"context"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/guards"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

func NewStatusCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "status", Category: shared.CategoryLook, Usage: "show where the run is, and the next command",
		Action: func(c *ucli.Context) error { return runStatus(c.Context, f) },
	}
}

func runStatus(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
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

// statusObject returns the object of status --json: the reference's members
// (docs/spec/lifecycle.md#recovery) where they are part of the protocol, and ours.
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
	var g *ojson.Object
	if st.Gate != nil {
		g = shared.GateObject(st.Gate)
		g.Set("authority", shared.RuleObject(v.Config.GateRule(st.Gate.ID)))
		g.Set("approvals", run.VoteRows(st.Approvals))
		g.Set("approvals_dropped", run.VoteRows(st.Dropped))
		g.Set("approvals_lapsed", agreement.LapseRows(st.Lapsed))
	}
	id := st.Escalation.String("escalation_id")
	actions := ojson.List(protocol.NextActions(s, v.Config, id), func(a protocol.NextAction) *ojson.Object {
		return ojson.NewObject("command", a.Command, "reason", a.Reason)
	})
	lost := ojson.List(st.Lost, func(h attempt.TurnHealth) *ojson.Object {
		return ojson.NewObject("turn_id", h.Turn.TurnID, "kind", h.Kind, "failure", h.Failure,
			"running_ms", h.RunningMS, "threshold_ms", h.ThresholdMS, "recovery", h.Recovery())
	})
	lacking := ojson.List(lackingApprovals(v.Config, v.Open), func(l lackingApproval) *ojson.Object {
		return ojson.NewObject("gate_id", l.gate, "authority", shared.RuleObject(l.rule), "text", l.String())
	})
	arrived := []*ojson.Object{}
	for _, a := range v.Arrived {
		arrived = append(arrived,
			ojson.NewObject("op", string(a.Op), "operation", a.Name, "gate_id", ojson.OrNull(a.Gate),
				"by", ojson.NewObject("name", a.Actor.Name, "email", a.Actor.Email), "at", a.At))
	}
	sent, waiting, people := v.Index.Mailbox.Standing()
	return ojson.NewObject("version", 4, "protocol_mode", "governed", "template", v.Config.Template,
		"project_goal", ojson.OrNull(v.Config.Project.Goal),
		"run_id", ojson.OrNull(s.Run()), "status", string(s.Status), "phase", s.Phase,
		"op", ojson.OrNull(string(v.Op)),
		"state", ojson.Marshal(s), "config", config.NormalizedConfig(v.Config),
		"active_turns", turns, "recovery", st.Recovery.Object(), "human_escalation", st.Escalation,
		"open_escalations", append([]*ojson.Object{}, v.Index.OpenEscalations...),
		"repo_decision_summary", ledger.RepoDecisionsSummary(v.Config, v.RepoDecisions),
		"timeouts", ojson.List(st.Timeouts, limits.TimeoutBudget.Object), "uncommitted_files", wire.NonNil(st.Uncommitted),
		"open_objections", v.Index.OpenObjections, "accepted_turns", v.Index.Accepted, "gate", g,
		"proposals_waiting", ojson.List(st.Proposals, shared.ProposalObject),
		"next_actions", actions, "next_action", shared.NextObject(st.Next), "notices", wire.NonNil(v.Notices),
		"rule_changes", shared.RuleRows(v.RuleChanges), "hooks_untrusted", st.Untrusted,
		"delegated", shared.DelegatedRows(s), "intents", ojson.List(st.Intents, shared.IntentObject),
		"charters", tallyCharters(s).object(s),
		"messages", ojson.NewObject("sent", sent, "waiting", waiting, "for_people", people), "lost_turns", lost,
		"unconfirmed", shared.ClaimObjects(v.Open), "lacking_approvals", lacking, "arrived_decisions", arrived,
		"remotes", ojson.List(st.Remotes, runner.RemoteStanding.Object), "open_conflicts", st.Conflicts)
}
