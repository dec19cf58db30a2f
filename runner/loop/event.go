// The events of a loop at work (docs/run-loop.md#what-becomes-of-a-turn).

package loop

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Types of events.
const (
	EventTurnAssigned     = "turn_assigned"     // turn, role, state
	EventTurnResumed      = "turn_resumed"      // turn, role, state: another loop assigned it
	EventParallelDispatch = "parallel_dispatch" // count, turns
	EventTurnAccepted     = "turn_accepted"     // turn, role, state
	EventTurnRejected     = "turn_rejected"     // turn, role, reason
	EventTurnConflicted   = "turn_conflicted"   // turn, role, error_code, conflict, state
	EventGateRetried      = "gate_retried"      // gateType, state: its documents were corrected
	EventGatePaused       = "gate_paused"       // gateType, state
	EventGateApproved     = "gate_approved"     // gateType, state
	EventGateHeld         = "gate_held"         // gateType, state
	EventBlocked          = "blocked"           // state, reason
	EventPriorityInjected = "priority_injected" // intent_id, priority
	EventCompleted        = "completed"         // state
	EventCallerStopped    = "caller_stopped"    // state
)

// ActivityWaiting is the type of the loop's own activity for a turn: what it waits for.
const ActivityWaiting = "waiting"

// Event is one thing that happened. State is the run after it; fields that do not
// belong to the type are zero.
type Event struct {
	Type      string
	Turn      *run.Turn
	Role      string
	Reason    string
	ErrorCode string
	Conflict  *ojson.Object
	Entry     *ojson.Object // turn_accepted: the turn's row of history
	Gate      *gates.Result // turn_accepted: the gate that was evaluated, nil for none; not in Object
	GateType  string
	Count     int
	Turns     []string
	IntentID  string
	Priority  string
	State     *run.State
}

// Object returns the event in the protocol's form, without the state, which is large and can be
// read separately.
func (e Event) Object() *ojson.Object {
	o := ojson.NewObject("type", e.Type)
	set := func(key, v string) {
		if v != "" {
			o.Set(key, v)
		}
	}
	if e.Turn != nil {
		o.Set("turn_id", e.Turn.TurnID)
		o.Set("attempt", e.Turn.Attempt)
	}
	set("role", e.Role)
	set("reason", e.Reason)
	set("error_code", e.ErrorCode)
	if e.Conflict != nil {
		o.Set("conflict", e.Conflict)
	}
	set("gateType", e.GateType)
	if e.Type == EventParallelDispatch {
		o.Set("count", e.Count)
		o.Set("turns", e.Turns)
	}
	set("intent_id", e.IntentID)
	set("priority", e.Priority)
	return o
}

// emit calls the caller's callback. The loop goes on whatever the callback does.
func (l *loop) emit(e Event) {
	if l.opt.OnEvent == nil {
		return
	}
	if e.State == nil && l.view != nil {
		e.State = l.view.State
	}
	defer func() {
		if p := recover(); p != nil {
			l.report(fmt.Sprintf("the event callback crashed at %s: %v", e.Type, p), nil)
		}
	}()
	l.opt.OnEvent(e)
}

// notice tells the watcher of a turn what the loop itself does about it.
func (l *loop) notice(turnID, kind, summary string) {
	if l.opt.OnActivity == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			l.report(fmt.Sprintf("the activity callback crashed: %v", p), nil)
		}
	}()
	l.opt.OnActivity(turnID, runtimes.Activity{Type: kind, Summary: summary})
}
