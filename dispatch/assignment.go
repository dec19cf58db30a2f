// ASSIGNMENT.json: the turn's contract as data (docs/bundles.md#what-is-in-it).

package dispatch

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// reservedPaths returns the files that no actor may change (docs/spec/results.md#artifact).
func reservedPaths() []string {
	return []string{string(wire.DocState), wire.LedgerHistory.Path(), wire.LedgerDecisions.Path(),
		".agentxchain/lock.json"}
}

// assignment returns the document with its members in wire order.
func (v *view) assignment() *ojson.Object {
	t := v.Turn
	o := ojson.NewObject(
		"run_id", v.State.RunID,
		"turn_id", t.TurnID,
		"phase", v.State.Phase,
		"role", v.roleID,
		"runtime_id", t.RuntimeID,
		"write_authority", v.role.WriteAuthority,
		"accepted_integration_ref", v.State.AcceptedIntegrationRef,
		"staging_result_path", v.staging,
		"reserved_paths", reservedPaths(),
		"allowed_next_roles", v.allowedNext(),
		"attempt", max(t.Attempt, 1),
	)
	if t.DeadlineAt != "" {
		o.Set("deadline_at", t.DeadlineAt)
	}
	o.Set("assigned_sequence", sequence(t))
	o.Set("budget_reservation_usd", nil)
	if r, ok := v.State.BudgetReservations.Get(t.TurnID); ok {
		if usd, ok := r.Float("reserved_usd"); ok {
			o.Set("budget_reservation_usd", usd)
		}
	}
	o.Set("active_siblings", v.siblings())
	if c := t.IntakeContext; c != nil {
		d := pick(c, member{"intent_id", nil}, member{"event_id", nil}, member{"source", nil}, member{"category", nil},
			member{"charter", nil}, member{"acceptance_contract", []any{}}, member{"phase_scope", nil})
		for _, more := range []string{"idle_expansion", "charter_id", "plan_id", "task"} {
			if val, ok := c.Get(more); ok {
				d.Set(more, ojson.CloneValue(val))
			}
		}
		o.Set("intake_context", d)
	}
	if c := t.ConflictContext; c != nil {
		d := pick(c, member{"prior_attempt_turn_id", nil}, member{"prior_attempt_number", nil},
			member{"conflict_type", "file_conflict"}, member{"conflicting_files", []any{}},
			member{"accepted_turns_since", []any{}}, member{"forward_revision_files", []any{}},
			member{"forward_revision_turns_since", []any{}}, member{"non_conflicting_files_preserved", []any{}},
			member{"guidance", nil})
		o.Set("conflict_context", d)
	}
	if c := t.DelegationContext; c != nil {
		o.Set("delegation_context", pick(c, member{"delegation_id", nil}, member{"parent_turn_id", nil},
			member{"parent_role", nil}, member{"charter", nil}, member{"acceptance_contract", []any{}},
			member{"required_decision_ids", []any{}}))
	}
	if c := t.DelegationReview; c != nil {
		var results []*ojson.Object
		for _, r := range c.Objects("results") {
			results = append(results, pick(r, member{"delegation_id", nil}, member{"child_turn_id", nil},
				member{"to_role", nil}, member{"charter", nil}, member{"acceptance_contract", []any{}},
				member{"required_decision_ids", []any{}}, member{"satisfied_decision_ids", []any{}},
				member{"missing_decision_ids", []any{}}, member{"summary", nil}, member{"status", nil},
				member{"files_changed", []any{}}, member{"verification", nil}))
		}
		d := pick(c, member{"parent_turn_id", nil})
		d.Set("results", results)
		o.Set("delegation_review", d)
	}
	if ws := v.advisories(); len(ws) > 0 {
		o.Set("advisory_warnings", warningRows(ws))
	}
	if text, ok := v.Prompts[v.roleID]; ok {
		path, _ := v.Config.Prompts.Get(v.roleID)
		o.Set("role_prompt", ojson.NewObject("path", path, "sha256", InfoOf([]byte(text)).SHA256))
	}
	return o
}

