// Snapshot, Operation and Transition: the engine's input and output.

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Snapshot is what the rules need to know of a run. It never holds a whole
// ledger: Index carries the facts that would otherwise need one.
type Snapshot struct {
	Config        *config.Config
	State         *run.State
	Index         *run.Index
	RepoDecisions []run.Line // all rows of repo-decisions.jsonl
	Session       *ojson.Object
	HumanTasks    []byte // HUMAN_TASKS.md as it is; nil when absent
}

// Env is everything an operation may not ask the world for itself.
type Env struct {
	Now   time.Time
	Seed  string // 32 hex digits; all ids of the operation derive from it
	Actor evidence.Actor
	Git   evidence.GitFacts

	rules int // rule set the operation is applied by; 0 is the present one
	drawn int
}

// ID returns a new identifier prefix_<16 hex>, a function of the seed and of
// how many were drawn before.
func (e *Env) ID(prefix string) string {
	e.drawn++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%s", e.Seed, e.drawn, prefix))
	return prefix + "_" + hex.EncodeToString(sum[:8])
}

// Time returns the operation's time as written to the wire.
func (e *Env) Time() string { return wire.FormatTime(e.Now) }

// Operation is a request to change a run, as a plain value that can be
// recorded and replayed. Its exported fields are encoded by ojson.Marshal.
type Operation interface {
	// Name is the wire name, e.g. "accept_turn".
	Name() string
	// Blobs lists the operation's evidence; entries may be nil.
	Blobs() []*evidence.Blob

	Apply(t *transition) *wire.Error
}

// Transition is the outcome of an operation: everything to write, in order.
type Transition struct {
	State     *run.State
	Index     *run.Index
	Appends   []ledger.Append
	Amends    []ledger.Amend
	Documents map[wire.Document][]byte // besides wire.DocState, which is State.Encode()
	Files     []FileWrite              // orchestrator-owned files such as derived reviews
	DropTurns []string                 // turns whose bundle and staged result are removed after the commit

	Unstage []string // turns whose staged result alone is removed after the commit (it is kept in Files)

	Subject string // one line for the commit
	Turn    string // turn the operation concerns, or ""
	Role    string

	// Failure is set when the operation was refused but the refusal itself is
	// recorded (a failed acceptance, a conflict): the transition is committed
	// and the command fails with it.
	Failure *wire.Error
	// Result holds the operation's own outcome for the caller: *AssignResult,
	// *AcceptResult and so on.
	Result any
}

// FileWrite is a file below .agentxchain that an operation creates.
type FileWrite struct {
	Path string // project-relative
	Data []byte
}

// Apply computes the transition of op on snap. The snapshot is not modified.
// A nil Transition with an error means: refused, nothing to record.
func Apply(snap *Snapshot, op Operation, env Env) (*Transition, *wire.Error) {
	return apply(snap, op, env, nil)
}

// apply writes the rules it asks to trace, unless that is nil; rows, events and documents
// are made when it is.
func apply(snap *Snapshot, op Operation, env Env, trace *verdict.Step) (*Transition, *wire.Error) {
	// A record keeps the time in wire precision and draws its ids from the first:
	// what a caller's clock or earlier draws add must not decide anything.
	env.Now = env.Now.UTC().Truncate(time.Millisecond)
	env.drawn = 0
	t := newTransition(snap, env, ruleSets[env.RuleSet()])
	t.Trace, t.Judging = trace, trace != nil
	if err := mayAct(t, op); err != nil {
		return nil, err
	}
	if err := op.Apply(t); err != nil {
		return nil, err
	}
	return finish(t, op)
}

// finish ends what the operation has settled, writes the events, checks the result against
// the legal transitions and hands it out.
func finish(t *transition, op Operation) (*Transition, *wire.Error) {
	if _, evidence := op.(*Audit); !evidence {
		t.CloseStale()
	}
	noteApproval(t, op)
	settledOverrules(t)
	if !run.HasPending(t.State) {
		t.State.GateVotes = nil // they were for the gate that waited
	}
	followIntents(t)
	if err := t.WriteEvents(); err != nil {
		return nil, err
	}
	if err := LegalTransition(t.Before.State, t.State, op.Name()); err != nil {
		return nil, err
	}
	return t.Done()
}
