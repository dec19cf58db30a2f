// Joining: what becomes of an operation that was recorded concurrently with others, once it is decided again after
// them (docs/teams.md#when-two-machines-went-on).

package join

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Why an operation does not hold after another machine's operations.
const (
	Superseded = "superseded"    // the others decided the same thing differently
	AskAgain   = "ask_again"     // a person decided on something that has changed since
	Refused    = "refused"       // the rules refuse it there
	Foreign    = "cannot_replay" // another tool's work, or of another rule set
	Follows    = "follows"       // it builds on an operation that does not hold
	Rules      = "rules_differ"  // both sides adopted other rules
	Same       = "same"          // it holds: the other side recorded the same
)

// Ways out of a conflict, in the words of the command line.
const (
	WayReissue = "reissue"   // assign the role a turn again; the losing work is its input
	WayDrop    = "drop"      // with a reason
	WayAgain   = "ask again" // a person decides again
	WayAccept  = "take ours" // stage the losing result again and have it judged
)

// Refusal says why an operation does not hold, and what can be done.
type Refusal struct {
	Reason  string // Superseded to Same
	Code    string // of the rules' refusal, "" when they were not asked
	Message string
	Ways    []string
}

// TheirOps is what the other side recorded since the last common operation.
type TheirOps struct {
	same     map[string]bool      // name and seed: the same operation, already joined
	accepted map[string]string    // turn -> digest of the accepted result
	approved map[run.Waiting]bool // requests that a person approved
	withdrew bool                 // a person took an approval back
	lifted   map[string]bool      // blocks that a person lifted
	adopted  bool
	commits  map[string]bool // turn and commit of checkpoints
}

// Moot reports whether there is nothing left for a person to decide about an operation that does not hold: it says how
// far an attempt has come that is another one there or none, or it is the commit of a result that does not hold either.
func (r *Refusal) Moot(op protocol.Operation) bool {
	switch op.(type) {
	case *attempt.DispatchTurn, *attempt.AdvanceTurn, *attempt.DispatchTimeout, *attempt.Watch:
		return true
	case *commits.Checkpoint:
		return r.Reason == Follows
	}
	return false
}

// NewTheirOps returns an empty side; Add fills it.
func NewTheirOps() *TheirOps {
	return &TheirOps{
		same:     make(map[string]bool),
		accepted: make(map[string]string),
		approved: make(map[run.Waiting]bool),
		lifted:   make(map[string]bool),
		commits:  make(map[string]bool),
	}
}

// Add notes an operation of the other side. then is what it was decided on; landed says that the operation did what
// was asked (it did not record a refusal).
func (o *TheirOps) Add(rec *protocol.Record, then *protocol.Snapshot, landed bool) {
	o.same[sameKey(rec)] = true
	if !landed {
		return
	}
	before := then.State
	switch op := rec.Op.(type) {
	case *protocol.AcceptTurn:
		if turn := acceptTarget(op, before); turn != "" && op.Staged != nil {
			o.accepted[turn] = op.Staged.Digest
		}
	case *protocol.ApprovePhase, *protocol.ApproveCompletion:
		o.approved[request(before)] = true
	case *protocol.WithdrawApproval:
		o.withdrew = true
	case *protocol.Reactivate:
		if !op.AcceptAsIs {
			o.lifted[About(op, then, nil)] = true
		}
	case *protocol.AdoptConfig:
		o.adopted = true
	case *commits.Checkpoint:
		o.commits[string(ojson.Compact(ojson.Marshal(op)))] = true
	}
}

func sameKey(rec *protocol.Record) string { return rec.Name + " " + rec.Env.Seed }

func acceptTarget(op *protocol.AcceptTurn, before *run.State) string {
	if op.TurnID != "" || before == nil {
		return op.TurnID
	}
	if turn := before.OnlyTurn(); turn != nil {
		return turn.TurnID
	}
	return ""
}

// request returns the request for which a run waits for a person, without its time; the zero value where it does
// not wait.
func request(s *run.State) run.Waiting {
	if s == nil || !run.HasPending(s) {
		return run.Waiting{}
	}
	w := *s.Waiting()
	w.At = ""
	return w
}

