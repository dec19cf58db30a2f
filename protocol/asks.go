// What an act that overrules the record asks of people. The engine and all who judge a
// recorded act again ask here.

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Overruling acts ask people; each says so beside what it does.
type asking interface {
	Asks(cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent)
}

// Asks returns the decision that an act which overrules the record asks people for, and
// what they handed in; nil for other operations. phase is that of the run. Without a
// configuration the rules are left out.
func Asks(op Operation, cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent) {
	if op, ok := op.(asking); ok {
		return op.Asks(cfg, phase)
	}
	return nil, nil
}
