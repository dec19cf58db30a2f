// dispatch/index.json: the active bundles at a glance (docs/bundles.md#limits).

package dispatch

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Index returns the bytes of wire.DocDispatchIndex for every active turn of in.State, in order. in.Turn, when set,
// is the turn just dispatched and gets the caller's warnings. The others keep their warnings from in.PreviousIndex,
// except that overlaps are computed again; so no warning is lost between two dispatches and none outlives its
// cause. Without a state there are no turns.
func Index(in Input) []byte {
	turns := &ojson.Object{}
	o := ojson.NewObject("run_id", nil, "phase", nil, "updated_at", in.Now, "active_turns", turns)
	if in.State == nil {
		return ojson.Pretty(o)
	}
	o.Set("run_id", in.State.RunID)
	o.Set("phase", in.State.Phase)
	if in.Config == nil {
		in.Config = &config.Config{}
	}
	before := previousRows(in)
	for id, t := range in.State.ActiveTurns.All() {
		if t == nil {
			continue
		}
		v := &view{Input: in, roleID: roleOf(t)}
		v.Turn = t
		ws := v.overlaps(t)
		if in.Turn != nil && in.Turn.TurnID == id {
			ws = v.warnings()
		} else {
			ws = append(ws, earlier(before.Object(id), t)...)
		}
		turns.Set(id, ojson.NewObject(
			"turn_id", id,
			"role", v.roleID,
			"runtime_id", t.RuntimeID,
			"attempt", max(t.Attempt, 1),
			"status", t.Status,
			"bundle_path", wire.BundleDir(id),
			"staging_result_path", wire.StagingPath(id),
			"assigned_sequence", sequence(t),
			"advisory_warnings", warningRows(ws),
		))
	}
	return ojson.Pretty(o)
}

// previousRows returns the turns of the previous index of the same run; nil when it is absent or invalid.
func previousRows(in Input) *ojson.Object {
	if in.PreviousIndex == nil {
		return nil
	}
	o, err := ojson.DecodeObject(in.PreviousIndex)
	if err != nil || o.String("run_id") != in.State.Run() {
		return nil
	}
	return o.Object("active_turns")
}

// maxWarnings bounds the warnings kept for one turn.
const maxWarnings = 100

// earlier returns the warnings of a turn's last dispatch that still apply: all but overlaps, as long as the attempt
// is the same.
func earlier(row *ojson.Object, t *run.Turn) []Warning {
	if n, ok := row.Int("attempt"); !ok || n != max(t.Attempt, 1) {
		return nil
	}
	var out []Warning
	for _, w := range row.Objects("advisory_warnings") {
		code, message := w.String("code"), w.String("message")
		if code == "" || code == WarningScopeOverlap || len(out) == maxWarnings {
			continue
		}
		out = append(out, Warning{code, message})
	}
	return out
}
