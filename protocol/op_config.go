// AdoptConfig puts another configuration in force for a running run.

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AdoptConfig makes the working configuration the one that judges the run; a person decides this. The operation is
// applied under that configuration, which is recorded with it.
type AdoptConfig struct {
	Before  string          `json:"rules_before"` // config.RulesDigest
	After   string          `json:"rules_after"`
	Changes []AdoptedChange `json:"changes"` // as shown to the person
	// Signers: the changes include files of signers, as HEAD has them; from now on those count.
	Signers bool `json:"signers,omitempty"`
	// Unguards: a phase no longer ends at a gate with approvers; the approvers therefore have to agree.
	Unguards bool `json:"unguards,omitempty"`

	// the configuration in force until now; nil in older records
	Was     *evidence.Blob     `json:"was,omitempty"`
	Consent *agreement.Consent `json:"consent,omitempty"` // who agrees, with the proof

	// Mark is the fingerprint of the working configuration. The person has looked at it, so no turn at work has to
	// account for it.
	Mark string `json:"mark,omitempty"`
}

// AdoptedChange is a config.RuleChange on record.
type AdoptedChange struct {
	Pointer string `json:"pointer"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Weakens bool   `json:"weakens,omitempty"`
}

func (*AdoptConfig) Name() string { return "config_adopt" }
func (op *AdoptConfig) Blobs() []*evidence.Blob {
	return append([]*evidence.Blob{op.Was}, op.Consent.Blobs()...)
}

// Asks returns what the adoption asks people for, see Asks. The configuration in force until now says who may
// change rules. Records from before authority was asked have nothing to ask.
func (op *AdoptConfig) Asks(cfg *config.Config, _ string) (*agreement.Decision, *agreement.Consent) {
	d := &agreement.Decision{Kind: attest.AdoptConfig}
	if cfg != nil && op.Was != nil {
		d.Rules = agreement.AdoptionRules(config.DecodeGoverning(op.Was.Data), cfg, op.Consent, op.TakesAll())
	}
	return d, op.Consent
}

// TakesAll reports whether everyone who approves has to agree, even if authority itself changes.
func (op *AdoptConfig) TakesAll() bool { return op.Signers || op.Unguards }

// AdoptResult is the outcome of AdoptConfig.
type AdoptResult struct{ Changes []AdoptedChange }

func (op *AdoptConfig) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if s.Run() == "" || !run.RulesInForce(s.Status) {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: "No run is under way; the next one begins with the configuration of then.",
			Hint:    run.TurnHint(s),
		}
	}
	if err := t.OutsideTurn("adopt another configuration", "git agentxchain config adopt"); err != nil {
		return err
	}
	if config.RulesDigest(t.Config) != op.After || op.Before == op.After && !op.Signers {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "rules_after",
			Message: "The configuration is not the one that was shown.",
			Hint:    "git agentxchain config adopt",
		}
	}
	if err := op.agreed(t); err != nil {
		return err
	}
	if t.Config.Routing.Len() > 0 && t.Config.Route(s.Phase) == nil {
		return &wire.Error{
			Code:    wire.CodeInvalidConfig,
			Field:   "routing",
			Message: fmt.Sprintf("The run is in phase %q, which the configuration no longer has.", s.Phase),
			Hint:    "put the phase back into agentxchain.json, then: git agentxchain config adopt",
		}
	}
	for id, turn := range s.ActiveTurns.All() {
		if t.Config.Role(turn.AssignedRole) == nil {
			return &wire.Error{
				Code:  wire.CodeUnknownRole,
				Field: "roles",
				Message: fmt.Sprintf("Turn %s is role %q's, which the configuration no longer has.", id,
					turn.AssignedRole),
				Hint: "put the role back into agentxchain.json, or give the work to another: git agentxchain reissue " + id + " --role ROLE",
			}
		}
	}
	for _, r := range t.Config.Routing.All() {
		if r.ExitGate != "" && !s.PhaseGateStatus.Has(r.ExitGate) {
			s.PhaseGateStatus.Set(r.ExitGate, wire.GatePending)
		}
	}
	op.relaxed(t)
	op.known(t)
	weakens := 0
	rows := make([]*ojson.Object, len(op.Changes))
	for i, c := range op.Changes {
		rows[i] = ojson.NewObject("pointer", c.Pointer, "before", c.Before, "after", c.After, "weakens", c.Weakens)
		if c.Weakens {
			weakens++
		}
	}
	t.Event(run.EventConfigAdopted, nil, "rules_before", op.Before, "rules_after", op.After, "changes", rows,
		"weakening", weakens, "votes", t.Voters())
	t.Subject = fmt.Sprintf("adopt other rules (%d changes, %d weaken)", len(rows), weakens)
	t.Result = &AdoptResult{Changes: op.Changes}
	return nil
}

// relaxed lifts a stop whose budget was raised or whose policies changed: the turn is then judged again.
func (op *AdoptConfig) relaxed(t *change.Draft) {
	r := t.State.BlockedReason
	if t.State.Status == wire.StatusBlocked && r != nil && r.Category == "budget_exhausted" &&
		!t.Earlier.BudgetUnblocked {
		if causeGone(t) == nil {
			t.ClearBlock("config_adopted")
		}
		return
	}
	if t.State.Status != wire.StatusBlocked || r == nil || r.Category != "policy_escalation" ||
		!t.State.ActiveTurns.Has(wire.OrEmpty(r.TurnID)) {
		return
	}
	if slices.ContainsFunc(op.Changes, func(c AdoptedChange) bool {
		return c.Pointer == "/policies" || strings.HasPrefix(c.Pointer, "/policies/")
	}) {
		t.ClearBlock("config_adopted")
	}
}

// known adds the configuration to what the turns at work started with.
func (op *AdoptConfig) known(t *change.Draft) {
	if op.Mark == "" {
		return
	}
	for id, turn := range t.State.ActiveTurns.All() {
		if turn.Baseline == nil {
			continue
		}
		out, base := *turn, *turn.Baseline
		base.DirtySnapshot = base.DirtySnapshot.Clone(nil)
		base.DirtySnapshot.Set(wire.ConfigPath, op.Mark)
		out.Baseline = &base
		t.State.ActiveTurns.Set(id, &out)
	}
}

// agreed checks the act against the rules on who may change rules: those in force until now.
func (op *AdoptConfig) agreed(t *change.Draft) *wire.Error {
	if op.Was == nil {
		return nil
	}
	was := config.DecodeGoverning(op.Was.Data)
	if was == nil || config.RulesDigest(was) != op.Before {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "was",
			Message: "The configuration in force until now is not the one the adoption names.",
			Hint:    "git agentxchain config adopt",
		}
	}
	if !t.Earlier.UnguardsUntold && op.Unguards != agreement.Unguards(was, t.Config) {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "unguards",
			Message: "The adoption does not say rightly whether a phase is led around a gate with approvers.",
			Hint:    "git agentxchain config adopt",
		}
	}
	if err := t.Agree(op.Asks(t.Config, t.State.Phase)); err != nil {
		return err
	}
	if t.Config.Authority != nil && (t.State.AuthorityBase == nil || op.Signers ||
		agreement.AuthorityChanged(was, t.Config)) && t.Env.Git.Head != "" {
		t.State.AuthorityBase = new(t.Env.Git.Head)
	}
	return nil
}

// RulesClaim returns what an operation claims by recording the configuration now, when the previous operation
// recorded was and left the run in the given status. A running run keeps its rules until config_adopt; a finished
// run, and a project without a run, takes the present configuration.
func RulesClaim(op string, status wire.Status, was, now []byte) []external.Claim {
	if op == (*AdoptConfig)(nil).Name() || op == (*InitRun)(nil).Name() || !run.RulesInForce(status) {
		return nil
	}
	before := config.DecodeGoverning(was)
	if before == nil || len(config.Weakening(config.RuleChanges(before, config.DecodeGoverning(now)))) == 0 {
		return nil
	}
	return []external.Claim{{Kind: external.ClaimRules}}
}
