// ClaimTurn: which clone works on a turn, and what other clones may not do meanwhile (docs/teams.md#claims).

package protocol

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpClaim is the wire name of ClaimTurn.
const OpClaim = "claim_turn"

// What ClaimTurn does.
const (
	ClaimTake    = "claim"   // take a free turn, or one whose claim has ended
	ClaimRenew   = "renew"   // extend for the same duration, from now
	ClaimRelease = "release" // before the claim ends
	ClaimSteal   = "steal"   // take from another clone, for a reason
)

const (
	// DefaultClaim is how long a claim lasts unless another duration is asked for.
	DefaultClaim = 30 * time.Minute
	// MaxClaim bounds a claim.
	MaxClaim       = 7 * 24 * time.Hour
	maxClaimReason = 2000
	maxMachine     = 255
)

// ClaimTurn records that the actor's clone takes, keeps or gives up a turn.
type ClaimTurn struct {
	TurnID  string `json:"turn_id"`
	Action  string `json:"action"`
	Machine string `json:"machine,omitempty"`
	Seconds int    `json:"seconds,omitempty"`
	Because string `json:"because,omitempty"` // why it is stolen
	// Waited is how many seconds this clone has seen the present claim, by its own clock. A claim of another clone
	// can be taken over once Waited reaches its duration.
	Waited int `json:"waited,omitempty"`
}

func (*ClaimTurn) Name() string               { return OpClaim }
func (op *ClaimTurn) Blobs() []*evidence.Blob { return nil }

// ClaimResult is the outcome of ClaimTurn.
type ClaimResult struct {
	Turn *run.Turn
	Was  run.TurnClaim
	Now  run.TurnClaim
}

func (op *ClaimTurn) Apply(t *change.Draft) *wire.Error {
	if err := t.OutsideTurn("claim a turn", "git agentxchain claim"); err != nil {
		return err
	}
	old, err := t.Target(op.TurnID, "claim")
	if err != nil {
		return err
	}
	turn := *old
	was := run.ClaimOf(old)
	now, err := op.next(t, old, was)
	if err != nil {
		return err
	}
	turn.Extra = old.Extra.Clone(nil)
	turn.Extra.Set(run.ClaimMember, ojson.Marshal(&now))
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.About(&turn)
	payload := []any{"action", op.Action, "claim", ojson.Marshal(&now)}
	if was.Held() && was.Clone != now.Clone {
		payload = append(payload, "was", ojson.Marshal(&was))
	}
	if op.Because != "" {
		payload = append(payload, "reason", op.Because)
	}
	t.Event(run.EventTurnClaim, &turn, payload...)
	t.Subject = fmt.Sprintf("%s %s (%s)", op.Action, turn.TurnID, turn.AssignedRole)
	t.Result = &ClaimResult{Turn: &turn, Was: was, Now: now}
	return nil
}

// next returns the claim after the operation.
func (op *ClaimTurn) next(t *change.Draft, turn *run.Turn, was run.TurnClaim) (run.TurnClaim, *wire.Error) {
	me := t.Env.Actor
	mine := was.Held() && was.Clone == me.Clone
	seconds := op.Seconds
	if seconds == 0 && mine {
		seconds = was.Seconds
	}
	if seconds == 0 {
		seconds = int(DefaultClaim / time.Second)
	}
	now := run.TurnClaim{
		Number:  was.Number,
		Clone:   me.Clone,
		Machine: op.Machine,
		Person:  me.Name,
		Email:   me.Email,
		At:      t.Env.Time(),
		Seconds: seconds,
	}
	switch {
	case me.Clone == "":
		return now, wire.InvalidArgument("actor.clone", "A claim needs the id of the clone that makes it.")
	case seconds < 1 || seconds > int(MaxClaim/time.Second):
		return now, wire.InvalidArgument("seconds", "A claim lasts between a second and %d days.",
			int(MaxClaim/(24*time.Hour)))
	case len(op.Machine) > maxMachine || len(op.Because) > maxClaimReason:
		return now, wire.InvalidArgument("because", "The name of the machine or the reason is too long.")
	}
	switch op.Action {
	case ClaimTake:
		if was.Held() && !mine && op.Waited < was.Seconds {
			return now, heldElsewhere(turn, was)
		}
	case ClaimRenew, ClaimRelease:
		if was.Held() && !mine {
			return now, heldElsewhere(turn, was)
		}
		if !mine {
			return now, &wire.Error{
				Code:    run.CodeTurnClaimed,
				Field:   "turn_id",
				Message: fmt.Sprintf("This clone does not hold turn %s.", turn.TurnID),
				Hint:    "git agentxchain claim " + wire.ShellWord(turn.TurnID),
				Details: claimDetails(turn, was),
			}
		}
	case ClaimSteal:
		if wire.TrimSpace(op.Because) == "" {
			return now, &wire.Error{
				Code:    wire.CodeReasonRequired,
				Field:   "because",
				Message: "Taking a turn from another clone needs a reason.",
				Hint:    "git agentxchain claim " + wire.ShellWord(turn.TurnID) + " --steal --because TEXT",
			}
		}
	default:
		return now, wire.InvalidArgument("action", "%q is not something a claim can do.",
			run.Clip(wire.OneLine(op.Action), 40))
	}
	if op.Action == ClaimRelease {
		now.Clone, now.Seconds = "", 0
	}
	if !mine {
		now.Number++
	}
	return now, nil
}

