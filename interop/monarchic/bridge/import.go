// A plan of the Monarchic protocol for an import, whatever its form.

package bridge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kinds of plans that ReadPlan distinguishes (docs/monarchic.md).
const (
	KindPipeline       = "pipeline_spec"
	KindPipelineLegacy = "pipeline_spec_legacy" // pipeline_id, tasks[].id, tasks[].task only
	KindPlan           = "plan"                 // portable, which the strict family calls v0
	KindStrictPlan     = "client_boundary/plan"
	KindTask           = "task"
	KindCampaign       = "campaign_pipeline_spec" // tasks[].task_artifact: the tasks are files
)

// Codes of refused plans besides those of package protocol.
const (
	CodePipelineInvalid = "pipeline_invalid"     // the plan breaks rules of its own
	CodeUnrepresentable = "plan_unrepresentable" // a governed run cannot carry it out
	CodeUnsupported     = "unsupported_version"
)

// Plan is a graph of tasks.
type Plan struct {
	Kind       string
	ID         string
	Objective  string
	ProjectKey string
	Tasks      []*Task
	Rest       *ojson.Object // other members of the document, unchanged
	Notes      []Note
}

// Task is one unit of work.
type Task struct {
	Pointer   string // of the task in the document (RFC 6901)
	ID        string
	Role      string // role token or role id as given; "" when the plan names none
	RoleID    string // open-ended role; it overrides Role
	Goal      string
	DependsOn []string
	Gates     []string
	Human     bool // the plan wants a person to review it
	Contract  []string
	Told      *ojson.Object // what the agent is told besides the goal
	Source    *ojson.Object // the task as it is in the document

	place int // in the queue of the run that it was exported from; 0 for none
}

// Note says what an import does with something that it does not carry out as it stands: nothing is
// dropped without one.
type Note struct {
	Text     string
	Pointers []string
}

func (p *Plan) note(pointer, text string) {
	i := slices.IndexFunc(p.Notes, func(n Note) bool { return n.Text == text })
	if i < 0 {
		i = len(p.Notes)
		p.Notes = append(p.Notes, Note{Text: text})
	}
	p.Notes[i].Pointers = append(p.Notes[i].Pointers, pointer)
}

// faults collects everything wrong with a plan, so that its author can correct it in one go.
type faults struct {
	code  string
	list  wire.Problems
	found int // including those beyond maxFaults
}

const maxFaults = 25

func (f *faults) add(code, pointer, value, format string, args ...any) {
	if f.code == "" {
		f.code = code
	}
	if f.found++; f.found <= maxFaults {
		f.list = append(f.list, wire.Problem{
			Code:    code,
			Field:   pointer,
			Value:   value,
			Message: at(pointer) + fmt.Sprintf(format, args...),
		})
	}
}

// err returns the refusal, nil when nothing is wrong. Its code is that of the first fault; each
// problem has its own, and the pointer as its field.
func (f *faults) err(hint string) *wire.Error {
	if len(f.list) == 0 {
		return nil
	}
	if n := f.found - len(f.list); n > 0 {
		f.list = append(f.list,
			wire.Problem{Code: f.code, Message: fmt.Sprintf("%d more findings of this kind are not listed.", n)})
	}
	said := make([]string, len(f.list))
	for i, p := range f.list {
		said[i] = p.Message
	}
	return &wire.Error{
		Code:     f.code,
		Field:    f.list[0].Field,
		Problems: f.list,
		Hint:     hint,
		Message:  "The plan cannot be imported: " + strings.Join(said, " "),
	}
}

func at(pointer string) string {
	if pointer == "" {
		return ""
	}
	return pointer + ": "
}

// pointer appends a member or an index to an RFC 6901 pointer.
func pointer(base string, keys ...any) string {
	for _, k := range keys {
		if i, ok := k.(int); ok {
			base = ojson.Item(base, i)
		} else {
			base = ojson.Member(base, k.(string))
		}
	}
	return base
}