// member is a name with its default for a source that lacks it.
type member struct {
	name     string
	fallback ojson.Value
}

// pick copies the named members of o in the given order. A null counts as absent, as readers of the wire cannot
// distinguish them.
func pick(o *ojson.Object, members ...member) *ojson.Object {
	out := &ojson.Object{}
	for _, m := range members {
		val, _ := o.Get(m.name)
		if val == nil {
			val = m.fallback
		}
		out.Set(m.name, ojson.CloneValue(val))
	}
	return out
}

// sequence returns the turn's number, null for turns of writers that keep none.
func sequence(t *run.Turn) ojson.Value {
	if t.AssignedSequence <= 0 {
		return nil
	}
	return ojson.Int(t.AssignedSequence)
}

// siblings returns the other active turns.
func (v *view) siblings() []*ojson.Object {
	var out []*ojson.Object
	for id, s := range v.State.ActiveTurns.All() {
		if s == nil || id == v.Turn.TurnID {
			continue
		}
		o := ojson.NewObject("turn_id", id, "role", roleOf(s), "status", s.Status, "assigned_sequence", sequence(s))
		if scope := v.scope(roleOf(s)); len(scope) > 0 {
			o.Set("declared_file_scope", scope)
		}
		out = append(out, o)
	}
	return out
}

// scope returns the role's declared_file_scope. The configuration has this member only as advice, so it is read
// from the document as written.
func (v *view) scope(role string) []string {
	return v.Config.Raw.Object("roles").Object(role).Strings("declared_file_scope")
}

// advisories returns the warnings known before rendering: the caller's, and overlaps with the declared scopes of
// concurrent roles.
func (v *view) advisories() []Warning {
	return append(v.overlaps(v.Turn), v.Warnings...)
}

// warnings returns all warnings of the bundle.
func (v *view) warnings() []Warning {
	ws := v.advisories()
	if path, ok := v.Config.Prompts.Get(v.roleID); ok && path != "" {
		if _, ok := v.Prompts[v.roleID]; !ok {
			why := v.PromptProblem
			if why == "" {
				why = "the file could not be read"
			}
			ws = append(ws, Warning{WarningPrompt, "the instructions of role " + v.roleID + " at " + line(path) +
				" are left out of the prompt: " + line(why)})
		}
	}
	return ws
}

// overlaps warns about siblings of t whose role declares a scope that overlaps the scope of t's role.
func (v *view) overlaps(t *run.Turn) []Warning {
	own := v.scope(roleOf(t))
	var out []Warning
	for id, s := range v.State.ActiveTurns.All() {
		if s == nil || id == t.TurnID {
			continue
		}
		for _, theirs := range v.scope(roleOf(s)) {
			if mine, ok := meets(own, theirs); ok {
				out = append(out, Warning{WarningScopeOverlap, "role " + roleOf(t) + " (scope " + line(mine) +
					") and role " + roleOf(s) + " (turn " + id + ", scope " + line(theirs) +
					") are active together and may edit the same files"})
				break
			}
		}
	}
	return out
}

// meets returns the first entry of own that covers other or lies inside it. Scopes are compared as directories: a
// trailing wildcard means everything below.
func meets(own []string, other string) (string, bool) {
	o := scopeDir(other)
	for _, m := range own {
		d := scopeDir(m)
		if d == o || d == "" || o == "" || strings.HasPrefix(d, o+"/") || strings.HasPrefix(o, d+"/") {
			return m, true
		}
	}
	return "", false
}

func scopeDir(s string) string {
	if i := strings.IndexAny(s, "*?["); i >= 0 {
		s = s[:i]
		// For a wildcard inside a segment, only its directory remains.
		s = s[:strings.LastIndexByte(s, '/')+1]
	}
	return strings.Trim(strings.TrimPrefix(s, "./"), "/")
}

func warningRows(ws []Warning) []*ojson.Object {
	return ojson.List(ws, func(w Warning) *ojson.Object {
		return ojson.NewObject("code", w.Code, "message", w.Message)
	})
}
