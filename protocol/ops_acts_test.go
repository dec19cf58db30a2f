// What the tests of the operations do and read in their world.

package protocol

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (w *opsWorld) assign(role string) *run.Turn {
	w.t.Helper()
	tr := w.must(w.assignment(role))
	return tr.Result.(*AssignResult).Turn
}

func (w *opsWorld) assignment(role string) *AssignTurn {
	return &AssignTurn{Role: role, Baseline: w.baseline(), Dirty: w.projectDirty()}
}

func (w *opsWorld) turn(id string) *run.Turn {
	t, _ := w.state.ActiveTurns.Get(id)
	return t
}

// result returns a valid result of the turn with some members replaced.
func (w *opsWorld) result(turn *run.Turn, members ...any) *ojson.Object {
	role := w.cfg.Role(turn.AssignedRole)
	doc := ojson.NewObject("schema_version", "1.0", "run_id", w.state.Run(), "turn_id", turn.TurnID,
		"role", turn.AssignedRole, "runtime_id", turn.RuntimeID,
		"status", "completed", "summary", "did the work", "decisions", []any{}, "objections", []any{},
		"files_changed", []any{},
		"verification", ojson.NewObject("status", "pass", "evidence_summary", "looked at it"),
		"artifact", ojson.NewObject("type", "review"), "proposed_next_role", "human",
		"run_completion_request", false) // explicit, so that nothing is inferred for a review
	if role != nil && role.WriteAuthority == wire.ReviewOnly {
		doc.Set("objections", arr(`[{"id":"OBJ-001","severity":"low","statement":"a doubt","status":"raised"}]`))
	}
	for i := 0; i+1 < len(members); i += 2 {
		doc.Set(members[i].(string), members[i+1])
	}
	if len(doc.Array("files_changed")) > 0 && role != nil && role.WriteAuthority == wire.Authoritative &&
		!slices.Contains(keysOf(members), "artifact") {
		doc.Set("artifact", ojson.NewObject("type", "workspace"))
	}
	return doc
}

func keysOf(members []any) []string {
	var out []string
	for i := 0; i+1 < len(members); i += 2 {
		out = append(out, members[i].(string))
	}
	return out
}

func (w *opsWorld) stage(turnID string, members ...any) {
	w.staged[turnID] = w.result(w.turn(turnID), members...)
}

// acceptance returns the operation for what is staged.
func (w *opsWorld) acceptance(turnID string) *AcceptTurn {
	op := &AcceptTurn{
		TurnID:     turnID,
		StagedPath: wire.StagingPath(turnID),
		Files:      w.gateFiles(),
		Proposed:   []evidence.FileBlob{},
	}
	op.AlreadyAccepted = slices.ContainsFunc(w.rows(wire.LedgerHistory), func(r *ojson.Object) bool {
		return r.String("turn_id") == turnID && r.String("status") != run.HistoryReissued
	})
	turn := w.turn(turnID)
	if turn == nil {
		return op
	}
	op.Seen = w.observe(turn)
	doc := w.staged[turnID]
	if doc == nil {
		return op
	}
	op.Staged = evidence.NewBlob(ojson.Pretty(doc))
	for _, p := range doc.Objects("proposed_changes") {
		if c, ok := w.work[p.String("path")]; ok {
			op.Proposed = append(op.Proposed, evidence.FileBlob{
				Path: p.String("path"),
				Blob: evidence.NewBlob([]byte(c)),
			})
		}
	}
	return op
}

// accept stages a result and accepts it; it must succeed.
func (w *opsWorld) accept(turnID string, members ...any) *change.Transition {
	w.t.Helper()
	w.stage(turnID, members...)
	return w.must(w.acceptance(turnID))
}

// refuse stages a result and expects its acceptance to fail with the code.
func (w *opsWorld) refuse(code, turnID string, members ...any) *change.Transition {
	w.t.Helper()
	w.stage(turnID, members...)
	return w.fails(code, w.acceptance(turnID))
}

func (w *opsWorld) rejection(turnID, reason string) *RejectTurn {
	op := &RejectTurn{TurnID: turnID, Reason: reason, Errors: []string{}, Baseline: w.baseline()}
	if doc := w.staged[turnID]; doc != nil {
		op.Staged = evidence.NewBlob(ojson.Pretty(doc))
	}
	return op
}

func (w *opsWorld) reissue(turnID, role string) *ReissueTurn {
	op := &ReissueTurn{TurnID: turnID, Role: role, Baseline: w.baseline()}
	if doc := w.staged[turnID]; doc != nil {
		op.Staged = evidence.NewBlob(ojson.Pretty(doc))
	}
	return op
}

// abandonment returns the operation with everything that is staged.
func (w *opsWorld) abandonment(reason string) *AbandonRun {
	return &AbandonRun{Reason: reason, Staged: w.stagedTurns()}
}

