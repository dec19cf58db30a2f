// The working state of one operation: what the rules have decided so far.

package change

import (
	"bytes"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Draft is a Transition in the making. Its State and Index are private copies;
// raw objects inside them are never modified in place, only replaced.
type Draft struct {
	Transition

	Before  *Snapshot
	Config  *config.Config
	Env     *Env
	Earlier Earlier // how the operation's rule set differed

	Tasks    []byte        // HUMAN_TASKS.md before; nil when absent
	Session  string        // checkpoint reason, "" for none
	Agreed   []*run.Vote   // who agreed to an act
	GateFell bool          // a gate has failed in this operation
	Trace    *verdict.Step // receives the rules that are asked; nil: no trace
	Judging  bool          // for Judge: makes no rows, events and documents

	ledgers    map[wire.Ledger]*bytes.Buffer
	events     []pendingEvent
	last       []pendingEvent // events that end the operation: run_blocked, run_completed
	humanTasks []byte
}

type pendingEvent struct {
	kind    string
	turn    *run.Turn
	payload *ojson.Object
}

// New starts an operation.
func New(snap *Snapshot, env Env, earlier Earlier) *Draft {
	// A record keeps the time in wire precision and draws its ids from the start of the sequence: a finer clock or
	// earlier draws must not affect the decision.
	env.Now = env.Now.UTC().Truncate(time.Millisecond)
	env.drawn = 0
	t := &Draft{
		Transition: Transition{State: snap.State.Copy(run.SharedObjects)},
		Before:     snap,
		Config:     snap.Config,
		Env:        &env,
		Earlier:    earlier,
		Tasks:      snap.HumanTasks,
		ledgers:    make(map[wire.Ledger]*bytes.Buffer),
	}
	if snap.Index != nil {
		t.Index = snap.Index.Copy(run.SharedObjects)
	} else {
		t.Index = &run.Index{Run: snap.State.Run()}
	}
	return t
}

// Append adds a row to a ledger.
func (t *Draft) Append(l wire.Ledger, row *ojson.Object) {
	if t.Judging {
		return
	}
	t.AppendBytes(l, append(ojson.Compact(row), '\n'))
}

func (t *Draft) AppendBytes(l wire.Ledger, data []byte) {
	if t.Judging {
		return
	}
	b := t.ledgers[l]
	if b == nil {
		b = &bytes.Buffer{}
		t.ledgers[l] = b
	}
	b.Write(data)
}

// Event queues a run event. Envelopes take phase and status from the final state, since an acceptance reports its
// outcome (docs/spec/state.md#events).
func (t *Draft) Event(kind string, turn *run.Turn, pairs ...any) {
	t.events = append(t.events, pendingEvent{kind, turn, ojson.NewObject(pairs...)})
}

// FirstEvent queues an event before all others of the operation.
func (t *Draft) FirstEvent(kind string, turn *run.Turn) {
	t.events = append([]pendingEvent{{kind, turn, &ojson.Object{}}}, t.events...)
}

// ForgetEvents drops the queued events: the operation had another outcome.
func (t *Draft) ForgetEvents() { t.events = nil }

// LastEvent queues an event that comes after all others of the operation.
func (t *Draft) LastEvent(kind string, turn *run.Turn, payload *ojson.Object) {
	t.last = append(t.last, pendingEvent{kind, turn, payload})
}

// Write makes the operation create a file below .agentxchain.
func (t *Draft) Write(path string, data []byte) {
	t.Files = append(t.Files, FileWrite{path, data})
}

// About names the turn the operation is about, for the commit's trailers.
func (t *Draft) About(turn *run.Turn) {
	t.Turn, t.Role = turn.TurnID, turn.AssignedRole
}

// Target resolves the turn an operation is about: the named one, or the only
// active one (docs/spec/lifecycle.md#accepting-a-turn step 1).
func (t *Draft) Target(id, command string) (*run.Turn, *wire.Error) {
	return run.ResolveTurn(t.State, id, command)
}

// DropTurn removes a turn and its reservation from the state.
func (t *Draft) DropTurn(id string) {
	t.State.ActiveTurns.Delete(id)
	t.State.BudgetReservations.Delete(id)
	t.DropTurns = append(t.DropTurns, id)
}

// Done checks the state and returns the transition.
func (t *Draft) Done() (*Transition, *wire.Error) {
	if p := run.CheckState(t.State); len(p) > 0 {
		return nil, &wire.Error{Code: wire.CodeInvalidState, Problems: p,
			Message: "The operation would leave an invalid state: " + p.Join() + "."}
	}
	t.Index.KeepRequests(t.State)
	t.Index.Trim(t.State)
	out := t.Transition
	out.Documents = make(map[wire.Document][]byte)
	for _, l := range wire.Ledgers() {
		if b := t.ledgers[l]; b != nil {
			out.Appends = append(out.Appends, ledger.Append{Ledger: l, Data: b.Bytes()})
		}
	}
	if t.Session != "" && !t.Judging {
		out.Documents[wire.DocSession] = ojson.Pretty(BuildSession(t.Before.Session, t.State, t.Session, t.Env))
	}
	if t.humanTasks != nil {
		out.Documents[wire.DocHumanTasks] = t.humanTasks
	}
	return &out, nil
}

// WriteEvents appends the queued events. Events that end the operation come last, run_completed after all others.
// No event is older than the one before it, even when this machine's clock is behind another's
// (docs/spec/state.md#events).
func (t *Draft) WriteEvents() *wire.Error {
	events := append(slices.Clip(t.events), t.last...)
	slices.SortStableFunc(events, func(a, b pendingEvent) int { return eventRank(a.kind) - eventRank(b.kind) })
	at := t.Env.Time()
	if last, err := wire.ParseTime(t.Index.LastEventAt); err == nil && last.After(t.Env.Now) {
		// The wire has milliseconds; a finer time of another writer is rounded up.
		at = wire.FormatTime(last.Add(time.Millisecond - time.Nanosecond))
	}
	for _, e := range events {
		t.Index.LastEventAt = at
		if t.Judging && !run.MailEvent(e.kind) {
			t.Env.drawn++ // its id
			continue
		}
		row, err := t.envelope(e, at)
		if err != nil {
			return &wire.Error{Code: wire.CodeProtocolError, Message: err.Error()}
		}
		t.Append(wire.LedgerEvents, row)
		t.Index.Mail(row)
	}
	return nil
}

func eventRank(kind string) int {
	switch kind {
	case run.EventRunBlocked:
		return 1
	case run.EventBudgetExceededWarn:
		return 2
	case run.EventGatePending:
		return 3
	case run.EventRunCompleted, run.EventAbandoned:
		return 4
	}
	return 0
}

func (t *Draft) envelope(e pendingEvent, at string) (*ojson.Object, error) {
	var turn *ojson.Object
	var intent any
	if e.turn != nil {
		turn = ojson.NewObject("turn_id", e.turn.TurnID, "role_id", e.turn.AssignedRole)
		if id := e.turn.IntakeContext.String("intent_id"); id != "" {
			intent = id
		}
	}
	return run.NewEvent(run.EventSpec{
		ID:       t.Env.ID("evt"),
		Type:     e.kind,
		Time:     at,
		Run:      t.State.Run(),
		Phase:    t.State.Phase,
		Status:   t.State.Status,
		Turn:     turn,
		IntentID: intent,
		Payload:  e.payload,
	})
}
