// Which type is this document?

package check

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Detection is what was found out about the type of a document.
type Detection struct {
	Type    Type   // the type it is judged as; "" when none is near
	Matched []Type // every type whose schema it satisfies, of those that were tried
	Nearest bool   // nothing matched; Type is the one it resembles most
}

// ambiguous reports whether several types matched and nothing decides.
func (d Detection) ambiguous() bool { return d.Type == "" && len(d.Matched) > 1 }

// detect is Detect; it also returns the reading of the document, if any.
func detect(v ojson.Value, o Options) (Detection, *reading) {
	switch v := v.(type) {
	case string:
		var d Detection
		var first *reading
		for _, t := range []Type{
			"plan_status", "durable_authority/run_lifecycle_state", "durable_authority/step_lifecycle_state",
			"durable_authority/lease_rejection_reason", "agent_role",
		} {
			if r, err := read(t, v, o); err == nil && r.err == nil {
				d.Matched = append(d.Matched, t)
				if first == nil {
					d.Type, first = t, r
				}
			}
		}
		return d, first
	case *ojson.Object:
		return detectObject(v, o)
	}
	return Detection{}, nil
}

func detectObject(v *ojson.Object, o Options) (Detection, *reading) {
	readings := map[Type]*reading{}
	portable := matching(indexTypes(), v, o, readings)
	if len(portable) > 1 {
		return Detection{Matched: portable}, nil
	}
	if len(portable) == 0 {
		portable = resembling(matching(otherPortableTypes(), v, o, readings), v)
	}
	strict := resembling(matching(strictTypes(), v, o, readings), v)
	all := slices.Concat(portable, strict)
	switch {
	case len(all) == 0:
		t := nearest(v)
		return Detection{Type: t, Nearest: t != ""}, nil
	case len(all) == 1:
		return Detection{Type: all[0], Matched: all}, readings[all[0]]
	case len(portable) == 1 && len(strict) > 0:
		// Both families have a Task, a TaskMessage and a pipeline. The type that knows more of the
		// members wins, then the one with fewer faults, then the portable one.
		best := slices.MinFunc(all, func(a, b Type) int {
			if d := unknown(a, v) - unknown(b, v); d != 0 {
				return d
			}
			return min(1, faults(a, v, o)) - min(1, faults(b, v, o))
		})
		return Detection{Type: best, Matched: all}, readings[best]
	}
	return Detection{Matched: all}, nil
}

// matching returns the types of a list that an object satisfies.
func matching(list []Type, v *ojson.Object, o Options, readings map[Type]*reading) []Type {
	var out []Type
	for _, t := range list {
		if !promising(t, v) {
			continue
		}
		if r, err := read(t, v, o); err == nil && r.err == nil {
			out = append(out, t)
			readings[t] = r
		}
	}
	return out
}

// promising reports whether it is worth asking the library: the members that a type requires are
// present, and those that mark a type that requires next to nothing.
func promising(t Type, v *ojson.Object) bool {
	p, err := schemas().root(t)
	if err != nil || p.Type != "object" && t != "agent_role" {
		return false
	}
	for _, name := range p.Required {
		if !present(t, v, name) {
			return false
		}
	}
	var marks []string
	switch t {
	case "agent_role":
		return v.Len() == 1 && v.Has("role")
	case "run_outcome":
		marks = []string{"objective_decision", "cost_decision", "risk_decision", "final_decision"}
	case "client_boundary/task":
		// A Task that both families could read is a portable one, and a faulty portable one must
		// not pass as a strict one.
		marks = []string{"interaction_mode", "interactive", "required_mcps"}
	case "pipeline_task":
		marks = []string{"task", "goal", "depends_on", "required_skills", "gates_required"}
	case "task_dependency":
		marks = []string{"kind", "required", "description"}
	case "skill_ref":
		marks = []string{"required", "purpose"}
	case "role_definition":
		marks = []string{"capabilities", "required_skills", "display_name", "description", "role"}
	case "resolved_role_bundle":
		marks = []string{"resolved_skills", "template_path", "role_provenance"}
	default:
		return true
	}
	return slices.ContainsFunc(marks, func(name string) bool { return present(t, v, name) })
}

// present reports whether an object has a member of a type, in any spelling.
func present(t Type, v *ojson.Object, name string) bool {
	switch {
	case v.Has(name):
		return true
	case t.Strict():
		early, ms := strings.CutSuffix(name, "_ms")
		return ms && isEarly(early) && strings.HasPrefix(string(t), "durable_authority/") && v.Has(early)
	}
	c := wire.LowerCamel(name)
	return c != name && v.Has(c)
}

// faults counts the faults of a document as a type.
func faults(t Type, v ojson.Value, o Options) int {
	r, err := read(t, v, o)
	if err != nil {
		return 1
	}
	return r.judge().errors()
}

// unknown counts the members of an object that a type does not describe.
func unknown(t Type, v *ojson.Object) int {
	p, err := schemas().root(t)
	if err != nil {
		return v.Len()
	}
	n := 0
	for _, k := range v.Keys() {
		if _, ok := p.Properties[k]; !ok && meantBy(p, k) == "" {
			n++
		}
	}
	return n
}

// likeness measures how much an object resembles a type: by the required members it has and lacks,
// then by its known and unknown members. have is the number of required members present.
func likeness(t Type, v *ojson.Object) (score, have int) {
	p, err := schemas().root(t)
	if err != nil {
		return 0, 0
	}
	required := p.Required
	switch t {
	case "pipeline_task":
		required = []string{"id"} // or task_id, as its schema says in anyOf
	case "agent_role":
		if v.Len() == 1 && v.Has("role") {
			return 5, 1
		}
	case "client_boundary/campaign_pipeline_spec":
		if !isCampaign(v) {
			return 0, 0
		}
	}
	for _, name := range required {
		if present(t, v, name) {
			have++
		}
	}
	strange := unknown(t, v)
	return 4*have - 2*(len(required)-have) + (v.Len() - strange - have) - strange, have
}

// isCampaign distinguishes a campaign's pipeline from a PipelineSpec, with which it shares
// everything that a PipelineSpec has at the top.
func isCampaign(v *ojson.Object) bool {
	if slices.ContainsFunc([]string{"continue_on_error", "gate_policy", "connections"}, v.Has) {
		return true
	}
	return slices.ContainsFunc(v.Objects("tasks"), func(t *ojson.Object) bool { return t.Has("task_artifact") })
}

// nearest returns the type that an object matching none resembles most; "" when the object has
// neither two of the members that a type requires nor one of them and only known members besides.
func nearest(v *ojson.Object) Type {
	var best Type
	most := 0
	if v.Len() == 0 {
		return ""
	}
	for _, t := range Types() {
		score, have := likeness(t, v)
		if score > most && (have >= 2 || have == 1 && v.Len() >= 2 && unknown(t, v) == 0) {
			best, most = t, score
		}
	}
	return best
}

// resembling keeps those types that an object resembles no less than any other type: a faulty Task
// is not a PipelineTask because those allow anything.
func resembling(list []Type, v *ojson.Object) []Type {
	if len(list) == 0 {
		return nil
	}
	most := 0
	for _, t := range Types() {
		score, _ := likeness(t, v)
		most = max(most, score)
	}
	return slices.DeleteFunc(list, func(t Type) bool {
		score, _ := likeness(t, v)
		return score < most
	})
}
