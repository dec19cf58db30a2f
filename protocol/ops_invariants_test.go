// What every operation must preserve, whatever it decides.

package protocol

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// checked applies an operation and checks everything it did against the invariants.
func (w *opsWorld) checked(snap *change.Snapshot, op Operation, env change.Env) (*change.Transition, *wire.Error) {
	w.t.Helper()
	before := frozen(snap)
	prev := w.state
	charged := w.state.BudgetStatus.SpentUSD
	tr, err := Apply(snap, op, env)
	if now := frozen(snap); now != before {
		w.t.Fatalf("%s modified its snapshot:\n%s\n%s", op.Name(), before, now)
	}
	w.deterministic(snap, op, env, tr, err)
	w.judged(snap, op, env, tr, err)
	if err != nil {
		return nil, err
	}
	if e := LegalTransition(prev, tr.State, op.Name()); e != nil {
		w.t.Fatalf("%s: %s", op.Name(), e.Message)
	}
	if tr.State.Run() == prev.Run() && prev.DelegationOpen() && tr.State.DelegationOpen() &&
		(tr.State.Phase != prev.Phase || tr.State.Status == wire.StatusCompleted) {
		w.t.Fatalf("%s moved the run on over open delegations: %s, %s", op.Name(), tr.State.Phase, tr.State.Status)
	}
	if p := run.CheckState(tr.State); len(p) > 0 {
		w.t.Fatalf("%s left an invalid state: %v", op.Name(), p)
	}
	written := tr.State.Encode()
	back, serr := run.DecodeState(written)
	if serr != nil || !bytes.Equal(back.Encode(), written) {
		w.t.Fatalf("%s: the state does not survive being written and read: %v", op.Name(), serr)
	}
	w.cost(op, tr, charged)
	w.lineByLine(tr)
	w.take(tr)
	w.timeline()
	w.sameIndex(op)
	w.obligations()
	return tr, nil
}

// frozen returns the contents of a snapshot as text.
func frozen(s *change.Snapshot) string {
	out := string(s.State.Encode()) + string(s.Index.Encode()) + string(s.HumanTasks)
	for _, l := range s.RepoDecisions {
		out += string(l.Raw) + string(ojson.Compact(l.Row))
	}
	if s.Session != nil {
		out += string(ojson.Pretty(s.Session))
	}
	return out
}

// outcomeText returns the contents of a transition as text.
func outcomeText(tr *change.Transition, err *wire.Error) string {
	if err != nil {
		return fmt.Sprint(err.Code, err.Message, err.Hint, err.Field, err.Stage, err.Problems)
	}
	out := ""
	for _, a := range tr.Appends {
		out += string(a.Ledger) + string(a.Data)
	}
	for _, a := range tr.Amends {
		out += string(a.Ledger) + string(a.Old) + string(a.New)
	}
	for _, d := range wire.Documents() {
		out += string(d) + string(tr.Documents[d])
	}
	for _, f := range tr.Files {
		out += f.Path + string(f.Data)
	}
	return out + decisionText(tr, nil)
}

// decisionText returns the outcome of an operation, without what it records about it.
func decisionText(tr *change.Transition, err *wire.Error) string {
	if err != nil {
		return outcomeText(nil, err)
	}
	out := string(tr.State.Encode()) + string(tr.Index.Encode())
	out += fmt.Sprint(tr.DropTurns, tr.Unstage, tr.Subject, tr.Turn, tr.Role)
	if tr.Failure != nil {
		out += outcomeText(nil, tr.Failure)
	}
	return out
}

// deterministic applies the operation again as replay does: from its record, on a snapshot read from bytes.
func (w *opsWorld) deterministic(snap *change.Snapshot, op Operation, env change.Env, tr *change.Transition,
	err *wire.Error) {
	w.t.Helper()
	doc, evidence := NewRecord(op, env).Encode()
	rec, derr := DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, ok := evidence[digest]
		if !ok {
			return nil, fmt.Errorf("no evidence %s", digest)
		}
		return data, nil
	})
	if derr != nil {
		w.t.Fatalf("%s: the record does not decode: %v\n%s", op.Name(), derr, doc)
	}
	if again, _ := rec.Encode(); !bytes.Equal(again, doc) {
		w.t.Fatalf("%s: the record changes when it is read:\n%s\n%s", op.Name(), doc, again)
	}
	s, serr := run.DecodeState(snap.State.Encode())
	if serr != nil {
		w.t.Fatalf("snapshot: %v", serr)
	}
	x, xerr := run.DecodeIndex(snap.Index.Encode())
	if xerr != nil {
		w.t.Fatalf("snapshot: %v", xerr)
	}
	fresh := &change.Snapshot{
		Config:        snap.Config,
		State:         s,
		Index:         x,
		RepoDecisions: snap.RepoDecisions,
		Session:       snap.Session,
		HumanTasks:    snap.HumanTasks,
	}
	tr2, err2 := Apply(fresh, rec.Op, rec.Env)
	if a, b := outcomeText(tr, err), outcomeText(tr2, err2); a != b {
		w.t.Fatalf("%s is not a function of its record (-first +replayed):\n%s", op.Name(),
			cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
	}
}

