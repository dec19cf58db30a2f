// dispatch/index.json: the active bundles at a glance (spec/03 §6).

package dispatch

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Index returns the bytes of protocol.DocDispatchIndex for every active turn of
// in.State, in their order. in.Turn, when set, is the turn just dispatched and
// carries the caller's warnings; overlap warnings of the others are worked out
// anew, so none is lost between two dispatches. Without a state there are no
// turns.
func Index(in Input) []byte {
	turns := &ojson.Object{}
	o := ojson.NewObject("run_id", nil, "phase", nil, "updated_at", in.Now, "active_turns", turns)
	if in.State == nil {
		return ojson.Pretty(o)
	}
	o.Set("run_id", in.State.RunID)
	o.Set("phase", in.State.Phase)
	if in.Config == nil {
		in.Config = &protocol.Config{}
	}
	for id, t := range in.State.ActiveTurns.All() {
		if t == nil {
			continue
		}
		v := &view{Input: in, roleID: roleOf(t)}
		v.Turn = t
		ws := v.overlaps(t)
		if in.Turn != nil && in.Turn.TurnID == id {
			ws = v.warnings()
		}
		turns.Set(id, ojson.NewObject(
			"turn_id", id,
			"role", v.roleID,
			"runtime_id", t.RuntimeID,
			"attempt", max(t.Attempt, 1),
			"status", t.Status,
			"bundle_path", protocol.BundleDir(id),
			"staging_result_path", protocol.StagingPath(id),
			"assigned_sequence", sequence(t),
			"advisory_warnings", warningRows(ws),
		))
	}
	return ojson.Pretty(o)
}
