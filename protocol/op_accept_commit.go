// What a granted acceptance changes (docs/spec/lifecycle.md#the-next-state).

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (a *acceptance) commit() {
	t, s, turn := a.t, a.t.State, a.turn
	a.own = s.Status == wire.StatusBlocked && blockOf(t, turn) == blockOwn
	if turn.DispatchedAt == "" {
		// Another runner assigned the turn without recording that it was dispatched; the event contract wants that
		// event before the acceptance.
		t.FirstEvent("turn_dispatched", turn)
	}
	s.TurnSequence++
	accepted := s.TurnSequence
	entry := a.entry(accepted)
	a.files(entry)
	t.Append(wire.LedgerHistory, entry)
	a.recordDecisions()
	if !t.Judging {
		t.AppendBytes(wire.LedgerTalk, talkSection(a.turn, a.res, s.Phase))
	}
	t.Index.Accept(entry, t.Config)

	var took []any
	if turn.StartedAt != "" {
		ms, _ := wire.DurationMS(turn.StartedAt, t.Env.Time())
		took = []any{"started_at", turn.StartedAt, "duration_ms", ms}
	}
	if len(a.repairs) > 0 && !t.Earlier.RepairsUntold {
		took = append(took, "repairs", result.Repairs(a.repairs[:min(len(a.repairs), maxNormalizationEvents)]))
	}
	if len(a.op.Bundle) > 0 {
		took = append(took, "bundle_changes", BundleRows(a.op.Bundle[:min(len(a.op.Bundle), maxBundleRows)]))
	}
	t.Event("turn_accepted", turn, took...)
	leases.Ends(t, a.op.Lease, leases.ActReleased, turn)
	if a.op.Resolution == ResolutionHumanMerge && a.conflict != nil {
		a.recordMerge()
	}

	s.LastCompletedTurnID = new(turn.TurnID)
	t.DropTurn(turn.TurnID)
	s.AcceptedIntegrationRef = new(a.acceptedRef())
	s.NextRecommendedRole = a.nextRole()
	charge(t, a.res.CostUSD)
	a.unblock()
	a.delegations(entry)
	a.warn(charters.Note(t, charters.Outcome{Turn: a.turn, Status: a.res.Status,
		Verification: a.res.Verification.Status, Reproducible: a.verify.Reproducible}))
	a.warnings = append(a.warnings, intents.Answer(t, turn, a.res.Status, a.op.Touched, a.op.Recorded)...)
	gate := a.lifecycle()
	a.needsHuman()
	a.warnings = append(a.warnings, timeouts(t, turn, a.op.Files)...)
	a.warn(dearTurn(t, turn, a.res.CostUSD))
	markDocuments(t, a.op.Documents, false, s.Phase != t.Before.State.Phase)
	reconcileGateFailure(t, a.op.Files, turn)
	a.nonProgress()
	charters.BlockStuck(t, a.turn)
	exhaustBudget(t, turn)

	t.Session = "turn_accepted"
	t.Subject = fmt.Sprintf("accept %s (%s, %s): %s", turn.TurnID, turn.AssignedRole, entry.String("phase"),
		a.res.Status)
	t.Result = &AcceptResult{
		Turn:       turn,
		Entry:      entry,
		Validation: a.v,
		Warnings:   a.warnings,
		Gate:       gate.result,
		GateType:   gate.kind,
		Leftover:   a.leftover,
		Repairs:    a.repairs,
	}
}

func (a *acceptance) entry(accepted int) *ojson.Object {
	t := a.t
	return ledger.BuildHistoryEntry(ledger.HistoryEntry{
		Turn:             a.turn,
		RunID:            t.State.Run(),
		Phase:            t.State.Phase,
		Result:           a.res,
		FilesChanged:     a.effective,
		Verification:     a.verify.Object(),
		Observed:         a.observedArtifact(),
		AcceptedSequence: accepted,
		AcceptedAt:       t.Env.Now,
		Replay:           a.op.Replay.Summary(),
		ForwardRevision:  a.forward,
		Conflict:         a.mergeRecord(),
		Overruled:        a.overrulings(),
	})
}

