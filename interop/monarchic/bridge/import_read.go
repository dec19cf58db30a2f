// Reading a plan: pipeline, portable plan, strict plan or a single task into one graph.

package bridge

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	codec "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// reader reads one document. Members are found by their canonical name or its
// lowerCamelCase alias (docs/monarchic.md).
type reader struct {
	plan  *Plan
	bad   faults
	files Files
}

// Files reads a file that a plan names, by its path with slashes. The error fs.ErrNotExist says
// that there is none. nil has no files.
type Files func(name string) ([]byte, error)

const readHint = "git agentxchain monarchic validate FILE shows every finding"

// ReadPlan reads a PipelineSpec (legacy or role-aware), a Plan (portable or strict) or a Task from JSON; for the
// whole output of `monarchic export --type all` it reads the plan in it. It checks the document against the
// protocol's schemas and rules first (package check). It reads a pipeline whose tasks are files through files.
// Errors: invalid_json, pipeline_invalid, plan_unrepresentable, unsupported_version; each fault is a problem whose
// field is its JSON pointer.
func ReadPlan(data []byte, files Files) (*Plan, *wire.Error) {
	v, err := ojson.DecodeLimited([]byte(strings.TrimPrefix(string(data), "\ufeff")), codec.Limits())
	if err != nil {
		e := &wire.Error{
			Code:    wire.CodeInvalidJSON,
			Message: "The plan is not one JSON document: " + err.Error() + ".",
		}
		if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
			e.Details = ojson.NewObject("line", syntax.Line, "offset", syntax.Offset)
		}
		return nil, e
	}
	doc, ok := v.(*ojson.Object)
	if !ok {
		return nil, &wire.Error{
			Code:    CodePipelineInvalid,
			Message: "A plan is a JSON object, not " + ojson.TypeName(v) + ".",
			Hint:    readHint,
		}
	}
	if inner := doc.Object("plan"); has(inner, "steps") && !has(doc, "pipeline_id") && !has(doc, "plan_id") &&
		!has(doc, "task_id") {
		doc = inner
	}
	r := &reader{plan: &Plan{Rest: &ojson.Object{}}, files: files}
	var shape string // the kind of document; an exported plan says what it once was
	switch {
	case campaign(doc):
		r.campaign(doc)
		shape = KindCampaign
	case has(doc, "tasks"):
		r.pipeline(doc)
		shape = r.plan.Kind
	case has(doc, "intent_id") && has(doc, "input_digest") && has(doc, "steps"):
		shape = KindStrictPlan
		r.strictPlan(doc)
	case has(doc, "steps"):
		shape = KindPlan
		r.portablePlan(doc)
	case has(doc, "task_id") && has(doc, "goal"):
		shape = KindTask
		r.single(doc)
	default:
		return nil, &wire.Error{Code: CodePipelineInvalid, Hint: readHint,
			Message: "This is not a plan: a PipelineSpec has tasks, a Plan has steps, a Task has task_id and goal."}
	}
	r.graph()
	r.judge(doc, shape)
	if err := r.bad.err(readHint); err != nil {
		return nil, err
	}
	return r.plan, nil
}

func (r *reader) version(doc *ojson.Object, key string) {
	v, ok := get(doc, key)
	if text, _ := v.(string); ok && text != "v1" {
		r.bad.add(CodeUnsupported, pointer("", key), ojson.Shown(v),
			"version %s is not supported; supported is \"v1\".", ojson.Shown(v))
	}
}

func (r *reader) pipeline(doc *ojson.Object) {
	p := r.plan
	r.version(doc, "version")
	items, ok := list(doc, "tasks")
	if !ok {
		r.bad.add(CodePipelineInvalid, "/tasks", "", "tasks must be an array.")
		return
	}
	p.ID, p.Objective, p.ProjectKey = r.text(doc, "", "pipeline_id",
		true), r.text(doc, "", "objective", false), r.text(doc, "", "project_key", false)
	p.Kind = KindPipelineLegacy
	aware, ordered := has(doc, "objective") || has(doc, "project_key"), false
	for i, item := range items {
		at := pointer("", "tasks", i)
		o, ok := item.(*ojson.Object)
		switch {
		case !ok:
			r.bad.add(CodePipelineInvalid, at, ojson.Shown(item), "a task must be an object.")
			continue
		case has(o, "task_artifact"):
			r.bad.add(CodeUnrepresentable, pointer(at, "task_artifact"), "",
				"the task is in a file of its own, which only a pipeline has whose tasks all are: put its goal here, as goal.")
			continue
		}
		aware = aware || has(o, "role") || has(o, "goal") || has(o, "required_skills")
		ordered = ordered || has(o, "depends_on")
		r.pipelineTask(o, at)
	}
	for _, c := range doc.Objects("connections") {
		r.connection(c)
		ordered = true
	}
	if aware {
		p.Kind = KindPipeline
		r.aware(doc)
	}
	if !ordered && len(p.Tasks) > 1 {
		for i := 1; i < len(p.Tasks); i++ {
			p.Tasks[i].DependsOn = []string{p.Tasks[i-1].ID}
		}
		p.note("/tasks", "no task names a dependency, so they are done in the order of the list")
	}
	r.rest(doc, "version", "pipeline_id", "objective", "project_key", "tasks")
}