// heldElsewhere refuses to act on a turn that another clone holds.
func heldElsewhere(turn *run.Turn, c run.TurnClaim) *wire.Error {
	return &wire.Error{
		Code:  run.CodeTurnClaimed,
		Field: "turn_id",
		Message: fmt.Sprintf("Turn %s (%s) is claimed by %s on %s, for %s.", turn.TurnID, turn.AssignedRole,
			wire.Cut(wire.OneLine(c.Person), 60), wire.Cut(wire.OneLine(c.Machine), 60), c.Time()),
		Hint: "git agentxchain claim " + wire.ShellWord(turn.TurnID) + " once that time has passed here; " +
			"before it: git agentxchain claim " + wire.ShellWord(turn.TurnID) + " --steal --because TEXT",
		Details: claimDetails(turn, c),
	}
}

func claimDetails(turn *run.Turn, c run.TurnClaim) *ojson.Object {
	return ojson.NewObject("turn_id", turn.TurnID, "claim", ojson.Marshal(&c))
}

// mayAct checks an operation on a turn against the turn's claim: only the clone that holds a claimed turn works on
// it, and its result is judged within the time of the claim.
func mayAct(t *change.Draft, op Operation) *wire.Error {
	id, result, under := "", false, 0
	switch op := op.(type) {
	case *AcceptTurn:
		id, result, under = op.TurnID, true, op.Claim
	case *RejectTurn:
		id, result, under = op.TurnID, true, -1
	case *ReissueTurn:
		id = op.TurnID
	case *attempt.DispatchTurn:
		id = op.TurnID
	case *attempt.AdvanceTurn:
		id = op.TurnID
	case *attempt.DispatchTimeout:
		id = op.TurnID
	default:
		return nil
	}
	turn, err := run.ResolveTurn(t.State, id, "")
	if err != nil {
		return nil // the operation refuses in its own words
	}
	c := run.ClaimOf(turn)
	switch {
	case c.Number == 0:
		return nil
	case c.Held() && c.Clone != t.Env.Actor.Clone:
		return heldElsewhere(turn, c)
	case result && under >= 0 && under != c.Number:
		return &wire.Error{
			Code:  run.CodeTurnClaimed,
			Field: "turn_id",
			Message: fmt.Sprintf("Turn %s has changed hands since this result was made: claim %d, not %d.",
				turn.TurnID, c.Number, under),
			Hint:    "git agentxchain status",
			Details: claimDetails(turn, c),
		}
	case result && c.Held() && !t.Env.Now.Before(c.Ends()):
		return &wire.Error{
			Code:    run.CodeClaimEnded,
			Field:   "turn_id",
			Message: fmt.Sprintf("The claim on turn %s ended at %s.", turn.TurnID, wire.FormatTime(c.Ends())),
			Hint: "git agentxchain claim " + wire.ShellWord(turn.TurnID) +
				" takes it again, unless another machine has it",
			Details: claimDetails(turn, c),
		}
	}
	return nil
}
