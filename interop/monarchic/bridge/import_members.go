// The members that every form of a task shares, and the edges between tasks.

package bridge

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	codec "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// get returns a member by its canonical name or its lowerCamelCase alias; null
// counts as absent.
func get(o *ojson.Object, key string) (ojson.Value, bool) {
	v, ok := o.Get(key)
	if !ok {
		if alias := codec.LowerCamel(key); alias != key {
			v, ok = o.Get(alias)
		}
	}
	return v, ok && v != nil
}

func has(o *ojson.Object, key string) bool { _, ok := get(o, key); return ok }

func list(o *ojson.Object, key string) ([]any, bool) {
	v, _ := get(o, key)
	items, ok := v.([]any)
	return items, ok
}

func blank(v ojson.Value) bool {
	s, ok := v.(string)
	return !ok || strings.TrimSpace(s) == ""
}

func snake(key string) string {
	var b strings.Builder
	for _, c := range key {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (r *reader) text(o *ojson.Object, at, key string, required bool) string {
	v, ok := get(o, key)
	s, isText := v.(string)
	switch {
	case ok && !isText:
		r.bad.add(CodePipelineInvalid, pointer(at, key), ojson.Shown(v), "%s must be text.", key)
	case required && strings.TrimSpace(s) == "":
		r.bad.add(CodePipelineInvalid, pointer(at, key), "", "%s must not be blank.", key)
	}
	return s
}

// common reads what a task is about from o: role, goal, dependencies, gates. Members without
// meaning for the run itself are passed to the agent, or kept and noted.
func (r *reader) common(t *Task, o *ojson.Object, at string) {
	if t.Told == nil {
		t.Told = &ojson.Object{}
	}
	r.role(t, o, at)
	if goal := r.text(o, at, "goal", false); goal != "" && t.Goal == "" {
		t.Goal = goal
	}
	r.edges(t, o, at, "depends_on")
	r.gates(t, o, at)
	for key, v := range o.All() {
		switch k := snake(key); k {
		case "version", "id", "task_id", "step_id", "role", "role_id", "goal", "depends_on", "gates_required",
			"task_template", "task_milestone", "task_artifact", "task_format":
		case "task":
			if _, ok := v.(string); !ok && has(o, "goal") {
				t.Told.Set(k, v)
			}
		case "run_context", "extensions":
			r.plan.note(pointer(at, key),
				k+" is kept in the record and has no effect: runtimes are set in agentxchain.json")
		case "required_skills":
			t.Told.Set(k, v)
			r.skills(v, pointer(at, key))
		case "delivery_contract":
			t.Told.Set(k, v)
			r.contract(t, v, pointer(at, key))
		case "constraints":
			t.Told.Set(k, v)
			if c, ok := v.(*ojson.Object); ok {
				t.Human = t.Human || c.Bool("requires_human_review")
			}
			r.plan.note(pointer(at, key), "the agent is told the constraints; the run does not enforce them")
		case "requires_human_review":
			t.Human = t.Human || v == true
		default:
			if v != nil {
				t.Told.Set(k, v)
			}
		}
	}
}

// role reads role (token, protobuf name or number) and role_id.
func (r *reader) role(t *Task, o *ojson.Object, at string) {
	if id := r.text(o, at, "role_id", false); id != "" && t.RoleID == "" {
		t.RoleID = strings.TrimSpace(id)
	}
	v, ok := get(o, "role")
	if !ok || t.Role != "" {
		return
	}
	switch v := v.(type) {
	case string:
		t.Role = strings.TrimSpace(v)
		if up := strings.ToUpper(t.Role); up == t.Role {
			t.Role = strings.ToLower(t.Role)
		}
		if t.Role = strings.TrimPrefix(t.Role, "agent_role_"); t.Role == "unspecified" {
			t.Role = ""
		}
		if t.Role == "scribe" {
			t.Role = "publisher"
		}
	case ojson.Number:
		n, ok := v.Int64()
		if !ok || n < 0 || int(n) > len(agentRoles()) {
			r.bad.add(wire.CodeUnknownRole, pointer(at, "role"), string(v), "%s is the number of no role.", v)
			return
		}
		if n > 0 {
			t.Role = agentRoles()[n-1]
		}
	default:
		r.bad.add(CodePipelineInvalid, pointer(at, "role"), ojson.Shown(v), "role must be text.")
	}
}

// agentRoles returns the tokens of AgentRole by number, from 1 (docs/monarchic.md#types).
func agentRoles() []string { return portable.RoleDev.Set().Tokens[1:] }

// edges reads a list of ids or TaskDependency objects.
func (r *reader) edges(t *Task, o *ojson.Object, at, key string) {
	v, ok := get(o, key)
	if !ok {
		return
	}
	items, isList := v.([]any)
	if !isList {
		r.bad.add(CodePipelineInvalid, pointer(at, key), ojson.Shown(v), "%s must be an array.", key)
		return
	}
	for i, item := range items {
		at := pointer(at, key, i)
		switch item := item.(type) {
		case string:
			r.edge(t, at, item, nil)
		case *ojson.Object:
			r.edge(t, at, r.text(item, at, "task_id", true), item)
		default:
			r.bad.add(CodePipelineInvalid, at, ojson.Shown(item), "a dependency is an id or an object with task_id.")
		}
	}
}

// edge adds a dependency. All kinds that order work are the same for the run; a message route does
// not order work.
func (r *reader) edge(t *Task, at, id string, o *ojson.Object) {
	switch kind := cmp.Or(o.String("kind"), "depends_on"); kind {
	case "depends_on":
	case "handoff", "review", "artifact_flow":
		r.plan.note(at, kind+" is taken as an order of work; the task finds the work of the others in the work tree")
	case "message_route":
		r.bad.add(CodeUnrepresentable, at, kind,
			"a message route between tasks cannot be planned: turns are sent messages while the run goes on (git agentxchain monarchic message send). Take the edge out, or make it depends_on if it is an order of work.")
		return
	default:
		r.bad.add(CodeUnrepresentable, at, kind,
			"an edge of kind %s cannot be carried out; the kinds are depends_on, handoff, review and artifact_flow.",
			ojson.Shown(kind))
		return
	}
	if v, ok := get(o, "required"); ok && v == false {
		r.plan.note(at, "a dependency that is not required is waited for like any other")
	}
	if slices.Contains(t.DependsOn, id) {
		r.plan.note(at, "a dependency that is named twice counts once")
		return
	}
	t.DependsOn = append(t.DependsOn, id)
}

func (r *reader) gates(t *Task, o *ojson.Object, at string) {
	v, ok := get(o, "gates_required")
	if !ok {
		return
	}
	items, isList := v.([]any)
	if !isList {
		r.bad.add(CodePipelineInvalid, pointer(at, "gates_required"), ojson.Shown(v),
			"gates_required must be an array of names.")
	}
	for i, item := range items {
		name, _ := item.(string)
		if name = strings.TrimSpace(name); name == "" || len(name) > maxGateName ||
			strings.ContainsFunc(name, unicode.IsControl) {
			r.bad.add(CodePipelineInvalid, pointer(at, "gates_required", i), ojson.Shown(item),
				"a gate needs a name of at most %d bytes.", maxGateName)
		} else if !slices.Contains(t.Gates, name) {
			t.Gates = append(t.Gates, name)
		}
	}
}

const maxGateName = 100

// skills checks required_skills: none blank, no duplicates (docs/monarchic.md#types).
func (r *reader) skills(v ojson.Value, at string) {
	items, ok := v.([]any)
	if !ok {
		r.bad.add(CodePipelineInvalid, at, ojson.Shown(v), "required_skills must be an array.")
		return
	}
	var seen []string
	for i, item := range items {
		id, _ := item.(string)
		if o, ok := item.(*ojson.Object); ok {
			id = o.String("id")
		}
		switch id = strings.TrimSpace(id); {
		case id == "":
			r.bad.add(CodePipelineInvalid, pointer(at, i), ojson.Shown(item), "a skill needs an id.")
		case slices.Contains(seen, id):
			r.bad.add(CodePipelineInvalid, pointer(at, i), id, "skill %s is named twice.", ojson.Shown(id))
		}
		seen = append(seen, id)
	}
	if len(items) > 0 {
		r.plan.note(at, "the agent is told the required skills; the run does not check that it has them")
	}
}

// contract reads the definition of done, which the turn has to answer for, and the request for a
// person's review.
func (r *reader) contract(t *Task, v ojson.Value, at string) {
	o, _ := v.(*ojson.Object)
	t.Contract = append(t.Contract, o.Strings("definition_of_done")...)
	t.Human = t.Human || o.String("review_policy") == "human_required"
	if len(o.Array("required_checks")) > 0 {
		r.plan.note(pointer(at, "required_checks"),
			"the agent is told the required checks; name them in gates_required to make the phase wait for them")
	}
}

// graph checks the tasks against each other: ids, dependencies, cycles.
func (r *reader) graph() {
	p := r.plan
	if len(p.Tasks) == 0 && len(r.bad.list) == 0 {
		r.bad.add(CodePipelineInvalid, "", "", "the plan has no tasks.")
	}
	if p.ID != "" && !wire.SafeID(p.ID) {
		at := "/plan_id"
		switch p.Kind {
		case KindPipeline, KindPipelineLegacy, KindCampaign:
			at = "/pipeline_id"
		case KindTask:
			at = "/task_id"
		}
		r.bad.add(CodePipelineInvalid, at, p.ID,
			"the id of the plan cannot be used: it must have at most 200 bytes and no /, \\ or control characters.")
	}
	byID := make(map[string]*Task, len(p.Tasks))
	for _, t := range p.Tasks {
		switch {
		case t.ID == "":
		case !wire.SafeID(t.ID):
			r.bad.add(CodePipelineInvalid, t.Pointer, t.ID,
				"the id %s cannot be used: it must have at most 200 bytes and no /, \\ or control characters.",
				ojson.Shown(t.ID))
		case byID[t.ID] != nil:
			r.bad.add(CodePipelineInvalid, t.Pointer, t.ID, "the id %s is that of %s already.", ojson.Shown(t.ID),
				byID[t.ID].Pointer)
		}
		byID[t.ID] = t
	}
	for _, t := range p.Tasks {
		for _, d := range t.DependsOn {
			if byID[d] == nil {
				r.bad.add(CodePipelineInvalid, t.Pointer, d, "%s depends on %s, which is not a task of the plan.",
					t.ID, ojson.Shown(d))
			}
		}
	}
	if circle := findCircle(p.Tasks, byID); circle != nil {
		r.bad.add(CodePipelineInvalid, byID[circle[0]].Pointer, circle[0],
			"the tasks depend on each other in a circle: %s.", strings.Join(circle, " -> "))
	}
}

// findCircle returns the ids of a cycle of dependencies, the first one repeated at the end, or nil.
func findCircle(tasks []*Task, byID map[string]*Task) []string {
	const unseen, open, done = 0, 1, 2
	state := make(map[*Task]int, len(tasks))
	type frame struct {
		t    *Task
		next int
	}
	for _, root := range tasks {
		if state[root] != unseen {
			continue
		}
		path := []frame{{root, 0}}
		state[root] = open
		for len(path) > 0 {
			f := &path[len(path)-1]
			if f.next == len(f.t.DependsOn) {
				state[f.t] = done
				path = path[:len(path)-1]
				continue
			}
			d := byID[f.t.DependsOn[f.next]]
			f.next++
			switch {
			case d == nil || state[d] == done:
			case state[d] == open:
				circle := []string{}
				for _, p := range slices.Backward(path) {
					circle = append(circle, p.t.ID)
					if p.t == d {
						break
					}
				}
				slices.Reverse(circle)
				return append(circle, circle[0])
			default:
				state[d] = open
				path = append(path, frame{d, 0})
			}
		}
	}
	return nil
}