// Decide decides again on one of our operations after those of the other side. snap is what the operation is
// applied to now, then what it was applied to when it was recorded, was its result then.
//
// A transition means that the operation holds. No transition and no refusal means that the other side already has
// it. The function is pure: the same records give the same answer on every machine.
func Decide(their *TheirOps, snap *protocol.Snapshot, rec *protocol.Record, then *protocol.Snapshot,
	was *protocol.Transition) (*protocol.Transition, *Refusal) {
	if their.same[sameKey(rec)] {
		return nil, nil
	}
	if rec.Op == nil {
		return nil, &Refusal{
			Reason:  Foreign,
			Message: "changes of another tool, or of another rule set, cannot be decided again",
			Ways:    []string{WayDrop},
		}
	}
	before := then.State
	switch op := rec.Op.(type) {
	case *protocol.AcceptTurn:
		turn := acceptTarget(op, before)
		digest, ok := their.accepted[turn]
		switch {
		case !ok || was == nil || was.Failure != nil:
		case op.Staged != nil && op.Staged.Digest == digest:
			return nil, nil
		default:
			return nil, &Refusal{
				Reason: Superseded,
				Message: fmt.Sprintf("turn %s was accepted on both sides with different results; the other came first",
					turn),
				Ways: []string{WayReissue, WayDrop},
			}
		}
		if op.TurnID == "" && turn != "" {
			if now := snap.State.OnlyTurn(); now == nil || now.TurnID != turn {
				return nil, &Refusal{
					Reason:  Superseded,
					Message: fmt.Sprintf("turn %s is no longer the only active turn", turn),
					Ways:    []string{WayAccept, WayReissue, WayDrop},
				}
			}
		}
	case *protocol.ApprovePhase, *protocol.ApproveCompletion:
		asked := request(before)
		switch {
		case request(snap.State) == asked && their.withdrew:
			// Our approval was given without knowledge of theirs and of why it did not stand.
			return nil, &Refusal{
				Reason:  AskAgain,
				Message: "the other side took an approval of the gate back",
				Ways:    []string{WayAgain, WayDrop},
			}
		case request(snap.State) == asked:
		case their.approved[asked]:
			return nil, nil
		default:
			return nil, &Refusal{
				Reason:  AskAgain,
				Message: "what was approved is not what waits now",
				Ways:    []string{WayAgain, WayDrop},
			}
		}
	case *protocol.Reactivate:
		if !op.AcceptAsIs && their.lifted[About(op, then, was)] {
			return nil, nil
		}
	case *protocol.AbandonRun:
		if snap.State.Abandoned != nil {
			return nil, nil
		}
	case *commits.Checkpoint:
		if their.commits[string(ojson.Compact(ojson.Marshal(op)))] {
			return nil, nil
		}
	case *protocol.AdoptConfig:
		if their.adopted {
			return nil, &Refusal{
				Reason:  Rules,
				Message: "both sides adopted other rules; those of the other came first",
				Ways:    []string{WayAgain, WayDrop},
			}
		}
	case *protocol.Confirm:
		return nil, &Refusal{
			Reason:  AskAgain,
			Message: "a confirmation is about the operation before it, which is another one now",
			Ways:    []string{WayAgain, WayDrop},
		}
	}
	now, refusal := protocol.Apply(snap, rec.Op, rec.Env)
	if refusal == nil && now.Failure != nil && (was == nil || was.Failure == nil) {
		refusal = now.Failure
	}
	if refusal == nil && was != nil {
		if other := unforeseen(rec, snap, was, now); other != nil {
			return nil, other
		}
	}
	if refusal == nil {
		outcome := now
		if was == nil {
			outcome = nil // nothing to compare it with
		}
		if a, b := About(rec.Op, then, was), About(rec.Op, snap, outcome); a != b {
			return nil, otherwise(rec.Op, a, b)
		}
		return now, nil
	}
	ways := WaysOf(rec.Op)
	if refusal.Code == wire.CodeTurnNotActive {
		ways = slices.DeleteFunc(ways, func(w string) bool { return w == WayAccept })
	}
	return nil, &Refusal{
		Reason:  Refused,
		Code:    refusal.Code,
		Message: refusal.Message,
		Ways:    ways,
	}
}

// unforeseen refuses an outcome that reaches further than the one that was recorded, so that what comes before it was
// not done: no person saw a refused result accepted, no hook was asked about a vote that opens the gate now, and the
// other side's votes were not compared with the people and keys that count.
func unforeseen(rec *protocol.Record, snap *protocol.Snapshot, was, now *protocol.Transition) *Refusal {
	op := rec.Op
	if was.Failure != nil && now.Failure == nil {
		return &Refusal{
			Reason:  AskAgain,
			Message: "it was refused when it was made, and would not be now: " + was.Failure.Message,
			Ways:    WaysOf(op),
		}
	}
	then, voted := was.Result.(*protocol.ApproveResult)
	res, votes := now.Result.(*protocol.ApproveResult)
	if votes && res.Passed {
		// An earlier rule set did not compare them.
		if _, lapsed := protocol.Apply(snap, op, rec.Env.Under(protocol.RuleSet)); lapsed != nil {
			return &Refusal{Reason: AskAgain, Code: lapsed.Code, Message: lapsed.Message, Ways: WaysOf(op)}
		}
	}
	if voted && votes && res.Passed && !then.Passed && len(snap.Config.Hooks.Array("before_gate")) > 0 {
		return &Refusal{
			Reason:  AskAgain,
			Message: "it would open gate " + res.Gate + " now, and the hooks of before_gate were not asked",
			Ways:    WaysOf(op),
		}
	}
	return nil
}

// WaysOf returns the ways out of a refusal by the rules. Only an acceptance has a result to go on with.
func WaysOf(op protocol.Operation) []string {
	switch op.(type) {
	case *protocol.AcceptTurn:
		return []string{WayAccept, WayReissue, WayDrop}
	case *commits.Checkpoint:
		return []string{WayDrop}
	}
	return []string{WayAgain, WayDrop}
}

// FollowsFrom refuses an operation about a turn that an earlier conflict took.
func FollowsFrom(op protocol.Operation, turn string) *Refusal {
	ways := []string{WayDrop}
	if _, ok := op.(*protocol.AcceptTurn); ok {
		ways = []string{WayReissue, WayDrop}
	}
	return &Refusal{
		Reason:  Follows,
		Message: fmt.Sprintf("it concerns turn %s, and an earlier operation on that turn is not valid", turn),
		Ways:    ways,
	}
}

// RecordedThere says that the other side already has the operation. Nothing is left to decide.
func RecordedThere() *Refusal {
	return &Refusal{
		Reason:  Same,
		Message: "the other side recorded the same",
		Ways:    []string{},
	}
}
