// Tests of pipelines whose tasks are files.

package bridge_test

import (
	"io/fs"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
)

const campaign = `{"pipeline_id":"catalog","version":"v1","objective":"Land the catalog.","project_key":"k","continue_on_error":false,
 "gate_policy":{"require_standard":true,"required_gates":[{"name":"tests","command":["make","test"]}]},
 "connections":[{"from_task_id":"make","to_task_id":"look","kind":"review","required":true}],
 "tasks":[
  {"task_id":"make","task_artifact":"tasks/make.pb","role_id":"dev","task_milestone":"Make the catalog.","task_format":"proto","depends_on":[],
   "filesystem_policy":{"read":["*"],"write":["src/**"],"execute":[]},"required_skills":[{"id":"repo","required":true,"purpose":"look"}],"requires_human_review":false},
  {"task_id":"look","task_artifact":"tasks/look.json","role_id":"qa","task_milestone":"Look at it.","depends_on":["make"]}]}`

func TestPipelinesWhoseTasksAreFiles(t *testing.T) {
	made, err := proto.Marshal(&pb.Task{
		Version:       "v1",
		TaskId:        "make",
		Role:          pb.AgentRole_QA,
		Goal:          "Write the catalog",
		GatesRequired: []string{"lint"},
	})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"tasks/make.pb":   string(made),
		"tasks/look.json": `{"version":"v1","task_id":"look","role":"qa","goal":"Try the catalog","inputs":{"url":"x"}}`,
	}
	open := func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return []byte(data), nil
		}
		return nil, fs.ErrNotExist
	}
	plan, refusal := bridge.ReadPlan([]byte(campaign), open)
	if refusal != nil {
		t.Fatal(refusal)
	}
	im, refusal := bridge.ForNewProject(plan, bridge.FitOptions{})
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := "make level-1 dev  lint Write the catalog\nlook level-2 qa make tests Try the catalog\n"
	if plan.Kind != bridge.KindCampaign || laid(im) != want {
		t.Errorf("%s\n%s", plan.Kind, laid(im))
	}
	told := string(ojson.Compact(plan.Tasks[1].Told))
	if !strings.Contains(told, `"url":"x"`) || !strings.Contains(told, `"make","test"`) ||
		!strings.Contains(told, "Look at it.") {
		t.Errorf("the second task is told %s", told)
	}
	// Without their files the milestones are the goals.
	if plan, refusal = bridge.ReadPlan([]byte(campaign), nil); refusal != nil ||
		plan.Tasks[0].Goal != "Make the catalog." {
		t.Errorf("without files: %v %v", plan, refusal)
	}
	for name, data := range map[string]string{
		"no protobuf":  "\xff\xff\xff",
		"another task": string(made[:0]) + "\x0a\x02v1\x12\x05other\x22\x01g",
	} {
		files["tasks/make.pb"] = data
		if _, refusal = bridge.ReadPlan([]byte(campaign), open); refusal == nil ||
			refusal.Problems[0].Field != "/tasks/0/task_artifact" {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}
