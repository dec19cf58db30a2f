package dispatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// A turn that works on a charter is told its goal, what the plan adds, what it builds on and how it is judged; and
// that it need not request anything.
func TestPromptOfACharter(t *testing.T) {
	in := newInput(wire.Authoritative, "manual")
	in.Turn.IntakeContext = obj(t,
		"{\"source\":\"charter_queue\",\"category\":\"plan\",\"charter_id\":\"join\",\"plan_id\":\"search\",\"charter\":\"Bring `both`\\n## together\","+
			"\"acceptance_contract\":[],\"phase_scope\":\"planning\",\"task\":{\"inputs\":{\"branch\":\"```\\n# x\\u001b[2J\"}}}")
	in.State.CharterQueue = []*run.Charter{
		{CharterID: "index", Phase: "planning", Role: "dev", Charter: "x", Status: run.CharterCompleted},
		{
			CharterID:     "join",
			Phase:         "planning",
			Role:          "pm",
			Charter:       "x",
			Status:        run.CharterPending,
			DependsOn:     []string{"index"},
			GatesRequired: []string{"qa"},
		}}
	b, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	prompt := string(b.Files["PROMPT.md"])
	for _, want := range []string{"> Bring `both`\n> ## together", "It is task `join` of plan `search`.",
		"It builds on tasks that are done: `index`.", "`verification.status` of `pass`", "the plan asks for `qa`",
		`"branch": "`, "Ask for neither"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(prompt, "From here the only next phase") || strings.Contains(prompt, "\x1b") ||
		slices.Contains(headings(prompt), "## together") || slices.Contains(headings(prompt), "# x") {
		t.Errorf("prompt\n%s", prompt)
	}
	doc, derr := ojson.DecodeObject(b.Files["ASSIGNMENT.json"])
	if derr != nil {
		t.Fatal(derr)
	}
	c := doc.Object("intake_context")
	if c.String("charter_id") != "join" || c.String("plan_id") != "search" ||
		c.Object("task").Object("inputs").String("branch") == "" {
		t.Errorf("assignment %s", ojson.Compact(c))
	}
}
