// Stage A: the shape of a turn result (docs/spec/results.md#the-five-stages).

package result

import (
	"math"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	maxArrayItems  = 10_000
	maxStringBytes = 1 << 20
)

// checkBounds refuses arrays and strings that no turn needs and that would slow every later step.
func checkBounds(r *stageReport, doc *ojson.Object) {
	var walk func(path string, v ojson.Value)
	walk = func(path string, v ojson.Value) {
		switch v := v.(type) {
		case string:
			if len(v) > maxStringBytes {
				r.errorf(ProblemLimit, path, "", "%s has %d bytes of text; at most %d are accepted", path, len(v),
					maxStringBytes)
			}
		case []any:
			if len(v) > maxArrayItems {
				r.errorf(ProblemLimit, path, "", "%s has %d items; at most %d are accepted", path, len(v),
					maxArrayItems)
				return
			}
			for i := range v {
				switch v[i].(type) {
				case string, []any, *ojson.Object:
					walk(indexed(path, i), v[i])
				}
			}
		case *ojson.Object:
			for k, e := range v.All() {
				if len(k) > maxStringBytes {
					r.errorf(ProblemLimit, path, "", "%s has a member name of %d bytes; at most %d are accepted", path,
						len(k), maxStringBytes)
					return
				}
				sub := wire.Cut(k, 80)
				if path != "" {
					sub = path + "." + sub
				}
				walk(sub, e)
			}
		}
	}
	walk("", doc)
}

// requiredFields returns the required fields in the order of reporting.
func requiredFields() []string {
	return []string{"schema_version", "run_id", "turn_id", "role", "runtime_id", "status", "summary", "decisions",
		"objections", "files_changed", "verification", "artifact", "proposed_next_role"}
}

func isResultStatus(s string) bool {
	return slices.Contains([]string{wire.ResultCompleted, wire.ResultBlocked, wire.ResultNeedsHuman,
		wire.ResultFailed}, s)
}

// checkSchema reports every finding of stage A in document order of the schema. When required members are missing,
// it reports only those.
func checkSchema(r *stageReport, doc *ojson.Object) {
	for _, f := range requiredFields() {
		if !doc.Has(f) {
			r.errorf(ProblemMissingField, f, "", "required member %s is missing", f)
		}
	}
	if len(r.problems) > 0 {
		return
	}
	s := &schemaCheck{r}

	if v := doc.Value("schema_version"); v != "1.0" {
		r.errorf(ProblemResultVersion, "schema_version", "", `schema_version must be "1.0", not %s`, wire.Shown(v))
	}
	for _, f := range []string{"run_id", "turn_id"} {
		s.text(f, doc.Value(f))
	}
	if v := doc.Value("role"); !isRole(v) {
		r.errorf(ProblemRoleID, "role", "", "role must consist of a-z, 0-9, _ and -, not %s", wire.Shown(v))
	}
	s.text("runtime_id", doc.Value("runtime_id"))
	s.enum("status", doc.Value("status"), wire.ResultCompleted, wire.ResultBlocked, wire.ResultNeedsHuman,
		wire.ResultFailed)
	s.text("summary", doc.Value("summary"))
	if v := doc.Value("proposed_next_role"); !isRole(v) && !isPlaceholder(v) {
		r.errorf(ProblemRoleID, "proposed_next_role", "",
			"proposed_next_role must be human or consist of a-z, 0-9, _ and -, not %s", wire.Shown(v))
	}

	s.each("decisions", doc.Value("decisions"), s.decision)
	s.each("objections", doc.Value("objections"), s.objection)
	s.strings("files_changed", doc.Value("files_changed"))
	if doc.Has("artifacts_created") {
		s.strings("artifacts_created", doc.Value("artifacts_created"))
	}
	s.typed("verification", doc.Value("verification"), "status", "pass", "fail", "skipped")
	s.typed("artifact", doc.Value("artifact"), "type", "workspace", "patch", "commit", "review")

	s.nullable(doc, "phase_transition_request", "a string or null", isString)
	s.nullable(doc, "run_completion_request", "true, false or null", func(v ojson.Value) bool {
		_, ok := v.(bool)
		return ok
	})
	s.nullable(doc, "needs_human_reason", "a string or null", isString)
	s.cost(doc.Value("cost"))
	if doc.Has("delegations") {
		s.each("delegations", doc.Value("delegations"), s.delegation)
	}
	s.placeholders(doc)
}

func isRole(v ojson.Value) bool { s, ok := v.(string); return ok && config.IsID(s) }

// schemaCheck has the checks of single values.
type schemaCheck struct{ r *stageReport }

func (s *schemaCheck) text(field string, v ojson.Value) {
	if !nonBlank(v) {
		s.r.errorf(ProblemEmpty, field, "", "%s must be a string that is not blank", field)
	}
}

