// GateResults: the outcome of each evaluation of a gate (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	gateTypePhase      = "phase_transition"
	gateTypeCompletion = "run_completion"
	noGate             = "no_gate"
)

// gates follows the event log: a failure, a wait for a person, and a pass are each an evaluation.
// Only the approval reports a pass that a person gave.
func (x *Export) gates(bool) ([]Object, error) {
	var failures []*ojson.Object
	for _, d := range x.facts.decisions {
		if d.String("type") == "gate_failure" {
			failures = append(failures, d)
		}
	}
	var out []Object
	approved, by := false, "" // completion was approved; the turn accepted last
	for _, line := range x.facts.events {
		row, p := line.Row, line.Row.Object("payload")
		g := gateEval{
			row:  row,
			by:   p.String("requested_by_turn"),
			kind: cmp.Or(p.String("gate_type"), gateTypePhase),
			id:   p.String("gate_id"),
			from: cmp.Or(p.String("from"), p.String("from_phase")),
			to:   cmp.Or(p.String("to"), p.String("to_phase")),
		}
		switch row.String("event_type") {
		case run.EventTurnAccepted:
			by = row.Object("turn").String("turn_id")
			continue
		case run.EventGateFailed:
			g.status, g.action = "fail", gates.ActionGateFailed
			if len(failures) > 0 {
				g.failure, failures = failures[0], failures[1:]
			}
		case run.EventGatePending:
			g.status, g.action, g.by = "awaiting_human_approval", gates.ActionAwaitHuman, cmp.Or(g.by, by)
		case run.EventGateApproved:
			g.status, g.action = "pass", gates.ActionAdvance
			if g.kind == gateTypeCompletion {
				g.action, approved = gates.ActionComplete, true
			}
		case run.EventPhaseEntered:
			if t := p.String("trigger"); t == "human_approved" || g.from == "" {
				continue
			}
			g.status, g.action = "pass", gates.ActionAdvance
		case run.EventRunCompleted:
			if approved {
				continue
			}
			g.kind, g.status, g.action, g.by = gateTypeCompletion, "pass", gates.ActionComplete, by
		default:
			continue
		}
		out = append(out, x.gateResult(g))
	}
	return out, nil
}

// gateEval is one evaluation.
type gateEval struct {
	row                                    *ojson.Object // the event
	failure                                *ojson.Object // the ledger's entry of a failure, or nil
	id, kind, from, to, by, status, action string
}

func (x *Export) gateResult(g gateEval) Object {
	phase := cmp.Or(g.failure.String("phase"), g.from, g.row.String("phase"))
	if g.id == "" && g.row.String("event_type") != run.EventGateFailed {
		g.id = x.exitGate(phase)
	}
	r := &portable.GateResult{
		Version:    portable.Version,
		Gate:       cmp.Or(g.id, noGate),
		Status:     g.status,
		Extensions: ours(g.row),
	}
	reasons := g.failure.Strings("reasons")
	if len(reasons) == 0 {
		reasons = g.row.Object("payload").Strings("reasons")
	}
	r.Reason = strings.Join(reasons, "; ")
	missing := g.failure.Strings("missing_files")
	if missing == nil {
		missing = []string{}
	}
	r.Evidence = ojson.NewObject("gate_type", g.kind, "phase", ojson.OrNull(phase),
		"from_phase", ojson.OrNull(cmp.Or(g.from, g.failure.String("from_phase"))),
		"to_phase", ojson.OrNull(cmp.Or(g.to, g.failure.String("to_phase"))),
		"requested_by_turn", ojson.OrNull(cmp.Or(g.by, g.failure.String("requested_by_turn"))),
		"missing_files", missing, "missing_verification", g.failure.Bool("missing_verification"), "action", g.action,
		"evaluated_at", g.row.String("timestamp"))
	if g.status == "fail" {
		r.FailureClass = &portable.FailureClass{
			Category:  "validation",
			Code:      wire.CodeGateFailed,
			Retryable: true,
			Detail:    r.Reason,
			Scope:     "gate",
			Source:    r.Gate,
		}
	}
	return object("gate_result", r)
}

// exitGate returns the gate of a phase, "" when it has none.
func (x *Export) exitGate(phase string) string {
	if route := x.facts.cfg.Route(phase); route != nil {
		return route.ExitGate
	}
	return ""
}
