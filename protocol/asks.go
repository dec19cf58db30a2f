// The people who must agree to an operation that overrules the record. The engine and everything that judges a recorded
// operation again ask here.

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// asking is an operation that overrules the record and so needs people; each declares it beside what it does.
type asking interface {
	Asks(cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent)
}

// Asks returns the decision that an operation which overrules the record asks people for, and the consent they
// gave; nil for other operations. phase is the run's phase. Without a configuration the rules are skipped.
func Asks(op Operation, cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent) {
	if op, ok := op.(asking); ok {
		return op.Asks(cfg, phase)
	}
	return nil, nil
}
