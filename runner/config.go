// The configuration that a run is judged by, and a person's decision to judge it by another.

package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// ConfigState compares the working configuration with the one in force.
type ConfigState struct {
	Run      string // "" when no run is under way: then the working configuration is in force
	InForce  *config.Config
	Working  *config.Config
	Problems wire.Problems       // of the working one; with any it cannot be adopted
	Changes  []config.RuleChange // of rules, from InForce to Working, then of files of signers
	Next     []config.RuleChange // from the rules of the run that is over to Working
	Notices  []string

	signers []config.RuleChange // the members of Changes about files of signers
}

// ConfigState compares the rules in force with those of agentxchain.json.
func (r *Runner) ConfigState(ctx context.Context) (*ConfigState, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	out := &ConfigState{
		InForce:  v.Config,
		Working:  v.Working,
		Problems: v.ConfigProblems,
		Changes:  v.RuleChanges,
		Next:     v.NextRules,
		Notices:  v.Notices,
	}
	if v.State != nil && run.RulesInForce(v.State.Status) {
		out.Run = v.Run
	}
	out.signers, err = consent.SignersSince(ctx, r.store, v)
	out.Changes = append(slices.Clip(out.Changes), out.signers...)
	return out, err
}

// Shown returns what AdoptConfig takes for the present changes: a digest of the rules and of the changes of signers.
func (st *ConfigState) Shown() string { return shown(st.Working, st.signers) }

func shown(working *config.Config, signers []config.RuleChange) string {
	digest := config.RulesDigest(working)
	for _, c := range signers {
		digest += " " + wire.Digest([]byte(c.Pointer+"\n"+c.Before+"\n"+c.After))
	}
	return digest
}

// Adopted is the outcome of AdoptConfig.
type Adopted struct {
	Done
	Result *protocol.AdoptResult // nil when there was nothing to adopt
}

// AdoptConfig puts the rules of the working configuration in force, and the committed signers.
// digest is the ConfigState.Shown that a person was shown; if it differs by now, the call is
// refused (state_moved). It is also refused inside a dispatched turn (inside_dispatched_turn) and
// without a run under way (invalid_state_transition). The rules in force until then say who may
// adopt (approver_not_allowed, signature_required, approvals_missing).
func (r *Runner) AdoptConfig(ctx context.Context, digest string, who ConsentOptions) (*Adopted, error) {
	out := &Adopted{}
	done, err := r.do(ctx, "config-adopt", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.r.personOnly("adopt another configuration", "git agentxchain config adopt"); err != nil {
			return nil, err
		}
		signers, err := consent.SignersSince(ctx, c.r.store, c.view)
		if err != nil {
			return nil, err
		}
		changes := append(slices.Clip(c.view.RuleChanges), signers...)
		if len(changes) == 0 && run.RulesInForce(c.view.State.Status) {
			return nil, nil
		}
		was := c.view.Config
		op := &protocol.AdoptConfig{
			Was:     evidence.NewBlob(ojson.Pretty(was.Raw)),
			Before:  config.RulesDigest(was),
			After:   config.RulesDigest(c.view.Working),
			Changes: []protocol.AdoptedChange{},
			Signers: len(signers) > 0,

			Unguards: agreement.Unguards(was, c.view.Working),
		}
		if shown(c.view.Working, signers) != digest {
			return nil, &wire.Error{
				Code:    gitstore.CodeStateMoved,
				Field:   wire.ConfigPath,
				Message: "What would be adopted has changed since it was shown.",
				Hint:    "git agentxchain config adopt",
			}
		}
		for _, k := range changes {
			op.Changes = append(op.Changes, protocol.AdoptedChange(k))
		}
		if err := c.useWorkingConfig(); err != nil {
			return nil, err
		}
		if _, err := c.look(ctx); err != nil {
			return nil, err
		}
		op.Mark = c.r.store.Fingerprint(wire.ConfigPath)
		op.Consent, err = c.consent(ctx, consent.Question{
			Decision: attest.AdoptConfig,
			Rules: func(given *agreement.Consent) []*config.GateRule {
				return agreement.AdoptionRules(was, c.view.Config, given, op.TakesAll())
			},
		}, who)
		return &plan{op: op}, err
	})
	out.Done, out.Result = *done, resultOf[*protocol.AdoptResult](done, err)
	return out, err
}

// useWorkingConfig makes this change decided and recorded under the working configuration.
func (c *change) useWorkingConfig() error {
	v, err := c.tx.UseWorkingConfig()
	if err != nil {
		return err
	}
	c.view = v
	return c.r.ready(context.Background(), v)
}

// RulesNotice says that the working configuration has rules that are not in force, or weaker ones than the run that
// is over was judged by; "" when it has none. A pulled branch may have brought them.
func RulesNotice(v *View) string {
	if weak := len(config.Weakening(v.NextRules)); weak > 0 {
		return fmt.Sprintf("%s has other rules than run %s was judged by (%s, %d weaken), and the next run begins with them; "+
			"to see them: git agentxchain config diff",
			wire.ConfigPath, v.Run, text.Count(len(v.NextRules), "change", "changes"), weak)
	}
	if len(v.RuleChanges) == 0 {
		return ""
	}
	then := "to see and adopt them: git agentxchain config adopt"
	if len(v.ConfigProblems) > 0 {
		then = "before they can be adopted: git agentxchain validate"
	}
	return fmt.Sprintf("%s has other rules than this run is judged by (%s, %d weaken); %s",
		wire.ConfigPath, text.Count(len(v.RuleChanges), "change", "changes"), len(config.Weakening(v.RuleChanges)),
		then)
}
