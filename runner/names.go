// Names of other packages that a runner author meets in this interface: a program that drives a run
// imports this package and no other.

package runner

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// Documents of a run (docs/spec/configuration.md).
type (
	Config = config.Config
	State  = run.State
	Status = wire.Status
	Turn   = run.Turn
	Object = ojson.Object // a JSON object that keeps its order and all its members
	OpID   = object.OID   // commit of one recorded operation
)

// Arguments and results of operations.
type (
	Escalation  = protocol.Escalate // of Escalate
	Block       = protocol.Block    // of MarkRunBlocked
	HookCall    = hooks.Call        // of RunHooks
	HookOutcome = hooks.Outcome
	Emission    = notify.Emission // of EmitNotifications

	ConsentOptions = consent.Options // of every decision of a person
	Signed         = consent.Signed  // the error when only a statement was wanted
)

// Statuses of a run.
const (
	StatusIdle      = wire.StatusIdle
	StatusActive    = wire.StatusActive
	StatusPaused    = wire.StatusPaused
	StatusBlocked   = wire.StatusBlocked
	StatusCompleted = wire.StatusCompleted
	StatusFailed    = wire.StatusFailed // a person has abandoned the run
)

// NewObject returns a JSON object of the given members: name, value, name, value.
// Values are nil, bool, numbers, strings, slices of those, and objects.
func NewObject(members ...any) *Object { return ojson.NewObject(members...) }