func (w *opsWorld) withdrawal(reason string) *WithdrawApproval {
	if run.HasPending(w.state) {
		return &WithdrawApproval{Reason: reason, Vote: true}
	}
	return &WithdrawApproval{Reason: reason, Staged: w.stagedTurns()}
}

func (w *opsWorld) stagedTurns() (out []StagedTurn) {
	for _, id := range w.state.ActiveTurns.Keys() {
		if doc := w.staged[id]; doc != nil {
			out = append(out, StagedTurn{TurnID: id, Result: evidence.NewBlob(ojson.Pretty(doc))})
		}
	}
	return out
}

func (w *opsWorld) approval() Operation {
	a := Approval{Files: w.gateFiles(), Actions: []ActionRun{}, Undoable: true}
	gate := run.PendingGate(w.state)
	if g := w.cfg.Gate(gate); g != nil {
		for i, act := range g.Actions {
			a.Actions = append(a.Actions, ActionRun{
				AttemptID: "ga_1_00000000",
				Index:     i + 1,
				Label:     act.Label,
				Command:   act.Run,
				TimeoutMS: act.TimeoutMS,
				OK:        true,
				ExitCode:  new(0),
			})
		}
	}
	if w.state.PendingPhaseTransition != nil {
		return &ApprovePhase{Approval: a}
	}
	return &ApproveCompletion{Approval: a}
}

// checkpointOf commits the files of an accepted turn and returns the operation that records it.
func (w *opsWorld) checkpointOf(turnID string) *commits.Checkpoint {
	op := &commits.Checkpoint{TurnID: turnID}
	for line := range bytes.Lines(w.ledgers[wire.LedgerHistory]) {
		row, _ := ojson.DecodeObject(line)
		if row.String("turn_id") == turnID && row.String("status") != run.HistoryReissued {
			op.Row = evidence.NewBlob(bytes.TrimSuffix(line, []byte("\n")))
			next := maps.Clone(w.revs[len(w.revs)-1])
			for _, p := range row.Strings("files_changed") {
				if c, ok := w.work[p]; ok {
					next[p] = c
				} else {
					delete(next, p)
				}
			}
			w.revs = append(w.revs, next)
		}
	}
	op.Commit = w.head()
	return op
}

func (w *opsWorld) snapshot() *change.Snapshot {
	return &change.Snapshot{
		Config:        w.cfg,
		State:         w.state,
		Index:         w.index,
		RepoDecisions: slices.Collect(w.lines(wire.LedgerRepoDecisions)),
		Session:       w.session,
		HumanTasks:    w.tasks,
	}
}

func (w *opsWorld) env() change.Env {
	return change.Env{
		Now:   w.now,
		Seed:  fmt.Sprintf("%032x", w.ops),
		Actor: w.actor,
		Git:   evidence.GitFacts{Head: w.head(), Branch: "main", Dirty: len(w.projectDirty()) > 0},
	}
}

// apply runs an operation and, if it is recorded, makes its result the world's state.
func (w *opsWorld) apply(op Operation) (*change.Transition, *wire.Error) {
	w.t.Helper()
	w.ops++
	w.now = w.now.Add(w.step)
	snap, env := w.snapshot(), w.env()
	if !w.checks {
		tr, err := Apply(snap, op, env)
		if err == nil {
			w.take(tr)
		}
		return tr, err
	}
	return w.checked(snap, op, env)
}

// edit changes the state by hand, as a file on disk is edited.
func (w *opsWorld) edit(change func(s *run.State)) {
	w.t.Helper()
	change(w.state)
	w.state = w.reread(w.state)
}

func (w *opsWorld) reread(s *run.State) *run.State {
	w.t.Helper()
	back, err := run.DecodeState(s.Encode())
	if err != nil {
		w.t.Fatalf("state does not decode: %v", err)
	}
	back, _ = run.RepairState(back, w.cfg)
	return back
}

func (w *opsWorld) take(tr *change.Transition) {
	w.t.Helper()
	for _, a := range tr.Amends {
		data := w.ledgers[a.Ledger]
		if n := bytes.Count(data, append(slices.Clone(a.Old), '\n')); n != 1 {
			w.t.Fatalf("the line to amend is there %d times: %s", n, a.Old)
		}
		w.ledgers[a.Ledger] = bytes.Replace(data, append(slices.Clone(a.Old), '\n'), append(slices.Clone(a.New), '\n'),
			1)
	}
	for _, a := range tr.Appends {
		w.ledgers[a.Ledger] = append(slices.Clip(w.ledgers[a.Ledger]), a.Data...)
	}
	for doc, data := range tr.Documents {
		switch doc {
		case wire.DocSession:
			w.session, _ = ojson.DecodeObject(data)
		case wire.DocHumanTasks:
			w.tasks = data
		}
	}
	for _, f := range tr.Files {
		w.files[f.Path] = f.Data
	}
	for _, id := range append(slices.Clone(tr.DropTurns), tr.Unstage...) {
		delete(w.staged, id)
	}
	// The store reads back what it wrote.
	w.state = w.reread(tr.State)
	index, ierr := run.DecodeIndex(tr.Index.Encode())
	if ierr != nil {
		w.t.Fatalf("index does not decode: %v", ierr)
	}
	w.index = index
}

