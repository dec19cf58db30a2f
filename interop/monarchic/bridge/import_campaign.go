// Pipelines whose tasks are files: campaign_pipeline_spec (docs/monarchic.md#importing).

package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	codec "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// campaign reports whether every task of a document is a file.
func campaign(doc *ojson.Object) bool {
	tasks := doc.Objects("tasks")
	return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(t *ojson.Object) bool {
		return !has(t, "task_artifact")
	})
}

func (r *reader) campaign(doc *ojson.Object) {
	p := r.plan
	r.version(doc, "version")
	p.Kind, p.ID = KindCampaign, r.text(doc, "", "pipeline_id", true)
	p.Objective, p.ProjectKey = r.text(doc, "", "objective", false), r.text(doc, "", "project_key", false)
	for i, o := range doc.Objects("tasks") {
		r.campaignTask(o, pointer("", "tasks", i))
	}
	ordered := slices.ContainsFunc(p.Tasks, func(t *Task) bool { return has(t.Source, "depends_on") })
	for _, c := range doc.Objects("connections") {
		r.connection(c)
		ordered = true
	}
	if !ordered {
		for i := 1; i < len(p.Tasks); i++ {
			p.Tasks[i].DependsOn = []string{p.Tasks[i-1].ID}
		}
	}
	r.campaignGates(doc)
	r.rest(doc, "version", "pipeline_id", "objective", "project_key", "tasks")
}

func (r *reader) campaignTask(o *ojson.Object, at string) {
	t := &Task{Pointer: at, Source: o, ID: r.text(o, at, "task_id", true), Told: &ojson.Object{}}
	milestone := r.text(o, at, "task_milestone", false)
	inFile := pointer(at, "task_artifact")
	doc, err := r.taskFile(o)
	switch {
	case err == nil:
		// The pipeline's members of a task override those of its file.
		r.role(t, o, at)
		r.common(t, doc, inFile)
		if id := doc.String("task_id"); id != "" && id != t.ID {
			r.bad.add(CodePipelineInvalid, inFile, id, "the file holds task %s, not %s.", ojson.Shown(id),
				ojson.Shown(t.ID))
		}
		if v, _ := get(doc, "version"); v != nil && v != "v1" {
			r.bad.add(CodeUnsupported, inFile, ojson.Shown(v),
				"version %s of the task is not supported; supported is \"v1\".", ojson.Shown(v))
		}
	case errors.Is(err, fs.ErrNotExist) && milestone != "":
		r.plan.note(inFile, "there is no such file; the milestone is the goal")
	default:
		r.bad.add(CodePipelineInvalid, inFile, o.String("task_artifact"), "the task cannot be read: %s.",
			oneLine(err.Error()))
	}
	r.common(t, o, at)
	if milestone != "" {
		if t.Goal == "" {
			t.Goal = milestone
		} else if t.Goal != milestone {
			t.Told.Set("task_milestone", milestone)
		}
	}
	if strings.TrimSpace(t.Goal) == "" && err == nil {
		r.bad.add(CodePipelineInvalid, inFile, "", "neither the file nor task_milestone says what to do.")
	}
	for _, key := range []string{"filesystem_policy", "network_mode", "interaction_mode", "runner_args",
		"required_mcp_ids"} {
		if has(o, key) {
			r.plan.note(pointer(at, key), "the agent is told; the run does not enforce it")
		}
	}
	r.plan.Tasks = append(r.plan.Tasks, t)
}

// taskFile reads the Task in the file that a task names: protobuf when the format is proto or
// protobuf, or the name ends in .pb; else JSON.
func (r *reader) taskFile(o *ojson.Object) (*ojson.Object, error) {
	name := strings.TrimSpace(o.String("task_artifact"))
	clean, problem := wire.CleanPath(name)
	switch {
	case problem != "" || clean == "":
		return nil, fmt.Errorf("%s is not a path below the directory of the plan", ojson.Shown(name))
	case r.files == nil:
		return nil, fmt.Errorf("%s: the plan comes without files: %w", clean, fs.ErrNotExist)
	}
	data, err := r.files(clean)
	if err != nil {
		return nil, err
	}
	switch cmp.Or(strings.ToLower(o.String("task_format")), strings.TrimPrefix(path.Ext(clean), ".")) {
	case "proto", "protobuf", "pb", "binpb":
		m := &pb.Task{}
		if err := proto.Unmarshal(data, m); err != nil {
			return nil, fmt.Errorf("%s holds no Task in protobuf form: %w", clean, err)
		}
		if data, err = (protojson.MarshalOptions{UseProtoNames: true}).Marshal(m); err != nil {
			return nil, fmt.Errorf("%s: %w", clean, err)
		}
	}
	v, err := ojson.DecodeLimited(data, codec.Limits())
	if err != nil {
		return nil, fmt.Errorf("%s holds no JSON: %w", clean, err)
	}
	doc, ok := v.(*ojson.Object)
	if !ok {
		return nil, fmt.Errorf("%s holds %s, not a Task", clean, ojson.TypeName(v))
	}
	return doc, nil
}

// campaignGates makes the tasks that no other waits for pass the pipeline's gates.
func (r *reader) campaignGates(doc *ojson.Object) {
	gates := doc.Object("gate_policy").Objects("required_gates")
	if doc.Object("gate_policy").Bool("require_standard") {
		r.plan.note("/gate_policy/require_standard",
			"the standard gates of the planner are not known here; name the gates")
	}
	for i, g := range gates {
		at := pointer("", "gate_policy", "required_gates", i)
		for _, t := range r.plan.Tasks {
			if !slices.ContainsFunc(r.plan.Tasks, func(o *Task) bool { return slices.Contains(o.DependsOn, t.ID) }) {
				r.gates(t, ojson.NewObject("gates_required", []any{g.String("name")}), at)
			}
		}
		if has(g, "command") {
			r.plan.note(pointer(at, "command"),
				"the agent is told the command in gate_commands, and its verification has to pass; the run does not start it")
			for _, t := range r.plan.Tasks {
				if slices.Contains(t.Gates, g.String("name")) {
					t.Told.Set("gate_commands", append(t.Told.Array("gate_commands"), ojson.Value(g)))
				}
			}
		}
	}
}