// overrulings returns the consents that this acceptance relies on: those that overruled policies, and those that
// let its hooks pass.
func (a *acceptance) overrulings() []*ojson.Object {
	out := a.taken
	for _, h := range a.op.Overruled {
		for _, o := range a.t.State.Overruled {
			if o.TurnID == a.turn.TurnID && o.On == h.On && slices.Contains(o.Said, h.Said) {
				out = append(out, ojson.NewObject("on", o.On, "by", o.By, "reason", o.Reason, "at", o.At))
				a.warnings = append(a.warnings, fmt.Sprintf("%s takes the turn as it is (%s), over the no of %s.",
					wire.OneLine(wire.OrNone(o.By.String("name"))), run.Clip(wire.OneLine(o.Reason), 200), h.On))
			}
		}
	}
	return out
}

func (a *acceptance) observedArtifact() *ojson.Object {
	seen := a.seen
	baseline := any(nil)
	if b := a.turn.Baseline; b != nil && b.HeadRef != nil {
		baseline = "git:" + *b.HeadRef
	}
	if seen.ComparedWith != "" {
		baseline = "git:" + seen.ComparedWith
	}
	markers := &ojson.Object{}
	for _, f := range a.attr.Files {
		if m, ok := seen.Markers.Get(f); ok {
			markers.Set(f, m)
		}
	}
	o := ojson.NewObject("derived_by", "orchestrator", "baseline_ref", baseline, "accepted_ref", a.acceptedRef(),
		"files_changed", a.attr.Files, "file_markers", markers, "diff_summary", seen.DiffSummary)
	if seen.Since != "" {
		o.Set("baseline_at", seen.Since)
	}
	if len(seen.Pulled) > 0 {
		rows := make([]*ojson.Object, len(seen.Pulled))
		for i := range seen.Pulled {
			rows[i] = ojson.Marshal(&seen.Pulled[i])
		}
		o.Set("pulled", rows)
	}
	if len(a.attr.Siblings) > 0 {
		o.Set("attributed_to_concurrent_siblings", a.attr.Siblings)
	}
	return o
}

// acceptedRef is derived from what git shows, never from what the actor states
// (docs/spec/observation.md#accepted-integration-ref).
func (a *acceptance) acceptedRef() string {
	if a.t.Env.Git.Head != "" {
		return "git:" + a.t.Env.Git.Head
	}
	switch a.res.Artifact.Type {
	case "workspace", "review":
		return "workspace:dirty"
	}
	if r := wire.OrEmpty(a.t.Before.State.AcceptedIntegrationRef); r != "" {
		return r
	}
	return "unknown"
}

func (a *acceptance) recordDecisions() {
	t := a.t
	if a.forward != nil {
		t.Append(wire.LedgerDecisions, ledger.NewForwardRevision(t.Env.Time(), a.turn, t.State.Phase, a.forward))
	}
	for _, d := range a.res.Decisions {
		if t.Judging {
			break // the rows would not be kept anyway
		}
		t.Append(wire.LedgerDecisions, ledger.NewDecisionEntry(d, a.turn, t.State.Phase, t.Env.Time()))
	}
	rows, amends := ledger.PromoteDecisions(t.Before.RepoDecisions, a.res.Decisions, a.turn, t.State.Run(),
		t.State.Phase,
		t.Env.Time())
	for _, r := range rows {
		t.Append(wire.LedgerRepoDecisions, r)
	}
	t.Amends = append(t.Amends, amends...)
}

// nextRole derives next_recommended_role (docs/spec/lifecycle.md#the-next-state).
func (a *acceptance) nextRole() *string {
	if a.res.Status == wire.ResultNeedsHuman || a.res.Status == wire.ResultBlocked || a.res.ProposedNextRole == "" ||
		a.res.ProposedNextRole == "human" {
		return nil
	}
	route := a.t.Config.Route(a.t.State.Phase)
	if route == nil {
		return nil
	}
	if slices.Contains(route.AllowedNextRoles, a.res.ProposedNextRole) {
		return new(a.res.ProposedNextRole)
	}
	if route.EntryRole == "" {
		return nil
	}
	return new(route.EntryRole)
}

