// Joining: what becomes of an operation that was recorded beside others, once it is
// decided again after them (docs/teams.md#when-two-machines-went-on).

package protocol

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Why an operation does not hold after those of another machine.
const (
	JoinSuperseded = "superseded"    // the others decided the same thing differently
	JoinAskAgain   = "ask_again"     // a person decided on something that has changed since
	JoinRefused    = "refused"       // the rules refuse it there
	JoinForeign    = "cannot_replay" // another tool's work, or another rule set's
	JoinFollows    = "follows"       // it builds on one that does not hold
	JoinRules      = "rules_differ"  // both sides adopted other rules
	JoinSame       = "same"          // it holds: the other side recorded the same
)

// Ways out of a conflict, in the words of the command line.
const (
	WayReissue = "reissue"   // give the role a turn again; the losing work is its input
	WayDrop    = "drop"      // with a reason
	WayAgain   = "ask again" // a person decides anew
	WayAccept  = "take ours" // stage the losing result again and have it judged
)

// JoinRefusal says why an operation does not hold, and what can be done.
type JoinRefusal struct {
	Reason  string // one of the Join constants
	Code    string // of the rules' refusal, "" when they were not asked
	Message string
	Ways    []string
}

// TheirOps is what the other side recorded since the operation both sides hold.
type TheirOps struct {
	same     map[string]bool   // name and seed: the very operation, joined before
	accepted map[string]string // turn -> digest of the accepted result
	approved map[string]bool   // gate and the turn that requested it
	adopted  bool
	commits  map[string]bool // turn and commit of checkpoints
}

// NewTheirOps returns an empty side; Add fills it.
func NewTheirOps() *TheirOps {
	return &TheirOps{
		same:     make(map[string]bool),
		accepted: make(map[string]string),
		approved: make(map[string]bool),
		commits:  make(map[string]bool),
	}
}

// Add notes an operation of the other side. before is the state it was applied to;
// landed says that the operation did what was asked (its refusal was not what it
// recorded).
func (o *TheirOps) Add(rec *Record, before *run.State, landed bool) {
	o.same[sameKey(rec)] = true
	if !landed {
		return
	}
	switch op := rec.Op.(type) {
	case *AcceptTurn:
		if turn := acceptTarget(op, before); turn != "" && op.Staged != nil {
			o.accepted[turn] = op.Staged.Digest
		}
	case *ApprovePhase, *ApproveCompletion:
		o.approved[pendingKey(before)] = true
	case *AdoptConfig:
		o.adopted = true
	case *Checkpoint:
		o.commits[string(ojson.Compact(ojson.Marshal(op)))] = true
	}
}

func sameKey(rec *Record) string { return rec.Name + " " + rec.Env.Seed }

func acceptTarget(op *AcceptTurn, before *run.State) string {
	if op.TurnID != "" || before == nil {
		return op.TurnID
	}
	if turn := before.OnlyTurn(); turn != nil {
		return turn.TurnID
	}
	return ""
}

// pendingKey names the request for an approval that waits, "" for none.
func pendingKey(s *run.State) string {
	switch {
	case s == nil:
	case s.PendingPhaseTransition != nil:
		p := s.PendingPhaseTransition
		return "phase " + p.Gate + " " + p.From + " " + p.To + " " + p.RequestedByTurn
	case s.PendingRunCompletion != nil:
		p := s.PendingRunCompletion
		return "completion " + p.Gate + " " + p.RequestedByTurn
	}
	return ""
}

