// Blocks that a turn causes: whose acceptance may settle them, and which turn
// still needs a person once one is settled (docs/spec/lifecycle.md#the-next-state rows 3 and 4).

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// blockRelation says how a block relates to a turn.
type blockRelation int

const (
	blockForeign blockRelation = iota // a person's, the run's, or of unknown origin
	blockOwn                          // the acceptance of this turn ran into it
	blockSibling                      // another active turn's; this one is not to blame
)

// blockOf says how the present block relates to the turn. A turn may settle only a block that its own acceptance
// ran into; an operator's stop, a budget, a policy or tampering is not its own, whichever turn the block names.
func blockOf(t *change.Draft, turn *run.Turn) blockRelation {
	r := t.State.BlockedReason
	if r == nil {
		return blockForeign
	}
	own := wire.OrEmpty(r.TurnID) == turn.TurnID
	if !own && !t.State.ActiveTurns.Has(wire.OrEmpty(r.TurnID)) {
		return blockForeign
	}
	switch r.Category {
	case "hook_block":
		switch run.ParseBlocker(wire.OrEmpty(t.State.BlockedOn)).Scope {
		case "before_validation", "after_validation", "before_acceptance":
		default:
			return blockForeign
		}
	case "conflict_loop", "validation_error":
	case "retries_exhausted", "ghost_turn", "stale_turn":
		if own {
			return blockForeign // it needs a new turn, not another try
		}
	default:
		return blockForeign
	}
	if own {
		return blockOwn
	}
	return blockSibling
}

// settleBlock clears the block. When another turn's own status needs a person, it blocks the run for that turn: two
// failed turns need two answers.
func settleBlock(t *change.Draft, via string) {
	t.ClearBlock(via)
	for _, turn := range t.State.ActiveTurns.All() {
		if spec := stuck(t, turn); spec != nil {
			t.Block(*spec)
			return
		}
	}
}

// stuck returns the block that a turn's status calls for, or nil.
func stuck(t *change.Draft, turn *run.Turn) *change.Block {
	on := ""
	switch turn.Status {
	case wire.TurnFailed:
		if turn.Attempt < t.Config.Rules.MaxTurnRetries {
			return nil
		}
		errs := turn.LastRejection.Array("validation_errors")
		if errs == nil {
			errs = []any{}
		}
		spec := retriesBlock(t, turn, errs)
		return &spec
	case wire.TurnConflicted:
		if n, _ := turn.ConflictState.Int("detection_count"); n < conflictLoopLimit {
			return nil
		}
		spec := conflictBlock(turn, turn.ConflictState.Object("conflict_error").Strings("conflicting_files"))
		return &spec
	case wire.TurnFailedStart:
		on = "turn:failed_start:" + turn.TurnID
	case wire.TurnStalled:
		on = "turn:stalled:" + turn.TurnID
	default:
		return nil
	}
	d := run.DescribeBlock(t.State, on, turn.TurnID)
	return &change.Block{On: on, Category: d.Category, TypedReason: d.Recovery.TypedReason, Owner: d.Recovery.Owner,
		Action: d.Recovery.RecoveryAction, Detail: wire.OrEmpty(d.Recovery.Detail), Turn: turn, Retained: true}
}

// conflictBlock returns the block of a turn that keeps conflicting (docs/spec/observation.md#conflicts).
func conflictBlock(turn *run.Turn, files []string) change.Block {
	return change.Block{
		On:          "human:conflict_loop:" + turn.TurnID,
		Category:    "conflict_loop",
		TypedReason: "conflict_loop",
		Owner:       run.OwnerHuman,
		Action: fmt.Sprintf("Serialize the conflicting work, then run: git agentxchain reject %s --reassign",
			turn.TurnID),
		Detail:   "Conflicting files: " + strings.Join(files, ", "),
		Turn:     turn,
		Retained: true,
	}
}

// retriesBlock returns the block of a turn whose attempts are used up (docs/spec/lifecycle.md#rejecting-a-turn).
func retriesBlock(t *change.Draft, turn *run.Turn, errs []any) change.Block {
	detail := fmt.Sprintf("Turn rejected %d times; its attempts are used up.", turn.Attempt)
	return change.Block{
		On:          "escalation:retries-exhausted:" + turn.AssignedRole,
		Category:    "retries_exhausted",
		TypedReason: "retries_exhausted",
		Owner:       run.OwnerHuman,
		Action: fmt.Sprintf("Find out why the attempts failed, then run: git agentxchain reissue %s",
			turn.TurnID),
		Detail:   detail,
		Turn:     turn,
		Retained: true,
		Escalation: ojson.NewObject("from_role", turn.AssignedRole, "from_turn_id", turn.TurnID, "reason", detail,
			"validation_errors", errs, "escalated_at", t.Env.Time()),
	}
}
