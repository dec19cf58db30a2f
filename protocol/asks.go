// What an act that overrules the record asks of people. The engine and all who judge a
// recorded act again ask here.

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Asks returns the decision that an act which overrules the record asks people for, and
// what they handed in; nil for other operations. phase is that of the run. Without a
// configuration the rules are left out.
func Asks(op Operation, cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent) {
	d := &agreement.Decision{}
	var c *agreement.Consent
	rules := agreement.ActRules
	switch op := op.(type) {
	case *AdoptConfig:
		d.Kind, c, rules = attest.AdoptConfig, op.Consent, op.rules
	case *Confirm:
		d.Kind, c = attest.AcceptWorking, op.Consent
		rules = func(cfg *config.Config, c *agreement.Consent) []*config.GateRule {
			return agreement.ConfirmationRules(cfg, c, op.Claims)
		}
	case *ReconcileCommits:
		d.Kind, c = attest.Reconcile, op.Consent
	case *Reactivate:
		d.Kind, c = attest.Unblock, op.Consent
		if op.AcceptAsIs {
			op.asks(d, phase)
		}
	default:
		return nil, nil
	}
	if cfg != nil {
		d.Rules = rules(cfg, c)
	}
	return d, c
}

// rules are those of who may change rules: of the configuration in force until now. A
// record of before authority was asked has none.
func (op *AdoptConfig) rules(now *config.Config, c *agreement.Consent) []*config.GateRule {
	if op.Was == nil {
		return nil
	}
	return agreement.AdoptionRules(config.DecodeGoverning(op.Was.Data), now, c)
}

// asks makes the decision one about what is taken as it is.
func (op *Reactivate) asks(d *agreement.Decision, phase string) {
	d.Kind, d.Gate, d.GateType, d.Phase = attest.AcceptAsIs, op.On, run.ParseBlocker(op.On).OverruleKind(), phase
	if op.Staged != nil {
		d.Evidence = []evidence.FileBlob{{Path: op.StagedPath, Blob: op.Staged}}
	}
}
