// Confirm: a person vouches for what a run claims and its record cannot prove.

package protocol

import (
	"fmt"

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

// CodeConfirmationRequired means that the run builds on an act of another tool that needs a person's authority
// here, and no person has confirmed it.
const CodeConfirmationRequired = "confirmation_required"

// CodeNothingToConfirm means that the record proves everything the run claims.
const CodeNothingToConfirm = "nothing_to_confirm"

// OpConfirm is the wire name of Confirm.
const OpConfirm = "confirm"

// Confirm lifts every open claim of a run up to one operation. It changes nothing but the decision ledger, where a
// row says who confirmed what. Verification compares Upto and State with the operation's parent.
type Confirm struct {
	Upto   string           `json:"upto"`         // the newest operation when the person looked
	State  string           `json:"state_digest"` // sha256:<hex> of the state.json that it recorded
	Claims []external.Claim `json:"claims"`       // as shown to the person
	Reason string           `json:"reason,omitempty"`

	Consent *agreement.Consent `json:"consent,omitempty"` // who agrees, with the proof
}

// maxClaims bounds the claims of one confirmation.
const maxClaims = 1000

func (*Confirm) Name() string               { return OpConfirm }
func (op *Confirm) Blobs() []*evidence.Blob { return op.Consent.Blobs() }

// Asks returns what the confirmation asks people for, see Asks.
func (op *Confirm) Asks(cfg *config.Config, _ string) (*agreement.Decision, *agreement.Consent) {
	d := &agreement.Decision{Kind: attest.AcceptWorking}
	if cfg != nil {
		d.Rules = agreement.ConfirmationRules(cfg, op.Consent, op.Claims)
	}
	return d, op.Consent
}

// ConfirmResult is the outcome of Confirm.
type ConfirmResult struct{ Claims []external.Claim }

func (op *Confirm) Apply(t *change.Draft) *wire.Error {
	if err := CheckConfirmable(t.State, t.Env.Actor); err != nil {
		return err
	}
	switch {
	case len(op.Claims) == 0:
		return &wire.Error{
			Code:    CodeNothingToConfirm,
			Message: "Nothing of this run waits for a person's confirmation.",
			Hint:    "git agentxchain status",
		}
	case len(op.Claims) > maxClaims:
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "claims",
			Message: fmt.Sprintf("%d claims are more than one confirmation takes (%d).", len(op.Claims), maxClaims),
		}
	case op.Upto == "" || op.State == "":
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "upto",
			Message: "A confirmation names the operation and the state it is about.",
		}
	}
	if err := t.Agree(op.Asks(t.Config, t.State.Phase)); err != nil {
		return err
	}
	t.Append(wire.LedgerDecisions, NewConfirmationEntry(t.State.Run(), t.State.Phase, op, t.Env.Actor, t.Env.Time()))
	t.Subject = "confirm: " + external.ClaimsInWords(op.Claims)
	t.Result = &ConfirmResult{Claims: op.Claims}
	return nil
}

// CheckConfirmable refuses a confirmation for reasons that need no engine state: without a run, and from inside a
// dispatched turn.
func CheckConfirmable(s *run.State, actor evidence.Actor) *wire.Error {
	if actor.InsideTurn != "" {
		return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
			Message: fmt.Sprintf(
				"This process runs inside dispatched turn %s; an agent cannot confirm what another tool passed.",
				actor.InsideTurn),
			Hint: "ask a person to run git agentxchain confirm in their own terminal"}
	}
	if s.Run() == "" {
		return &wire.Error{
			Code:    CodeNothingToConfirm,
			Field:   "run_id",
			Message: "There is no run to confirm anything of.",
			Hint:    "git agentxchain status",
		}
	}
	return nil
}

// NewConfirmationEntry returns the row of a confirmation by a person. The reference has no such row; other readers
// skip unknown types.
func NewConfirmationEntry(run, phase string, op *Confirm, by evidence.Actor, at string) *ojson.Object {
	claims := make([]*ojson.Object, len(op.Claims))
	for i := range op.Claims {
		claims[i] = ojson.Marshal(&op.Claims[i])
	}
	return ojson.NewObject("type", "external_confirmed", "run_id", run, "phase", phase, "operation", op.Upto,
		"state_digest", op.State,
		"claims", claims, "reason", ojson.OrNull(op.Reason),
		"confirmed_by", ojson.NewObject("name", by.Name, "email", by.Email), "terminal", by.Terminal, "timestamp", at)
}