// unblock clears the block that this acceptance settles; a sibling's block stays with its reason
// (docs/compatibility.md#where-we-differ-on-purpose row 3).
func (a *acceptance) unblock() {
	if a.t.State.Status == wire.StatusBlocked && a.own {
		settleBlock(a.t, "turn_accepted")
	}
}

func (a *acceptance) needsHuman() {
	if a.res.Status != wire.ResultNeedsHuman || a.t.State.Status != wire.StatusActive {
		return
	}
	reason := a.res.NeedsHumanReason
	if wire.TrimSpace(reason) == "" {
		reason = "unspecified"
	}
	a.t.Block(change.Block{On: "human:" + reason, Category: "needs_human", TypedReason: "needs_human", Owner: "human",
		Action: "Resolve the stated issue, then run: git agentxchain unblock", Detail: reason, Turn: a.turn})
}

// nonProgress blocks a run whose gate fails in the same way turn after turn
// (docs/spec/lifecycle.md#lack-of-progress, with the fixed probe of
// docs/compatibility.md#where-we-differ-on-purpose row 15).
func (a *acceptance) nonProgress() {
	t, s := a.t, a.t.State
	if s.Status != wire.StatusActive {
		return
	}
	in := gateInput(t, a.op.Files)
	in.VerificationStatus = a.res.Verification.Status
	in.VerificationReproducible = a.verify.Reproducible
	if s.Phase != a.t.Before.State.Phase || len(s.OpenCharters()) > 0 {
		// The phase just changed, so the files of the new gate were not read. And no gate is expected to pass while
		// its phase has open charters.
		s.NonProgressSignature, s.NonProgressCount = nil, 0
		return
	}
	out := gates.NonProgress(gates.NonProgressInput{
		Gate:      in,
		Signature: wire.OrEmpty(s.NonProgressSignature),
		Count:     s.NonProgressCount,
		Declared:  a.effective,
	})
	threshold := t.Config.RunLoop.NonProgressThreshold
	if threshold <= 0 {
		threshold = 3
	}
	traceProgress(t, out, threshold)
	if out.Count == 0 {
		s.NonProgressSignature, s.NonProgressCount = nil, 0
		return
	}
	s.NonProgressSignature, s.NonProgressCount = new(out.Signature), out.Count
	if out.Count < threshold {
		return
	}
	t.Append(wire.LedgerDecisions,
		ledger.NewNonProgressEntry(t.Env.Time(), out.GateID, out.Signature, out.Count, threshold, out.FailingFiles))
	t.Block(change.Block{
		On:          "non_progress",
		Category:    "non_progress",
		TypedReason: "non_progress",
		Owner:       "human",
		Action:      "Change what the gate fails on, then run: git agentxchain unblock",
		Detail: fmt.Sprintf("%d accepted turns in a row left gate %q failing in the same way", out.Count,
			out.GateID),
		Turn: a.turn,
	})
}

// talkSection returns the human-readable record of an accepted turn for TALK.md
// (docs/spec/lifecycle.md#the-next-state). Each text of the actor is kept to one line, so that it cannot pose as
// another section.
func talkSection(turn *run.Turn, r *result.Result, phase string) []byte {
	short := strings.TrimPrefix(turn.TurnID, "turn_")
	if len(short) > 8 {
		short = short[:8]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Turn %s — %s (%s)\n\n- **Status:** %s\n- **Summary:** %s\n", short, turn.AssignedRole, phase,
		r.Status, wire.OneLine(r.Summary))
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "- **Decision %s:** %s\n", d.ID, wire.OneLine(d.Statement))
	}
	for _, o := range r.Objections {
		fmt.Fprintf(&b, "- **Objection %s (%s):** %s\n", o.ID, o.Severity, wire.OneLine(o.Statement))
	}
	fmt.Fprintf(&b, "- **Proposed next:** %s\n\n---\n", wire.OneLine(r.ProposedNextRole))
	return []byte(b.String())
}