// cost tracks what is charged: accepted results, and staged results that were given up.
func (w *opsWorld) cost(op Operation, tr *change.Transition, before float64) {
	w.t.Helper()
	want := before
	switch op := op.(type) {
	case *InitRun:
		want = 0
	case *AcceptTurn:
		if tr.Failure == nil {
			want += stagedCost(op.Staged)
		}
	case *AbandonRun:
		for _, s := range op.Staged {
			want += stagedCost(s.Result)
		}
	case *WithdrawApproval:
		for _, s := range op.Staged {
			want += stagedCost(s.Result)
		}
	case *RejectTurn:
		want += max(op.Cost, stagedCost(op.Staged))
	case *ReissueTurn:
		want += stagedCost(op.Staged)
	}
	if got := tr.State.BudgetStatus.SpentUSD; math.Abs(got-want) > 1e-9 {
		w.t.Fatalf("%s: spent %v, want %v", op.Name(), got, want)
	}
	if b := w.cfg.Budget; b != nil && b.PerRunMaxUSD != nil {
		if r := tr.State.BudgetStatus.RemainingUSD; r == nil || math.Abs(*r-(*b.PerRunMaxUSD-want)) > 1e-9 {
			w.t.Fatalf("%s: remaining %v of %v after %v", op.Name(), r, *b.PerRunMaxUSD, want)
		}
	}
}

// lineByLine checks that every appended line can be read and every event is valid.
func (w *opsWorld) lineByLine(tr *change.Transition) {
	w.t.Helper()
	for _, a := range tr.Appends {
		if len(a.Data) == 0 || a.Data[len(a.Data)-1] != '\n' {
			w.t.Fatalf("%s: an append ends without a newline", a.Ledger)
		}
		if !a.Ledger.JSONL() {
			continue
		}
		for line := range bytes.Lines(a.Data) {
			row, err := run.DecodeLedgerLine(bytes.TrimSuffix(line, []byte("\n")))
			if err != nil {
				w.t.Fatalf("%s: unreadable line %q: %v", a.Ledger, line, err)
			}
			if a.Ledger == wire.LedgerEvents {
				if slices.Contains(run.OwnEventTypes(), row.String("event_type")) {
					row.Set("event_type", "dispatch_progress") // our events have the common form under another type
				}
				if errs := run.ValidateEvent(row); len(errs) > 0 {
					w.t.Fatalf("invalid event %s: %v", line, errs)
				}
			}
		}
	}
	for _, a := range tr.Amends {
		if _, err := run.DecodeLedgerLine(a.New); err != nil {
			w.t.Fatalf("amended line %q: %v", a.New, err)
		}
	}
}

// timeline checks the order of the run's events.
func (w *opsWorld) timeline() {
	w.t.Helper()
	var events []any
	for _, e := range w.rows(wire.LedgerEvents) {
		if e.String("run_id") == w.state.Run() {
			events = append(events, e)
		}
	}
	if code, errs := run.ValidateEventOrdering(events); code != "" {
		w.t.Fatalf("events of the run: %s %v", code, errs)
	}
}

// sameIndex compares the index updated by each operation with one built from the ledgers.
func (w *opsWorld) sameIndex(op Operation) {
	w.t.Helper()
	built := run.BuildIndex(w.cfg, w.state, w.lines)
	if a, b := w.index.Encode(), built.Encode(); !bytes.Equal(a, b) {
		w.t.Fatalf("%s: the index differs from the ledgers' (-kept +built):\n%s", op.Name(),
			cmp.Diff(strings.Split(string(a), "\n"), strings.Split(string(b), "\n")))
	}
}

// obligations checks relations between parts of the state.
func (w *opsWorld) obligations() {
	w.t.Helper()
	s := w.state
	for _, id := range s.BudgetReservations.Keys() {
		if !s.ActiveTurns.Has(id) {
			w.t.Fatalf("a reservation of %s, which is not active", id)
		}
	}
	for _, d := range s.DelegationQueue {
		if d.Status == "active" && !s.ActiveTurns.Has(wire.OrEmpty(d.ChildTurnID)) {
			w.t.Fatalf("delegation %s is active without its turn %s", d.DelegationID, wire.OrEmpty(d.ChildTurnID))
		}
	}
	if s.Status == wire.StatusBlocked && s.BlockedReason.Recovery.Owner == run.OwnerHuman &&
		run.CurrentEscalation(s, w.index.OpenEscalations) == nil {
		w.t.Fatalf("blocked on %s, but no person has been asked", wire.OrEmpty(s.BlockedOn))
	}
	if s.Status != wire.StatusBlocked && len(w.index.OpenEscalations) > 0 {
		w.t.Fatalf("the run is %s, but records are open: %s", s.Status, ojson.Compact(w.index.OpenEscalations))
	}
	if len(w.index.OpenEscalations) > 1 {
		w.t.Fatalf("%d records are open for one block", len(w.index.OpenEscalations))
	}
	for _, row := range w.index.OpenEscalations {
		if !bytes.Contains(w.tasks, []byte(row.String("escalation_id"))) {
			w.t.Fatalf("HUMAN_TASKS.md does not show %s", row.String("escalation_id"))
		}
	}
	ids := make(map[string]bool)
	for _, row := range w.rows(wire.LedgerHistory) {
		if !run.AcceptedRow(row, s.Run()) || row.String("run_id") != s.Run() {
			continue
		}
		for _, d := range row.Objects("decisions") {
			n, huge, _ := run.DecisionNumber(d.String("id"))
			key := fmt.Sprint(n, huge)
			if ids[key] {
				w.t.Fatalf("decision %s is recorded twice in the run", d.String("id"))
			}
			ids[key] = true
		}
	}
	seen := make(map[string]bool)
	for _, row := range w.rows(wire.LedgerRepoDecisions) {
		id := row.String("id")
		if seen[id] {
			w.t.Fatalf("repo decision %s exists twice", id)
		}
		seen[id] = true
	}
}
