// Pipelines: the older minimal layout, and the canonical one once a file opts in.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// roleAware reports whether a PipelineSpec declares any member of the canonical layout, which makes
// all of them required (docs/monarchic.md#types).
func roleAware(spec *ojson.Object) bool {
	if spec.Has("objective") || spec.Has("project_key") {
		return true
	}
	return slices.ContainsFunc(spec.Objects("tasks"), func(t *ojson.Object) bool {
		return t.Has("role") || t.Has("goal") || t.Has("required_skills")
	})
}

func (j *judge) pipeline(o *ojson.Object, at string) {
	aware := roleAware(o)
	if aware {
		j.filled(o, at, "a role-aware pipeline", "version", "objective", "project_key")
	}
	g := graph{edges: map[string][]edge{}}
	tasks := ojson.Member(at, "tasks")
	if list, ok := o.Get("tasks"); ok && len(o.Array("tasks")) == 0 {
		if _, isList := list.([]any); isList {
			j.warn(tasks, "pipeline.empty", "the pipeline has no tasks")
		}
	}
	for i, v := range o.Array("tasks") {
		if t, ok := v.(*ojson.Object); ok {
			j.pipelineTask(t, ojson.Item(tasks, i), aware, &g)
		}
	}
	j.graph(g, "pipeline", "task")
}

func (j *judge) pipelineTask(t *ojson.Object, at string, aware bool, g *graph) {
	id, ok := textOf(t, "id")
	key := "id"
	if other, has := textOf(t, "task_id"); has {
		if ok && other != id {
			j.fail(ojson.Member(at, "task_id"), "alias.conflict", `"task_id" and "id" are the same member, and differ`)
		} else if !ok {
			id, key, ok = other, "task_id", true
		}
	}
	if ok && id != "" && key == "id" { // task_id is judged like every id
		j.safe(id, ojson.Member(at, key))
	}
	if aware {
		j.filled(t, at, "every task of a role-aware pipeline", "role", "goal")
		j.pipelineRole(t, at)
	} else if !t.Has("task") {
		j.fail(ojson.Member(at, "task"), "pipeline.task_body",
			`a task of a pipeline that is not role-aware needs a body in "task"`)
	}
	if !ok {
		return
	}
	if _, double := g.edges[id]; double {
		j.fail(ojson.Member(at, key), "pipeline.duplicate_task", fmt.Sprintf("there is another task %s", ojson.Shown(id)))
		return
	}
	g.ids = append(g.ids, id)
	g.edges[id] = j.waitsFor(t, ojson.Member(at, "depends_on"))
}

// waitsFor returns the edges that order a task after others. A message_route
// orders nothing: answers go back the same way.
func (j *judge) waitsFor(t *ojson.Object, at string) []edge {
	out := []edge{}
	seen := map[string]bool{}
	for i, v := range t.Array("depends_on") {
		to, kind, where := "", "depends_on", ojson.Item(at, i)
		switch v := v.(type) {
		case string:
			to = v
		case *ojson.Object:
			to, where = v.String("task_id"), ojson.Member(where, "task_id")
			if k, ok := textOf(v, "kind"); ok {
				kind = k
			}
		}
		if to == "" {
			continue
		}
		if seen[kind+" "+to] {
			j.fail(where, "pipeline.duplicate_dependency",
				fmt.Sprintf("the dependency %s is there twice", ojson.Shown(to)))
		}
		seen[kind+" "+to] = true
		if kind != "message_route" {
			out = append(out, edge{to, where})
		}
	}
	return out
}

// pipelineRole: a role outside the protocol's ten is legal with a role_id (docs/monarchic.md); a
// pipeline may name the project's own, so it is a warning.
func (j *judge) pipelineRole(t *ojson.Object, at string) {
	role, _ := textOf(t, "role")
	if id, _ := textOf(t, "role_id"); blank(role) || !blank(id) {
		return
	}
	known := []string{"product_owner", "project_manager", "dev", "qa", "reviewer", "security", "ops", "publisher",
		"researcher", "verification", "scribe"}
	if !slices.Contains(known, strings.ToLower(role)) {
		j.warn(ojson.Member(at, "role"), "role.unknown",
			fmt.Sprintf("%s is not a role of the protocol; name your own role with role_id", ojson.Shown(role)))
	}
}

// filled reports members that must be present and hold more than white space.
func (j *judge) filled(o *ojson.Object, at, whose string, names ...string) {
	for _, name := range names {
		v, ok := o.Get(name)
		s, isText := v.(string)
		switch {
		case !ok:
			j.fail(ojson.Member(at, name), "pipeline.role_aware", fmt.Sprintf("%s needs %s", whose, name))
		case isText && blank(s):
			j.fail(ojson.Member(at, name), "pipeline.role_aware", fmt.Sprintf("%s needs %s, which is blank", whose, name))
		}
	}
}
