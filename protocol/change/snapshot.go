// What an operation is applied to, and its outcome.

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

// Snapshot is what the rules need to know of a run. It never has a whole ledger: Index has the facts that would
// otherwise need one.
type Snapshot struct {
	Config        *config.Config
	State         *run.State
	Index         *run.Index
	RepoDecisions []run.Line // all rows of repo-decisions.jsonl
	Session       *ojson.Object
	HumanTasks    []byte // the present HUMAN_TASKS.md; nil when absent
}

// Env is everything that an operation may not find out for itself.
type Env struct {
	Now   time.Time
	Seed  string // 32 hex digits; all ids of the operation derive from it
	Actor evidence.Actor
	Git   evidence.GitFacts

	rules int // rule set under which the operation is applied; 0 is the present one (Under)
	drawn int
}

// Under returns e for an operation applied under the numbered rule set.
func (e Env) Under(rules int) Env {
	e.rules = rules
	return e
}

// Rules returns the number of the rule set to apply, 0 for the present one.
func (e Env) Rules() int { return e.rules }

// ID returns a new identifier prefix_<16 hex>, a function of the seed and the number of ids drawn before.
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

	Unstage []string // turns of which only the staged result is removed after the commit (Files keeps it)

	Subject string // one line for the commit
	Turn    string // turn the operation concerns, or ""
	Role    string

	// Failure is set when the operation was refused but the refusal itself is
	// recorded (a failed acceptance, a conflict): the transition is committed
	// and the command fails with it.
	Failure *wire.Error
	// Result is the operation's own outcome for the caller: *AssignResult, *AcceptResult and so on.
	Result any
}

// FileWrite is a file below .agentxchain that an operation creates.
type FileWrite struct {
	Path string // project-relative
	Data []byte
}