// aware checks what a pipeline must have once it uses a member of the role-aware layout
// (docs/monarchic.md#types).
func (r *reader) aware(doc *ojson.Object) {
	for _, key := range []string{"objective", "project_key"} {
		if !has(doc, key) {
			r.bad.add(CodePipelineInvalid, pointer("", key), "", "a role-aware pipeline needs %s.", key)
		}
	}
	for _, t := range r.plan.Tasks {
		if t.Role == "" && t.RoleID == "" {
			r.bad.add(CodePipelineInvalid, pointer(t.Pointer, "role"), "",
				"a task of a role-aware pipeline needs role.")
		}
		if v, ok := get(t.Source, "goal"); !ok || blank(v) {
			r.bad.add(CodePipelineInvalid, pointer(t.Pointer, "goal"), "",
				"a task of a role-aware pipeline needs goal.")
		}
	}
}

func (r *reader) pipelineTask(o *ojson.Object, at string) {
	t := &Task{Pointer: at, Source: o}
	if t.ID = r.text(o, at, "id", false); t.ID == "" {
		if t.ID = r.text(o, at, "task_id", false); t.ID == "" {
			r.bad.add(CodePipelineInvalid, pointer(at, "id"), "", "the task has no id.")
		}
	}
	body, _ := get(o, "task")
	if inner, ok := body.(*ojson.Object); ok && !has(o, "goal") {
		r.common(t, inner, pointer(at, "task"))
	}
	r.common(t, o, at)
	if text, ok := body.(string); ok && t.Goal == "" {
		t.Goal = text
	} else if ok {
		t.Told.Set("task", text)
	}
	if strings.TrimSpace(t.Goal) == "" {
		r.bad.add(CodePipelineInvalid, at, "",
			"the task does not say what to do: it needs goal, or task as text or with a goal.")
	}
	r.plan.Tasks = append(r.plan.Tasks, t)
}

// connection reads an edge of the campaign form (docs/monarchic.md#types).
func (r *reader) connection(c *ojson.Object) {
	from, _ := get(c, "from_task_id")
	to, _ := get(c, "to_task_id")
	for _, t := range r.plan.Tasks {
		if t.ID == to {
			if id, ok := from.(string); ok {
				r.edge(t, "/connections", id, c)
				return
			}
		}
	}
	r.bad.add(CodePipelineInvalid, "/connections", ojson.Shown(to), "a connection leads to no task of the pipeline.")
}

func (r *reader) portablePlan(doc *ojson.Object) {
	p := r.plan
	r.version(doc, "contract_version")
	p.Kind, p.ID, p.Objective = KindPlan, r.text(doc, "", "plan_id", true), r.text(doc, "", "objective", false)
	steps, ok := list(doc, "steps")
	if !ok {
		r.bad.add(CodePipelineInvalid, "/steps", "", "steps must be an array.")
	}
	ours := r.ownPlan(doc)
	if st, _ := get(doc, "status"); ours == nil && st != nil && st != "draft" && st != "planned" &&
		st != "unspecified" && st != "unknown" {
		p.note("/status", "the status of the plan is not taken over: every task is done in this run")
	}
	recorded := false
	for _, item := range steps {
		step, _ := item.(*ojson.Object)
		recorded = recorded || charterOf(step) != nil
	}
	for i, item := range steps {
		at := pointer("", "steps", i)
		o, ok := item.(*ojson.Object)
		switch c := charterOf(o); {
		case !ok:
			r.bad.add(CodePipelineInvalid, at, ojson.Shown(item), "a step must be an object.")
		case c != nil:
			r.ownCharter(c, at)
		case recorded:
			p.note(at, "a turn that worked on no task of the plan is not imported")
		default:
			r.portableStep(o, at)
		}
	}
	r.rest(doc, "contract_version", "plan_id", "objective", "steps")
	slices.SortStableFunc(p.Tasks, func(a, b *Task) int { return a.place - b.place })
	if ours != nil {
		p.Kind, p.ID, p.Objective = cmp.Or(ours.String("kind"),
			p.Kind), cmp.Or(ours.String("plan_id"), p.ID), cmp.Or(ours.String("objective"), p.Objective)
		p.ProjectKey, p.Rest = ours.String("project_key"), ours.Object("rest").Clone()
	}
}

