// Snapshot, Operation and Transition: the engine's input and output.

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RuleSet numbers the engine's rule set. A recorded operation is replayed only by
// the rule set that computed it; raise it when a change alters what an existing
// operation yields.
const RuleSet = 4

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
	Actor Actor
	Git   GitFacts

	drawn int
}

// Actor is who asked for the operation.
type Actor struct {
	Name       string `json:"name"`
	Email      string `json:"email"`
	Terminal   bool   `json:"terminal"`              // a terminal was attached
	InsideTurn string `json:"inside_turn,omitempty"` // turn whose dispatched process asked, "" for none
	Clone      string `json:"clone,omitempty"`       // id of the clone, once it has claimed a turn

	// InsideWhy says why the process counts as inside when no mark names the turn. It is
	// for messages and not recorded.
	InsideWhy string `json:"-"`
}

// InsideTurnText says which turn a process runs inside of, and why it counts as
// inside when that cannot be seen.
func InsideTurnText(turn, why string) string {
	text := "This process runs inside dispatched turn " + turn
	if why != "" {
		text = "This process counts as inside dispatched turn " + turn + ", because " + why
	}
	return text
}

func (a Actor) place() string { return InsideTurnText(a.InsideTurn, a.InsideWhy) }

// GitFacts is the checkout at the time of the operation, for session.json and
// accepted refs.
type GitFacts struct {
	Head   string `json:"head"`   // commit id, "" when unborn
	Branch string `json:"branch"` // "" when detached
	Dirty  bool   `json:"dirty"`
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

// Blob is a piece of evidence an operation was decided on. The op record keeps
// its digest; the store keeps its bytes beside the record.
type Blob struct {
	Digest string `json:"sha256"` // hex
	Size   int    `json:"size"`
	Data   []byte `json:"-"`
}

// NewBlob wraps data.
func NewBlob(data []byte) *Blob {
	sum := sha256.Sum256(data)
	return &Blob{Digest: hex.EncodeToString(sum[:]), Size: len(data), Data: data}
}

// Operation is a request to change a run, as a plain value that can be
// recorded and replayed. Its exported fields are encoded by ojson.Marshal.
type Operation interface {
	// Name is the wire name, e.g. "accept_turn".
	Name() string
	// Blobs lists the operation's evidence; entries may be nil.
	Blobs() []*Blob

	apply(t *transition) *wire.Error
}

// Transition is the outcome of an operation: everything to write, in order.
type Transition struct {
	State     *run.State
	Index     *run.Index
	Appends   []Append
	Amends    []Amend
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

// Append adds whole lines to a ledger.
type Append struct {
	Ledger wire.Ledger
	Data   []byte // ends in \n
}

// Amend replaces one line of a ledger in place, the only rewriting the protocol
// knows: a checkpoint adds members to a history row, an override marks a repo
// decision. Neither line ends in \n.
type Amend struct {
	Ledger   wire.Ledger
	Old, New []byte
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
	t := newTransition(snap, env)
	t.trace, t.judging = trace, trace != nil
	if err := t.mayAct(op); err != nil {
		return nil, err
	}
	if err := op.apply(t); err != nil {
		return nil, err
	}
	return t.finish(op)
}
