// Decoding of state.json: strict on bytes and types, nothing repaired or judged (docs/spec/state.md#the-state).

package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// StateSchema is the state schema this engine writes.
const StateSchema = "1.1"

const (
	// Dirty snapshots of large trees make large states; anything larger is not a state but an attempt to exhaust
	// memory.
	maxStateBytes = 64 << 20
	maxStateDepth = 64
	// A hostile document can have millions of wrong members; a person reads a few.
	MaxStateProblems = 100
)

// DecodeState reads the bytes of state.json. Errors: invalid_json when the bytes are not a JSON object (this covers
// UTF-8, size, depth and duplicate members), invalid_state with every wrongly typed member in Problems. The state
// is as written: RepairState repairs it, CheckState checks it.
func DecodeState(data []byte) (*State, *wire.Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: maxStateBytes, Depth: maxStateDepth})
	if err != nil {
		e := &wire.Error{
			Code:    wire.CodeInvalidJSON,
			Message: string(wire.DocState) + " is not valid JSON: " + err.Error(),
			Hint:    repairHint,
		}
		if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
			e.Details = ojson.NewObject("line", syntax.Line, "offset", syntax.Offset)
		}
		return nil, e
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, &wire.Error{Code: wire.CodeInvalidJSON, Hint: repairHint,
			Message: string(wire.DocState) + " must hold a JSON object, not " + ojson.TypeName(v)}
	}
	s, problems := DecodeStateObject(o)
	if len(problems) > 0 {
		return nil, StateError(problems)
	}
	return s, nil
}

const repairHint = "git agentxchain repair --from-ref"

// StateError returns the refusal of a state with the given problems.
func StateError(p wire.Problems) *wire.Error {
	e := &wire.Error{Code: wire.CodeInvalidState, Problems: p, Hint: repairHint}
	switch len(p) {
	case 0:
		e.Message = string(wire.DocState) + " is not a valid state"
	case 1:
		e.Field = p[0].Field
		e.Message = string(wire.DocState) + " is not a valid state: " + p[0].Message
	default:
		e.Field = p[0].Field
		e.Message = fmt.Sprintf("%s is not a valid state: %s (and %d more)", wire.DocState, p[0].Message, len(p)-1)
	}
	return e
}

// DecodeStateObject reads a decoded state leniently: the state is always usable, and wrongly typed members are
// skipped and reported. Unknown members survive.
func DecodeStateObject(o *ojson.Object) (*State, wire.Problems) {
	s := &State{}
	var problems wire.Problems
	for _, fe := range ojson.Unmarshal(o, s) {
		if fe.Got == "null" && nullMeansAbsent(fe.Path) {
			continue
		}
		problems = addStateProblem(problems, fe.Path, fe.Error())
	}
	problems = dropNilMembers(s, problems)
	if !o.Has("turn_sequence") {
		// Version 1.0 had no counter.
		for _, t := range s.ActiveTurns.All() {
			s.TurnSequence = max(s.TurnSequence, t.AssignedSequence, 1)
		}
		if ct := o.Object("current_turn"); ct != nil {
			s.TurnSequence = max(s.TurnSequence, 1)
		}
	}
	return s, problems
}

func addStateProblem(p wire.Problems, field, message string) wire.Problems {
	if len(p) >= MaxStateProblems {
		return p
	}
	return append(p, wire.Problem{Code: wire.CodeInvalidState, Field: Clip(field, 200), Message: Clip(message, 400)})
}

// nullMeansAbsent reports whether other implementations write null for a member whose type here has no null.
// CheckState finds a required one among them empty.
func nullMeansAbsent(path string) bool {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	switch parent {
	case "active_turns", "budget_reservations", "phase_gate_status", "gate_documents":
		return false // a name of a user's choice, not a member of ours
	}
	switch name {
	case "run_id", "assigned_at", "started_at", "deadline_at", "dispatched_at", "failed_at", "failure_reason",
		"reissued_from",
		"requested_by_turn", "requested_at", "blocked_at", "owner", "typed_reason", "recovery_action", "turn_retained",
		"recovery",
		"category", "non_progress_count", "budget_status", "spent_usd", "captured_at", "queued_request",
		"missing_verification",
		"schema_version", "turn_sequence", "assigned_sequence", "created_at":
		return true
	}
	return false
}

// dropNilMembers removes null entries from the collections, so that no rule
// meets a nil turn or delegation.
func dropNilMembers(s *State, problems wire.Problems) wire.Problems {
	for _, id := range s.ActiveTurns.Keys() {
		if t, _ := s.ActiveTurns.Get(id); t == nil {
			s.ActiveTurns.Delete(id)
			problems = addStateProblem(problems, "active_turns."+id, "active_turns."+id+" must be an object, not null")
		}
	}
	for _, id := range s.BudgetReservations.Keys() {
		if r, _ := s.BudgetReservations.Get(id); r == nil {
			s.BudgetReservations.Delete(id)
			problems = addStateProblem(problems, "budget_reservations."+id,
				"budget_reservations."+id+" must be an object, not null")
		}
	}
	for _, path := range s.GateDocuments.Keys() {
		if m, _ := s.GateDocuments.Get(path); m == nil {
			s.GateDocuments.Delete(path)
			at := "gate_documents." + path
			problems = addStateProblem(problems, at, at+" must be an object, not null")
		}
	}
	s.GateVotes, problems = dropNil(s.GateVotes, "gate_votes", problems)
	s.Overruled, problems = dropNil(s.Overruled, "overruled", problems)
	s.DelegationQueue, problems = dropNil(s.DelegationQueue, "delegation_queue", problems)
	s.CharterQueue, problems = dropNil(s.CharterQueue, "charter_queue", problems)
	s.CharterPlans, problems = dropNil(s.CharterPlans, "charter_plans", problems)
	s.Intents, problems = dropNil(s.Intents, "intents", problems)
	s.RepoDecisions, problems = dropNil(s.RepoDecisions, "repo_decisions", problems)
	if s.PendingDelegation != nil {
		s.PendingDelegation.Results, problems = dropNil(s.PendingDelegation.Results,
			"pending_delegation_review.delegation_results", problems)
	}
	return problems
}

func dropNil[T any](items []*T, path string, problems wire.Problems) ([]*T, wire.Problems) {
	keep := items[:0:0]
	for i, it := range items {
		if it == nil {
			field := fmt.Sprintf("%s[%d]", path, i)
			problems = addStateProblem(problems, field, field+" must be an object, not null")
			continue
		}
		keep = append(keep, it)
	}
	if len(keep) == len(items) {
		return items, problems
	}
	return keep, problems
}

// Clip shortens text from foreign documents for messages, at a character boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