func (r *reader) portableStep(o *ojson.Object, at string) {
	t := &Task{Pointer: at, Source: o, ID: r.text(o, at, "step_id", true)}
	tmpl, _ := get(o, "task_template")
	if body, ok := tmpl.(*ojson.Object); ok {
		r.common(t, body, pointer(at, "task_template"))
	} else if tmpl != nil {
		r.bad.add(CodePipelineInvalid, pointer(at, "task_template"), ojson.Shown(tmpl),
			"task_template must be an object.")
	}
	r.common(t, o, at)
	if about := r.text(o, at, "description", false); t.Goal == "" {
		t.Goal = about
		t.Told.Delete("description")
	}
	if strings.TrimSpace(t.Goal) == "" {
		r.bad.add(CodePipelineInvalid, pointer(at, "description"), "",
			"the step does not say what to do: it needs a description, or a goal in its task_template.")
	}
	for _, key := range []string{"failure", "kind", "expected_outputs", "policy_tags"} {
		t.Told.Delete(key)
	}
	if has(o, "failure") {
		r.plan.note(pointer(at, "failure"),
			"the failure of an earlier execution is kept in the record and has no effect")
	}
	r.plan.Tasks = append(r.plan.Tasks, t)
}

func (r *reader) strictPlan(doc *ojson.Object) {
	p := r.plan
	p.Kind, p.ID = KindStrictPlan, r.text(doc, "", "plan_id", true)
	steps, ok := list(doc, "steps")
	if !ok {
		r.bad.add(CodePipelineInvalid, "/steps", "", "steps must be an array.")
	}
	for i, item := range steps {
		at := pointer("", "steps", i)
		o, ok := item.(*ojson.Object)
		if !ok {
			r.bad.add(CodePipelineInvalid, at, ojson.Shown(item), "a step must be an object.")
			continue
		}
		t := &Task{Pointer: at, Source: o, ID: r.text(o, at, "step_id", true), Told: &ojson.Object{}}
		if inputs := o.Object("inputs"); inputs.Len() > 0 {
			r.common(t, inputs, pointer(at, "inputs"))
		}
		if about := r.text(o, at, "description", true); t.Goal == "" {
			t.Goal = about
		}
		r.edges(t, o, at, "dependencies")
		r.kindRole(t, o, at)
		if id := o.String("task_id"); id != "" && id != t.ID {
			t.Told.Set("task_id", id)
		}
		if outs := o.Array("expected_outputs"); len(outs) > 0 {
			t.Told.Set("expected_outputs", outs)
		}
		p.Tasks = append(p.Tasks, t)
	}
	if replan := doc.Object("replan_policy"); replan != nil {
		p.note("/replan_policy",
			"replanning is the run's own: rules.max_turn_retries and a person decide what follows a failure")
	}
	r.rest(doc, "plan_id", "steps")
}

// kindRole gives a step of a strict plan the role that its policy tags or its kind suggest; the
// shape has no member for it.
func (r *reader) kindRole(t *Task, o *ojson.Object, at string) {
	for _, tag := range o.Strings("policy_tags") {
		if role, ok := strings.CutPrefix(tag, "role:"); ok && t.RoleID == "" && t.Role == "" {
			t.RoleID = role
		}
	}
	if t.RoleID != "" || t.Role != "" {
		return
	}
	switch o.String("kind") {
	case "review":
		t.Role = "reviewer"
	case "verification":
		t.Role = "qa"
	case "release":
		t.Role = "publisher"
	case "merge":
		t.Role = "ops"
	case "analysis":
		t.Role = "product_owner"
	default:
		return
	}
	r.plan.note(pointer(at, "kind"), "the role follows from the kind of the step, as it names none")
}

func (r *reader) single(doc *ojson.Object) {
	p := r.plan
	r.version(doc, "version")
	t := &Task{Source: doc, ID: r.text(doc, "", "task_id", true)}
	r.common(t, doc, "")
	if strings.TrimSpace(t.Goal) == "" {
		r.bad.add(CodePipelineInvalid, "/goal", "", "goal must not be blank.")
	}
	p.Kind, p.Tasks = KindTask, []*Task{t}
	if p.ID = "task-" + t.ID; t.ID == "" {
		p.ID = ""
	}
	p.Objective = t.Goal
}

// rest keeps the members of the document that the graph does not hold.
func (r *reader) rest(doc *ojson.Object, but ...string) {
	for key, v := range doc.All() {
		known := false
		for _, b := range but {
			known = known || key == b || key == codec.LowerCamel(b)
		}
		if !known {
			r.plan.Rest.Set(key, v)
		}
	}
}
