// What an operation is applied to, and what comes of it.

package change

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
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

	rules int // rule set the operation is applied by; 0 is the present one (Under)
	drawn int
}

// Under is e for an operation that is applied by the rules of a numbered set.
func (e Env) Under(rules int) Env {
	e.rules = rules
	return e
}

// Rules is the number of the rule set to apply, 0 for the present one.
func (e Env) Rules() int { return e.rules }

// ID returns a new identifier prefix_<16 hex>, a function of the seed and of
// how many were drawn before.
func (e *Env) ID(prefix string) string {
	e.drawn++
	return prefix + "_" + wire.SHA256(fmt.Appendf(nil, "%s:%d:%s", e.Seed, e.drawn, prefix))[:16]
}

// Time returns the operation's time as written to the wire.
func (e *Env) Time() string { return wire.FormatTime(e.Now) }

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
