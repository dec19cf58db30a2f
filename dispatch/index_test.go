// dispatch/index.json.

package dispatch

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestIndex(t *testing.T) {
	in := newInput(wire.ReviewOnly, "manual")
	in.Config.Raw = obj(t, `{"roles":{"pm":{"declared_file_scope":["docs"]},"dev":{"declared_file_scope":["docs"]}}}`)
	in.Warnings = []Warning{{"dirty_tree", "x"}}
	in.State.ActiveTurns.Set("turn_b", &run.Turn{
		TurnID:       "turn_b",
		AssignedRole: "dev",
		Status:       wire.TurnRunning,
		Attempt:      2,
		RuntimeID:    "rt",
	})
	o := obj(t, string(Index(in)))
	turns := o.Object("active_turns")
	if o.String("run_id") != "run_00112233445566aa" || o.String("phase") != "planning" ||
		o.String("updated_at") != in.Now || turns.Len() != 2 || turns.Keys()[0] != in.Turn.TurnID {
		t.Fatalf("%s", ojson.Pretty(o))
	}
	b := turns.Object("turn_b")
	want := `["turn_id","role","runtime_id","attempt","status","bundle_path","staging_result_path","assigned_sequence","advisory_warnings"]`
	if got := string(ojson.Compact(b.Keys())); got != want {
		t.Errorf("members %s", got)
	}
	if b.String("bundle_path") != ".agentxchain/dispatch/turns/turn_b" ||
		b.String("staging_result_path") != ".agentxchain/staging/turn_b/turn-result.json" {
		t.Errorf("%s", ojson.Compact(b))
	}
	if n := len(turns.Object(in.Turn.TurnID).Objects("advisory_warnings")); n != 2 {
		t.Errorf("%d warnings of the dispatched turn", n)
	}
	if ws := b.Objects("advisory_warnings"); len(ws) != 1 || ws[0].String("code") != WarningScopeOverlap {
		t.Errorf("the sibling lost its warning: %s", ojson.Compact(ws))
	}
	if got := string(ojson.Compact(obj(t,
		string(Index(Input{Now: "t"}))))); got != `{"run_id":null,"phase":null,"updated_at":"t","active_turns":{}}` {
		t.Errorf("without a state: %s", got)
	}
}

func TestIndexKeepsWarnings(t *testing.T) {
	in := newInput(wire.ReviewOnly, "manual")
	in.Config.Prompts.Set("pm", "prompts/pm.md")
	in.PromptProblem = "there is no such file"
	in.Warnings = []Warning{DirtyTree([]string{"1", "2", "3", "4", "5", "6"})}
	first := Index(in)
	sibling := in.Turn

	// Another turn is dispatched: the first one's warnings still stand.
	next := in
	next.Turn = &run.Turn{
		TurnID:       "turn_b",
		AssignedRole: "dev",
		Status:       wire.TurnDispatched,
		Attempt:      1,
		RuntimeID:    "rt",
	}
	next.State.ActiveTurns.Set("turn_b", next.Turn)
	next.PreviousIndex, next.Warnings = first, nil
	second := Index(next)
	ws := obj(t, string(second)).Object("active_turns").Object(sibling.TurnID).Objects("advisory_warnings")
	if len(ws) != 2 || ws[0].String("code") != WarningDirtyTree || ws[1].String("code") != WarningPrompt {
		t.Fatalf("%s", ojson.Compact(ws))
	}
	if got := ws[0].String(
		"message"); got != "the work tree has 6 changes that the turn did not start from: 1, 2, 3, 4, 5, ..." {
		t.Error(got)
	}
	if got := ws[1].String(
		"message"); got != "the instructions of role pm at prompts/pm.md are left out of the prompt: there is no such file" {
		t.Error(got)
	}

	// It ends: nothing of it is left, and the other's warnings are not lost either.
	next.State.ActiveTurns.Delete("turn_b")
	next.Turn, next.PreviousIndex = nil, second
	third := obj(t, string(Index(next))).Object("active_turns")
	if third.Len() != 1 || len(third.Object(sibling.TurnID).Objects("advisory_warnings")) != 2 {
		t.Errorf("%s", ojson.Compact(third))
	}

	// After a new attempt, another run or a broken index, nothing is kept.
	sibling.Attempt = 2
	for name, previous := range map[string]string{
		"attempt": string(second),
		"run":     `{"run_id":"run_x","active_turns":{}}`,
		"broken":  "{",
		"odd":     `{"run_id":"run_00112233445566aa","active_turns":[1]}`,
	} {
		next.PreviousIndex = []byte(previous)
		if ws := obj(t,
			string(Index(next))).Object("active_turns").Object(sibling.TurnID).Objects("advisory_warnings"); len(
			ws) != 0 {
			t.Errorf("%s: %s", name, ojson.Compact(ws))
		}
	}
}
