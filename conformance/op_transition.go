// transition_state: a bare change of status, checked against the table of legal transitions
// (docs/conformance.md#becoming-a-target).

package conformance

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Triggers of a bare change of status.
const (
	triggerGate       = "gate_requires_human_approval"
	triggerEscalation = "escalation"
)

// transitionState builds the requested state as the engine builds such a state, and asks the engine whether a run
// may enter it. A state without a legal path is never made up: it is invalid_state_transition, or immutable_field
// when the request changes an immutable member.
func transitionState(w *workspace) (outcome, error) {
	target, err := w.textArg("target_status")
	if err != nil {
		return nil, err
	}
	trigger, err := w.textArg("trigger")
	if err != nil {
		return nil, err
	}
	overrides, err := w.objectArg("candidate_overrides")
	if err != nil {
		return nil, err
	}

	doc := ojson.Marshal(w.state).Clone()
	for k, v := range overrides.All() {
		doc.Set(k, ojson.CloneValue(v))
	}
	if refused := w.immutable(doc); refused != nil {
		return w.moved(refused), nil
	}
	switch trigger {
	case triggerGate:
		waitAtGate(doc, w.args.Value("gate"))
	case triggerEscalation:
		refused, err := w.escalate(doc)
		if err != nil || refused != nil {
			return w.moved(refused), err
		}
	case "":
		if target != "" {
			doc.Set("status", target)
		}
	default:
		return w.moved(noPath("there is no trigger " + show(trigger))), nil
	}
	if target != "" && doc.String("status") != target {
		return w.moved(noPath("the trigger " + trigger + " does not lead to " + show(target))), nil
	}

	after, problems := run.DecodeStateObject(doc)
	if len(problems) > 0 {
		return w.moved(noPath(problems.Join())), nil
	}
	refused := protocol.LegalTransition(w.state, after, protocol.OpTransitionState)
	if refused == nil {
		if problems := run.CheckState(after); len(problems) > 0 {
			refused = noPath(problems.Join())
		}
	}
	if refused == nil {
		w.state = after
	}
	return w.moved(refused), nil
}

func noPath(what string) *wire.Error {
	return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status", Message: "no legal transition: " + what}
}

// immutable refuses changes of immutable members first, because that is the graver finding.
func (w *workspace) immutable(doc *ojson.Object) *wire.Error {
	after, _ := run.DecodeStateObject(doc)
	if e := protocol.LegalTransition(w.state, after, protocol.OpTransitionState); e != nil &&
		e.Code == wire.CodeImmutableField {
		return e
	}
	return nil
}

// waitAtGate makes the pause of an acceptance at a gate that needs a person.
func waitAtGate(doc *ojson.Object, gate ojson.Value) {
	doc.Set("status", string(wire.StatusPaused))
	doc.Set("pending_phase_transition", ojson.CloneValue(gate))
	doc.Set("blocked_reason", nil)
	g, _ := gate.(*ojson.Object)
	doc.Set("blocked_on", "human_approval:"+g.String("gate"))
}

// escalate blocks the run through the engine's own operation and copies the block into doc.
func (w *workspace) escalate(doc *ojson.Object) (*wire.Error, error) {
	reason, err := w.textArg("reason")
	if err != nil {
		return nil, err
	}
	role, err := w.textArg("role_id")
	if err != nil {
		return nil, err
	}
	if blank(reason) {
		reason = "unknown"
	}
	turn := w.turnOf(role)
	if role == "" && turn != nil {
		role = turn.AssignedRole
	}
	on := escalationBlocker(reason, role)
	op := &protocol.Block{BlockedOn: on}
	if turn != nil {
		op.TurnID = turn.TurnID
	}
	r := run.DescribeBlock(w.state, on, op.TurnID)
	op.Category, op.TypedReason, op.Owner, op.Action = r.Category, r.Recovery.TypedReason, r.Recovery.Owner,
		r.Recovery.RecoveryAction
	tr, refused := w.propose(op)
	if refused != nil {
		return refused, nil
	}
	blocked := ojson.Marshal(tr.State)
	for _, k := range []string{"status", "blocked_on", "blocked_reason"} {
		doc.Set(k, blocked.Value(k))
	}
	return nil, nil
}

// turnOf returns the turn that an escalation concerns: the role's, else the only one.
func (w *workspace) turnOf(role string) *run.Turn {
	for _, t := range w.state.ActiveTurns.All() {
		if t.AssignedRole == role {
			return t
		}
	}
	if role == "" {
		return w.state.OnlyTurn()
	}
	return nil
}

// objectArg returns an object argument, nil when it is absent or null.
func (w *workspace) objectArg(key string) (*ojson.Object, error) {
	v := w.args.Value(key)
	o, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return nil, badArg(key, "an object", v)
	}
	return o, nil
}

// escalationBlocker returns the blocker of an escalation: the hyphenated reason, then the role.
func escalationBlocker(reason, role string) string {
	if role == "" {
		role = "unknown"
	}
	return "escalation:" + strings.ReplaceAll(reason, "_", "-") + ":" + role
}