func (s *schemaCheck) enum(field string, v ojson.Value, allowed ...string) {
	if got, ok := v.(string); !ok || !slices.Contains(allowed, got) {
		s.r.errorf(ProblemEnum, field, "", "%s must be one of %s, not %s", field, strings.Join(allowed, ", "),
			wire.Shown(v))
	}
}

// each checks an array of objects.
func (s *schemaCheck) each(field string, v ojson.Value, check func(string, *ojson.Object)) {
	items, ok := v.([]any)
	if !ok {
		s.r.errorf(ProblemType, field, "", "%s must be an array, not %s", field, ojson.TypeName(v))
		return
	}
	for i, item := range items {
		if o, ok := item.(*ojson.Object); ok {
			check(indexed(field, i), o)
		} else {
			s.r.errorf(ProblemType, indexed(field, i), "", "%s must be an object, not %s", indexed(field, i),
				ojson.TypeName(item))
		}
	}
}

func (s *schemaCheck) strings(field string, v ojson.Value) {
	items, ok := v.([]any)
	if !ok {
		s.r.errorf(ProblemType, field, "", "%s must be an array, not %s", field, ojson.TypeName(v))
		return
	}
	for i, item := range items {
		if _, ok := item.(string); !ok {
			s.r.errorf(ProblemType, indexed(field, i), "", "%s must be a string, not %s", indexed(field, i),
				ojson.TypeName(item))
		}
	}
}

// typed checks an object with one required enum member.
func (s *schemaCheck) typed(field string, v ojson.Value, member string, allowed ...string) {
	o, ok := v.(*ojson.Object)
	if !ok {
		s.r.errorf(ProblemType, field, "", "%s must be an object, not %s", field, ojson.TypeName(v))
		return
	}
	kind, _ := o.Get(member)
	if falsy(kind) {
		s.r.errorf(ProblemEmpty, field+"."+member, "", "%s.%s is required: one of %s", field, member,
			strings.Join(allowed, ", "))
		return
	}
	s.enum(field+"."+member, kind, allowed...)
}

func (s *schemaCheck) nullable(doc *ojson.Object, field, want string, ok func(ojson.Value) bool) {
	if v, _ := doc.Get(field); v != nil && !ok(v) {
		s.r.errorf(ProblemType, field, "", "%s must be %s, not %s", field, want, ojson.TypeName(v))
	}
}

// cost also checks the amounts: a negative one would give budget back
// (docs/compatibility.md#where-we-differ-on-purpose).
func (s *schemaCheck) cost(v ojson.Value) {
	if v == nil {
		return
	}
	cost, ok := v.(*ojson.Object)
	if !ok {
		s.r.errorf(ProblemType, "cost", "", "cost must be an object or null, not %s", ojson.TypeName(v))
		return
	}
	for _, m := range []string{"input_tokens", "output_tokens"} {
		v, _ := cost.Get(m)
		if n, isNumber := v.(ojson.Number); v != nil {
			if i, ok := n.Int64(); !isNumber || !ok || i < 0 {
				s.r.errorf(ProblemCost, "cost."+m, "", "cost.%s must be an integer of at least 0, not %s", m,
					wire.Shown(v))
			}
		}
	}
	for _, m := range []string{"usd", "total_usd"} {
		v, _ := cost.Get(m)
		if n, isNumber := v.(ojson.Number); v != nil {
			if f, ok := n.Float64(); !isNumber || !ok || f < 0 || math.IsNaN(f) {
				s.r.errorf(ProblemCost, "cost."+m, "", "cost.%s must be an amount in US dollars of at least 0, not %s",
					m, wire.Shown(v))
			}
		}
	}
}

// placeholders finds template slots that were never filled in.
func (s *schemaCheck) placeholders(doc *ojson.Object) {
	check := func(field string, v ojson.Value) {
		if isPlaceholder(v) {
			s.r.errorf(ProblemPlaceholder, field, "", "%s still holds the template's placeholder %s", field,
				wire.Shown(v))
		}
	}
	members := func(field string, items []any, names ...string) {
		for i, item := range items {
			o, _ := item.(*ojson.Object)
			for _, name := range names {
				check(indexed(field, i)+"."+name, o.Value(name))
			}
		}
	}
	items := func(field string, items []any) {
		for i, item := range items {
			check(indexed(field, i), item)
		}
	}
	for _, f := range []string{"summary", "proposed_next_role"} {
		check(f, doc.Value(f))
	}
	members("decisions", doc.Array("decisions"), "statement", "rationale")
	members("objections", doc.Array("objections"), "against_turn_id", "statement")
	items("files_changed", doc.Array("files_changed"))
	v := doc.Object("verification")
	items("verification.commands", v.Array("commands"))
	check("verification.evidence_summary", v.Value("evidence_summary"))
	members("verification.machine_evidence", v.Array("machine_evidence"), "command")
}