// Join decides again on one of our operations after those of the other side. snap is
// what the operation is applied to now, before the state it was applied to when it was
// recorded, was what it led to then.
//
// A transition means that the operation holds. No transition and no refusal means that
// the other side has it already. The function is pure: the same records give the same
// answer on every machine.
func Join(their *TheirOps, snap *Snapshot, rec *Record, before *run.State, was *Transition) (*Transition, *JoinRefusal) {
	if their.same[sameKey(rec)] {
		return nil, nil
	}
	if rec.Op == nil {
		return nil, &JoinRefusal{
			Reason:  JoinForeign,
			Message: "changes of another tool, or of another rule set, cannot be decided again",
			Ways:    []string{WayDrop},
		}
	}
	switch op := rec.Op.(type) {
	case *AcceptTurn:
		turn := acceptTarget(op, before)
		digest, ok := their.accepted[turn]
		switch {
		case !ok || was == nil || was.Failure != nil:
		case op.Staged != nil && op.Staged.Digest == digest:
			return nil, nil
		default:
			return nil, &JoinRefusal{
				Reason:  JoinSuperseded,
				Message: fmt.Sprintf("turn %s was accepted on both sides with different results; the other came first", turn),
				Ways:    []string{WayReissue, WayDrop},
			}
		}
		if op.TurnID == "" && turn != "" {
			if now := snap.State.OnlyTurn(); now == nil || now.TurnID != turn {
				return nil, &JoinRefusal{
					Reason:  JoinSuperseded,
					Message: fmt.Sprintf("turn %s is not the only active turn any more", turn),
					Ways:    []string{WayAccept, WayReissue, WayDrop},
				}
			}
		}
	case *ApprovePhase, *ApproveCompletion:
		asked := pendingKey(before)
		switch {
		case pendingKey(snap.State) == asked:
		case their.approved[asked]:
			return nil, nil
		default:
			return nil, &JoinRefusal{
				Reason:  JoinAskAgain,
				Message: "what was approved is not what waits now",
				Ways:    []string{WayAgain, WayDrop},
			}
		}
	case *Checkpoint:
		if their.commits[string(ojson.Compact(ojson.Marshal(op)))] {
			return nil, nil
		}
	case *AdoptConfig:
		if their.adopted {
			return nil, &JoinRefusal{
				Reason:  JoinRules,
				Message: "both sides adopted other rules; those of the other came first",
				Ways:    []string{WayAgain, WayDrop},
			}
		}
	case *Confirm:
		return nil, &JoinRefusal{
			Reason:  JoinAskAgain,
			Message: "a confirmation is about the operation before it, which is another one now",
			Ways:    []string{WayAgain, WayDrop},
		}
	}
	now, refusal := Apply(snap, rec.Op, rec.Env)
	if refusal == nil && now.Failure != nil && (was == nil || was.Failure == nil) {
		refusal = now.Failure
	}
	if refusal == nil {
		return now, nil
	}
	return nil, &JoinRefusal{
		Reason:  JoinRefused,
		Code:    refusal.Code,
		Message: refusal.Message,
		Ways:    waysOf(rec),
	}
}

// waysOf are the ways out of a refusal of the rules.
func waysOf(rec *Record) []string {
	switch rec.Op.(type) {
	case *AcceptTurn:
		return []string{WayAccept, WayReissue, WayDrop}
	case *ApprovePhase, *ApproveCompletion, *AdoptConfig, *DenyGate, *WithdrawApproval:
		return []string{WayAgain, WayDrop}
	}
	return []string{WayReissue, WayDrop}
}

// FollowsFrom is the refusal of an operation about a turn that an earlier conflict took.
func FollowsFrom(turn string) *JoinRefusal {
	return &JoinRefusal{
		Reason:  JoinFollows,
		Message: fmt.Sprintf("it is about turn %s, which an operation before it gave and which does not hold", turn),
		Ways:    []string{WayReissue, WayDrop},
	}
}

// RecordedThere says of an operation that the other side has it already. There is nothing to decide.
func RecordedThere() *JoinRefusal {
	return &JoinRefusal{
		Reason:  JoinSame,
		Message: "the other side recorded the same",
		Ways:    []string{},
	}
}

// Conflict is the record of an operation that did not hold: who did what, why it does
// not count, and what became of it. Fields that this version does not know survive.
type Conflict struct {
	Run     string   `json:"run_id"`
	Op      string   `json:"op"` // the commit of the losing operation
	Name    string   `json:"operation"`
	Turn    string   `json:"turn_id,omitempty"`
	Role    string   `json:"role,omitempty"`
	Actor   string   `json:"actor"`
	Email   string   `json:"email"`
	At      string   `json:"at"`
	Onto    string   `json:"onto"` // the other side's operation it was decided after
	Reason  string   `json:"reason"`
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message"`
	Ways    []string `json:"ways"`
	Status  string   `json:"status"`            // open, settled
	Settled string   `json:"settled,omitempty"` // how: drop, reissue, again, ours, same
	Because string   `json:"because,omitempty"`
	By      string   `json:"by,omitempty"`
	Extra   ojson.Extra
}

// Words of Conflict.Status.
const (
	ConflictOpen    = "open"
	ConflictSettled = "settled"
)

// SortConflicts puts open ones first, then by time and operation.
func SortConflicts(list []*Conflict) {
	slices.SortFunc(list, func(a, b *Conflict) int {
		if a.Status != b.Status {
			if a.Status == ConflictOpen {
				return -1
			}
			if b.Status == ConflictOpen {
				return 1
			}
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Op, b.Op))
	})
}