// must applies an operation that must succeed.
func (w *opsWorld) must(op Operation) *change.Transition {
	w.t.Helper()
	tr, err := w.apply(op)
	if err != nil {
		w.t.Fatalf("%s: %s: %s %v", op.Name(), err.Code, err.Message, err.Problems)
	}
	if tr.Failure != nil {
		w.t.Fatalf("%s: refused and recorded: %s: %s %v", op.Name(), tr.Failure.Code, tr.Failure.Message,
			tr.Failure.Problems)
	}
	return tr
}

// fails applies an operation that must be refused with the code, recorded or not, and returns the transition of a
// recorded one.
func (w *opsWorld) fails(code string, op Operation) *change.Transition {
	w.t.Helper()
	before := w.state.Encode()
	tr, err := w.apply(op)
	if err == nil {
		err = tr.Failure
	} else if !bytes.Equal(before, w.state.Encode()) {
		w.t.Errorf("%s: a refusal changed the state", op.Name())
	}
	if err == nil {
		w.t.Fatalf("%s went through, want %s", op.Name(), code)
	}
	if err.Code != code {
		w.t.Fatalf("%s: code %s (%s), want %s", op.Name(), err.Code, err.Message, code)
	}
	if wire.TrimSpace(err.Message) == "" {
		w.t.Errorf("%s: %s has no message", op.Name(), code)
	}
	return tr
}

// --- ledgers

func linesOf(data []byte) iter.Seq[run.Line] {
	return func(yield func(run.Line) bool) {
		for line := range bytes.Lines(data) {
			raw := bytes.TrimSuffix(line, []byte("\n"))
			if row, err := run.DecodeLedgerLine(raw); err == nil && !yield(run.Line{Raw: raw, Row: row}) {
				return
			}
		}
	}
}

func (w *opsWorld) lines(l wire.Ledger) iter.Seq[run.Line] { return linesOf(w.ledgers[l]) }

func (w *opsWorld) rows(l wire.Ledger) []*ojson.Object {
	var out []*ojson.Object
	for line := range w.lines(l) {
		out = append(out, line.Row)
	}
	return out
}

func (w *opsWorld) lastRow(l wire.Ledger) *ojson.Object {
	rows := w.rows(l)
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

// added returns the rows a transition appends to a ledger.
func added(tr *change.Transition, l wire.Ledger) []*ojson.Object {
	var out []*ojson.Object
	for _, a := range tr.Appends {
		if a.Ledger == l {
			for line := range linesOf(a.Data) {
				out = append(out, line.Row)
			}
		}
	}
	return out
}

// eventTypes returns the types of a transition's events, in order.
func eventTypes(tr *change.Transition) string {
	var out []string
	for _, e := range added(tr, wire.LedgerEvents) {
		out = append(out, e.String("event_type"))
	}
	return strings.Join(out, " ")
}

// entries names the decision-ledger rows of a transition: type, decision or id.
func entries(tr *change.Transition) string {
	var out []string
	for _, r := range added(tr, wire.LedgerDecisions) {
		out = append(out, cmp.Or(r.String("type"), cmp.Or(r.String("decision"), r.String("id"))))
	}
	return strings.Join(out, " ")
}

func (w *opsWorld) wantEvents(tr *change.Transition, want string) {
	w.t.Helper()
	if got := eventTypes(tr); got != want {
		w.t.Errorf("events\n got %s\nwant %s", got, want)
	}
}

func (w *opsWorld) wantEntries(tr *change.Transition, want string) {
	w.t.Helper()
	if got := entries(tr); got != want {
		w.t.Errorf("decision ledger\n got %s\nwant %s", got, want)
	}
}

func (w *opsWorld) wantStatus(status wire.Status, blockedOn string) {
	w.t.Helper()
	if w.state.Status != status || wire.OrEmpty(w.state.BlockedOn) != blockedOn {
		w.t.Fatalf("status %s blocked on %q, want %s on %q", w.state.Status, wire.OrEmpty(w.state.BlockedOn), status,
			blockedOn)
	}
}

func (w *opsWorld) reason(tr *change.Transition) string {
	if o, ok := tr.Documents[wire.DocSession]; ok {
		doc, _ := ojson.DecodeObject(o)
		return doc.String("checkpoint_reason")
	}
	return ""
}
