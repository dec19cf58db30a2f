// Open claims: claims of other tools that no person has confirmed, and what may be done while there are any.

package gitstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// harmless lists the operations that build on nothing another tool passed: stopping a run, sending work back and
// keeping evidence are always possible.
func harmless() []string {
	return []string{protocol.OpConfirm, protocol.OpDeny, protocol.OpAbandon, "escalate", "block", "reject_turn",
		"dispatch_timeout", "watch_turns",
		"record_audit", "record_lease", "send_message", "ack_message", protocol.OpClaim}
}

// mayBuild refuses an operation that would build on an unconfirmed claim. The error is a *wire.Error of code
// confirmation_required.
func (tx *Tx) mayBuild(operation string) error {
	if len(tx.open) == 0 || slices.Contains(harmless(), operation) {
		return nil
	}
	return Unconfirmed(tx.in.run, tx.open)
}

// Open returns the claims of the run that no person has confirmed.
func (tx *Tx) Open() []proof.Claim { return tx.open }

// Unconfirmed returns the error for building on open claims.
func Unconfirmed(run string, open []proof.Claim) *wire.Error {
	rows := make([]*ojson.Object, len(open))
	claims := make([]external.Claim, len(open))
	for i, c := range open {
		claims[i] = c.Claim
		rows[i] = ojson.Marshal(&c.Claim)
		rows[i].Set("op", string(c.Op))
	}
	return &wire.Error{
		Code:  protocol.CodeConfirmationRequired,
		Field: "run_id",
		Message: fmt.Sprintf(
			"Run %s was carried on by another tool or from elsewhere, and no person has confirmed it here: %s.", run,
			external.ClaimsInWords(claims)),
		Hint:    "a person runs git agentxchain confirm, which shows what it is about first",
		Details: ojson.NewObject("claims", rows),
	}
}

// admit refuses to record an operation of another tool that verification would reject: the run could never be read
// again.
func (s *Store) admit(ctx context.Context, run string, op object.OID) error {
	v, err := proof.Verify(ctx, s.repo, run, op)
	if err != nil || v.Sound() {
		return err
	}
	if f := v.Findings[0]; f.Op == op {
		return fail.Errorf(record.CodeStateTampered, nil, "the changes of another tool cannot be recorded: %s",
			f.Message).WithHint("%s", record.RepairHint)
	}
	return v.Err()
}

// pending returns the claims that working files make beyond the record.
func (in *inspection) pending(v *View) []proof.Claim {
	var before *run.State
	switch in.sit {
	case sitAdopt:
	case sitExternal:
		data, _, err := in.tip.Reader.File(in.tip.Root, record.FileState)
		if err != nil {
			return nil
		}
		st, perr := run.DecodeState(data)
		if perr != nil {
			return nil
		}
		before, _ = run.RepairState(st, v.Config)
	default:
		return nil
	}
	var out []proof.Claim
	if in.sit == sitAdopt {
		out = append(out, proof.Claim{Claim: external.Claim{Kind: external.ClaimBegun, To: in.run}})
	}
	for _, c := range external.Claims(v.Config, before, v.State) {
		out = append(out, proof.Claim{Claim: c})
	}
	return out
}

// checkAdopted refuses a run that neither an operation nor a row of its own began: a state with a new run id must
// not bypass the record.
func (s *Store) checkAdopted(in *inspection) error {
	after, err := decodeWorkingState(in.docs[wire.DocState])
	if err != nil {
		return err
	}
	cfg, _, err := config.Decode(in.config)
	if err != nil {
		return err
	}
	repaired, _ := run.RepairState(after, cfg)
	if e := external.CheckAdopted(cfg, repaired, s.workingRows()); e != nil {
		return record.TamperedDoc(string(wire.DocState), "%s", e.Message)
	}
	return nil
}

// PurposeAdopt is the purpose of a transaction that adopts a run another tool began.
const PurposeAdopt = "adopt"

// unadopted returns the error for continuing a run that another tool began and no person has adopted.
func (in *inspection) unadopted() error {
	if in.lost != nil {
		return fail.Errorf(proof.FindMissing, nil, "%s", in.lost.Message()).WithHint("%s", in.lost.Hint())
	}
	return fail.Errorf(protocol.CodeConfirmationRequired, nil,
		"another tool began run %s; nothing of it is on record here, and no person has taken it up", in.run).
		WithHint("a person runs git agentxchain repair --adopt, which shows the run and the rows that account for it first")
}

// unfinished reports whether a recorded run is neither idle nor over.
func unfinished(rec *chain.RecordedRun) bool {
	if rec == nil {
		return false
	}
	data, _, err := rec.Reader.File(rec.Root, record.FileState)
	if err != nil {
		return false
	}
	st, perr := run.DecodeState(data)
	return perr == nil && st.Run() != "" &&
		!slices.Contains([]wire.Status{wire.StatusIdle, wire.StatusCompleted, wire.StatusFailed}, st.Status)
}

// Accounts lists the claims of the run in the working files, each with its row.
func (s *Store) Accounts(v *View) []external.Account {
	return external.Accounts(v.State, s.workingRows())
}
