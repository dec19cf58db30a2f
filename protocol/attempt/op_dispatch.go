// DispatchTurn and RefreshBaseline: an assigned turn before its agent begins
// (docs/spec/lifecycle.md#the-life-of-a-dispatch, docs/runner.md#lifecycle).

package attempt

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DispatchTurn records the bundle of an active turn; the caller writes the files in the same commit. It dispatches
// a turn that is only assigned. A turn that was already dispatched stays as it is: no second turn_dispatched
// follows.
type DispatchTurn struct {
	TurnID   string   `json:"turn_id,omitempty"`   // "" means the only active turn
	LateMail []string `json:"late_mail,omitempty"` // messages that the bundle lacks (mail.Deliver)
}

func (*DispatchTurn) Name() string               { return "dispatch_turn" }
func (op *DispatchTurn) Blobs() []*evidence.Blob { return nil }

// DispatchResult is the outcome of DispatchTurn.
type DispatchResult struct {
	Turn  *run.Turn
	First bool // the turn was only assigned until now
}

func (op *DispatchTurn) Apply(t *change.Draft) *wire.Error {
	old, err := named(t, op.TurnID, "dispatch")
	if err != nil {
		return err
	}
	turn := *old
	res := &DispatchResult{Turn: &turn, First: turn.Status == wire.TurnAssigned}
	if res.First {
		switch t.State.Status {
		case wire.StatusActive:
		case wire.StatusBlocked:
			return run.BlockedError(t.State, "dispatch turn "+turn.TurnID)
		case wire.StatusPaused:
			return run.PendingError(t.State, "dispatch turn "+turn.TurnID)
		default:
			return &wire.Error{
				Code:  wire.CodeInvalidStateTransition,
				Field: "status",
				Message: fmt.Sprintf("A turn can be dispatched only in an active run; this one is %s.",
					t.State.Status),
				Hint: "git agentxchain status",
			}
		}
		Dispatch(t, &turn)
		t.Session = "turn_dispatched"
	}
	mail.Deliver(t, &turn, op.LateMail)
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.About(&turn)
	t.Subject = fmt.Sprintf("dispatch %s to %s (%s)", turn.TurnID, turn.AssignedRole, t.State.Phase)
	if !res.First {
		t.Subject = "bundle of " + turn.TurnID + " made anew"
	}
	t.Result = res
	return nil
}

// RefreshBaseline makes the present work tree the turn's baseline. It is for changes that a runner itself makes
// between the assignment and the dispatch; once the agent is at work it is refused, because it would hide the
// agent's own changes (docs/compatibility.md#where-we-differ-on-purpose).
type RefreshBaseline struct {
	TurnID   string        `json:"turn_id,omitempty"` // "" means the only active turn
	Baseline *run.Baseline `json:"baseline"`
	Staged   bool          `json:"staged,omitempty"` // a result is staged already
}

func (*RefreshBaseline) Name() string               { return "refresh_baseline" }
func (op *RefreshBaseline) Blobs() []*evidence.Blob { return nil }

// RefreshResult is the outcome of RefreshBaseline.
type RefreshResult struct {
	Turn  *run.Turn
	Files []string // paths that now count as older than the turn and did not before; sorted
}

func (op *RefreshBaseline) Apply(t *change.Draft) *wire.Error {
	old, err := named(t, op.TurnID, "refresh")
	if err != nil {
		return err
	}
	if op.Baseline == nil {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "baseline",
			Message: "There is no baseline to take over.",
		}
	}
	if old.Status != wire.TurnAssigned && old.Status != wire.TurnDispatched ||
		old.StartedAt != "" && old.Attempt > 1 || op.Staged {
		return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "active_turns." + old.TurnID + ".status",
			Message: fmt.Sprintf("The agent of turn %s is at work (%s, attempt %d); its baseline stays what it was.",
				old.TurnID, old.Status, old.Attempt),
			Hint: "git agentxchain status"}
	}
	turn := *old
	res := &RefreshResult{Turn: &turn, Files: []string{}}
	for path, mark := range op.Baseline.DirtySnapshot.All() {
		if turn.Baseline != nil {
			if was, ok := turn.Baseline.DirtySnapshot.Get(path); ok && was == mark {
				continue
			}
		}
		res.Files = append(res.Files, path)
	}
	slices.Sort(res.Files)
	turn.Baseline = op.Baseline
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.About(&turn)
	t.Subject = fmt.Sprintf("refresh the baseline of %s", turn.TurnID)
	t.Result = res
	return nil
}

// named resolves the turn for operations without a command of their own to suggest.
func named(t *change.Draft, id, verb string) (*run.Turn, *wire.Error) {
	turn, err := t.Target(id, verb)
	if err != nil {
		err.Hint = "git agentxchain status"
	}
	return turn, err
}

// Dispatch moves a turn to dispatched (docs/spec/lifecycle.md#the-life-of-a-dispatch) and says so.
func Dispatch(t *change.Draft, turn *run.Turn) {
	turn.Dispatch(t.Env.Time())
	t.Event("turn_dispatched", turn)
}
