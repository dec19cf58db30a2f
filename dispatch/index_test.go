// dispatch/index.json.

package dispatch

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

func TestIndex(t *testing.T) {
	in := newInput(protocol.ReviewOnly, "manual")
	in.Config.Raw = obj(t, `{"roles":{"pm":{"declared_file_scope":["docs"]},"dev":{"declared_file_scope":["docs"]}}}`)
	in.Warnings = []Warning{{"dirty_tree", "x"}}
	in.State.ActiveTurns.Set("turn_b", &protocol.Turn{TurnID: "turn_b", AssignedRole: "dev", Status: protocol.TurnRunning, Attempt: 2, RuntimeID: "rt"})
	o := obj(t, string(Index(in)))
	turns := o.Object("active_turns")
	if o.String("run_id") != "run_00112233445566aa" || o.String("phase") != "planning" || o.String("updated_at") != in.Now || turns.Len() != 2 || turns.Keys()[0] != in.Turn.TurnID {
		t.Fatalf("%s", ojson.Pretty(o))
	}
	b := turns.Object("turn_b")
	want := `["turn_id","role","runtime_id","attempt","status","bundle_path","staging_result_path","assigned_sequence","advisory_warnings"]`
	if got := string(ojson.Compact(b.Keys())); got != want {
		t.Errorf("members %s", got)
	}
	if b.String("bundle_path") != ".agentxchain/dispatch/turns/turn_b" || b.String("staging_result_path") != ".agentxchain/staging/turn_b/turn-result.json" {
		t.Errorf("%s", ojson.Compact(b))
	}
	if n := len(turns.Object(in.Turn.TurnID).Objects("advisory_warnings")); n != 2 {
		t.Errorf("%d warnings of the dispatched turn", n)
	}
	if ws := b.Objects("advisory_warnings"); len(ws) != 1 || ws[0].String("code") != WarningScopeOverlap {
		t.Errorf("the sibling lost its warning: %s", ojson.Compact(ws))
	}
	if got := string(ojson.Compact(obj(t, string(Index(Input{Now: "t"}))))); got != `{"run_id":null,"phase":null,"updated_at":"t","active_turns":{}}` {
		t.Errorf("without a state: %s", got)
	}
}
