// Receipts: the outcome of the run, of each turn, and of what they verified
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const verificationPolicy = "agentxchain/verification/1.0"

func (x *Export) receipt(strictly bool) ([]Object, error) {
	if strictly {
		var out []Object
		for _, row := range x.facts.history {
			out = append(out, object("client_boundary/execution_receipt", x.turnReceipt(row)))
		}
		return out, nil
	}
	s := x.facts.state
	switch s.Status {
	case wire.StatusCompleted, wire.StatusFailed, wire.StatusBlocked:
	default:
		return nil, &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status", Hint: "git agentxchain status",
			Message: "Run " + x.Run + " is " + string(s.Status) +
				"; a receipt is written when it is completed, failed or blocked."}
	}
	outcome := x.outcomeFacts()
	r := &portable.ExecutionReceipt{
		ContractVersion: portable.Version,
		RunID:           x.Run,
		PlanID:          planID(x.Run),
		PlanHash:        x.planHash(),
		TaskHashes:      x.taskHashes(),
		ArtifactHashes:  markers(x.facts.history...),
		OutcomeHash:     x.digest(outcome),
		Status:          planStatus(s),
		Failure:         x.blockDetail(),
		GeneratedAtMs:   x.finishedAt(),
	}
	r.Extensions = ours(ojson.NewObject("outcome", outcome))
	return []Object{object("execution_receipt", r)}, nil
}

// finishedAt returns when the run was completed, else the time of the export.
func (x *Export) finishedAt() uint64 {
	if at := wire.OrEmpty(x.facts.state.CompletedAt); at != "" {
		return x.ms(at)
	}
	return x.exportedAt()
}

// planHash covers the portable plan without the members that change while the plan does not.
func (x *Export) planHash() string {
	o, _ := object("plan", x.portablePlan()).Value.(*ojson.Object)
	for _, member := range []string{"status", "updated_at_ms", "extensions"} {
		o.Delete(member)
	}
	return x.digest(o)
}

// taskHashes returns the hashes of the accepted turns' tasks, in accepted order.
func (x *Export) taskHashes() []string {
	out := []string{}
	for _, s := range x.steps() {
		if s.row != nil {
			out = append(out, x.digest(x.task(s)))
		}
	}
	return out
}

// outcomeFacts returns what outcome_hash covers.
func (x *Export) outcomeFacts() *ojson.Object {
	accepted := ojson.List(x.facts.history, func(row *ojson.Object) *ojson.Object {
		return ojson.NewObject("turn_id", row.String("turn_id"), "status", row.String("status"),
			"output_digest", x.outputDigest(row))
	})
	gates := ojson.NewObject()
	for id, status := range x.facts.state.PhaseGateStatus.All() {
		gates.Set(id, status)
	}
	return ojson.NewObject("status", string(planStatus(x.facts.state)), "accepted", accepted, "gates", gates)
}

func (x *Export) turnReceipt(row *ojson.Object) *strict.ExecutionReceipt {
	turn := row.String("turn_id")
	started := cmp.Or(row.String("started_at"), x.dispatchedAt(turn), row.String("accepted_at"))
	return &strict.ExecutionReceipt{
		ReceiptID:           receiptID(turn),
		PlanID:              planID(x.Run),
		StepID:              turn,
		TaskID:              turn,
		RunnerID:            cmp.Or(row.String("runtime_id"), config.RuntimeManual),
		ContractVersion:     portable.Version,
		Status:              executionStatus(row),
		StartedAt:           x.ms(started),
		FinishedAt:          x.ms(row.String("accepted_at")),
		ArtifactDescriptors: x.descriptors(row),
		EventDigest:         x.eventDigest(turn),
		OutputDigest:        x.outputDigest(row),
	}
}

// dispatchedAt returns when a turn was first dispatched, "" when the log does not say.
func (x *Export) dispatchedAt(turn string) string {
	for _, l := range x.facts.byTurn[turn] {
		if l.Row.String("event_type") == run.EventTurnDispatched {
			return l.Row.String("timestamp")
		}
	}
	return ""
}

func (x *Export) verification(bool) ([]Object, error) {
	var out []Object
	for _, row := range x.facts.history {
		out = append(out, object("client_boundary/verification_receipt", x.verified(row)))
	}
	return out, nil
}

func (x *Export) verified(row *ojson.Object) *strict.VerificationReceipt {
	turn, v := row.String("turn_id"), row.Object("verification")
	r := &strict.VerificationReceipt{
		ContractVersion:           portable.Version,
		VerificationID:            "verification-" + turn,
		PlanID:                    planID(x.Run),
		ExecutionReceiptIDs:       []string{receiptID(turn)},
		VerificationPolicyVersion: verificationPolicy,
		Checks:                    []strict.VerificationCheck{},
		BlockedOutcomes:           []strict.BlockedOutcome{},
		ArtifactDigestSet:         markers(row),
		VerifiedAt:                x.ms(row.String("accepted_at")),
	}
	failed := false
	for i, e := range v.Objects("machine_evidence") {
		c := strict.VerificationCheck{
			CheckID:     "check-" + itoa(i+1),
			Name:        cmp.Or(e.String("command"), "command "+itoa(i+1)),
			Status:      strict.CheckFailed,
			ArtifactIDs: []string{},
		}
		want, _ := e.Int("expected_exit_code")
		got, known := e.Int("exit_code")
		switch {
		case !known:
			c.Message = "no exit status is recorded"
		case got == want:
			c.Status, c.Message = strict.CheckPassed, "exit status "+itoa(got)
		default:
			c.Message = "exit status " + itoa(got) + ", expected " + itoa(want)
		}
		failed = failed || c.Status == strict.CheckFailed
		r.Checks = append(r.Checks, c)
	}
	switch v.String("status") {
	case "pass":
		r.Status = strict.VerificationPassed
	case "fail":
		r.Status = strict.VerificationFailed
		if !failed {
			r.Checks = append(r.Checks, strict.VerificationCheck{
				CheckID:     "declared",
				Name:        "declared",
				Status:      strict.CheckFailed,
				Message:     cmp.Or(v.String("evidence_summary"), "the turn declares that its verification failed"),
				ArtifactIDs: []string{},
			})
		}
	default:
		r.Status = strict.VerificationPending
	}
	return r
}
