// Operation and Apply: the engine's input and output.

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// What the engine takes and returns; package change describes how one becomes the other.
type (
	Snapshot   = change.Snapshot
	Env        = change.Env
	Transition = change.Transition
	FileWrite  = change.FileWrite

	BlockResult = change.BlockResult
)

// Operation is a request to change a run, as a plain value that can be
// recorded and replayed. Its exported fields are encoded by ojson.Marshal.
type Operation interface {
	// Name is the wire name, e.g. "accept_turn".
	Name() string
	// Blobs lists the operation's evidence; entries may be nil.
	Blobs() []*evidence.Blob

	Apply(t *change.Draft) *wire.Error
}

// Apply computes the transition of op on snap. The snapshot is not modified. A nil Transition with an error means
// that the operation is refused and nothing is to be recorded.
func Apply(snap *change.Snapshot, op Operation, env change.Env) (*change.Transition, *wire.Error) {
	return apply(snap, op, env, nil)
}

// apply writes the rules it asks to trace, unless trace is nil; rows, events and documents are made only then.
func apply(snap *change.Snapshot, op Operation, env change.Env, trace *verdict.Step) (*change.Transition,
	*wire.Error) {
	t := begin(snap, env)
	t.Trace, t.Judging = trace, trace != nil
	if err := mayAct(t, op); err != nil {
		return nil, err
	}
	if err := op.Apply(t); err != nil {
		return nil, err
	}
	return finish(t, op)
}

// begin returns the draft of an operation, under the rules of its time.
func begin(snap *change.Snapshot, env change.Env) *change.Draft {
	return change.New(snap, env, ruleSets[ruleSet(env)])
}

// BundledTurn returns the turn whose bundle an operation writes in the same commit; "" for none, and then no bundle
// may change except that of a turn that ends.
func BundledTurn(t *Transition) string {
	switch res := t.Result.(type) {
	case *AssignResult:
		return res.Turn.TurnID
	case *RejectResult:
		return res.Turn.TurnID
	case *ReissueResult:
		return res.Turn.TurnID
	case *attempt.DispatchResult:
		return res.Turn.TurnID
	}
	return ""
}

// finish ends what the operation has settled, writes the events, checks the result against the legal transitions
// and returns it.
func finish(t *change.Draft, op Operation) (*change.Transition, *wire.Error) {
	if _, evidence := op.(*Audit); !evidence {
		t.CloseStale()
	}
	noteApproval(t, op)
	settledOverrules(t)
	if !run.HasPending(t.State) {
		t.State.GateVotes = nil // they were for the gate that waited
	}
	intents.Follow(t)
	if err := t.WriteEvents(); err != nil {
		return nil, err
	}
	if err := LegalTransition(t.Before.State, t.State, op.Name()); err != nil {
		return nil, err
	}
	return t.Done()
}
