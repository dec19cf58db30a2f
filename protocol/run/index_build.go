// Updating the run index one row at a time, or building it from whole ledgers.

package run

import (
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bounds of the lists the index keeps for run-history rows.
const (
	keepDecisions = 5
	keepTurns     = 3
)

// Accept adds an accepted history row.
func (x *Index) Accept(row *ojson.Object, cfg *config.Config) {
	used := DecodeDecisionIDs(x.DecisionIDs)
	x.take(row, used)
	x.DecisionIDs = used.Encode()
}

// take does the work of Accept, with the used decision ids decoded.
func (x *Index) take(row *ojson.Object, used *DecisionIDs) {
	phase, role := row.String("phase"), row.String("role")
	x.Accepted++
	n, _ := x.PhaseAccepted.Get(phase)
	x.PhaseAccepted.Set(phase, n+1)
	roles, _ := x.Participants.Get(phase)
	if !slices.Contains(roles, role) {
		x.Participants.Set(phase, append(slices.Clip(roles), role))
	}
	if !slices.Contains(x.RolesUsed, role) {
		x.RolesUsed = append(slices.Clip(x.RolesUsed), role)
	}
	if x.StreakRole == role {
		x.Streak++
	} else {
		x.StreakRole, x.Streak = role, 1
	}
	if x.FirstAcceptedAt == "" {
		x.FirstAcceptedAt = row.String("accepted_at")
	}
	files := row.Strings("files_changed")
	if phase == "implementation" && row.String("status") == wire.ResultCompleted &&
		slices.ContainsFunc(files, wire.ProductPath) {
		x.ProductTurn = true
	}
	for _, d := range row.Objects("decisions") {
		used.Add(d.String("id"))
		x.Decisions++
		x.RecentDecisions = keepLast(x.RecentDecisions, keepDecisions,
			ojson.NewObject("id", d.String("id"), "statement", d.String("statement"), "decided_by", role,
				"phase", phase))
	}
	x.RecentTurns = keepLast(x.RecentTurns, keepTurns,
		ojson.NewObject("turn_id", row.String("turn_id"), "role", role, "summary", row.String("summary"),
			"phase", phase))
	for _, o := range row.Objects("objections") {
		switch st := o.String("status"); st {
		case "", "raised", "acknowledged", "escalated":
			x.OpenObjections = append(slices.Clip(x.OpenObjections),
				ojson.NewObject("turn_id", row.String("turn_id"), "role", role, "id", o.String("id"),
					"severity", o.String("severity"), "statement", o.String("statement")))
		default:
			x.OpenObjections = slices.DeleteFunc(slices.Clone(x.OpenObjections), func(open *ojson.Object) bool {
				return open.String("id") == o.String("id")
			})
		}
	}
	if n := len(x.OpenObjections); n > MaxOpenObjections {
		x.OpenObjections = slices.Clone(x.OpenObjections[n-MaxOpenObjections:])
	}
	x.claim(row, files)
	x.CostUSD = min(x.CostUSD+RowCost(row.Object("cost")), MaxSpentUSD)
	x.LastRow = row
	x.Recent = append(slices.Clip(x.Recent), row)
}

// claim records the files that a row leaves in the work tree until a checkpoint commits them. A file that was
// declared but not seen changed, such as one of a proposal, is in no checkpoint; a later checkpoint of the same
// file settles earlier claims.
func (x *Index) claim(row *ojson.Object, files []string) {
	id := row.String("turn_id")
	done := row.String("checkpoint_sha") != ""
	var seen map[string]bool
	if o := row.Object("observed_artifact"); o.Value("diff_summary") != nil {
		seen = wire.PathSet(o.Strings("files_changed"), o.Strings("attributed_to_concurrent_siblings"))
	}
	claimed := make(map[string]bool, len(files))
	var mine []string
	for _, f := range files {
		if wire.ProjectOwned(f) && (seen == nil || seen[f]) && !claimed[f] {
			claimed[f] = true
			mine = append(mine, f)
		}
	}
	if len(mine) == 0 {
		return
	}
	// The order is that of the new claims, whichever earlier ones they replace.
	var again []string
	for _, f := range mine {
		if x.Uncheckpointed.Has(f) {
			again = append(again, f)
		}
	}
	// Most rows claim few files that were claimed before; scanning all claims for each row of a long history would
	// take too long.
	if len(again) > 4 {
		x.drop(func(f, _ string) bool { return claimed[f] })
	} else {
		for _, f := range again {
			x.Uncheckpointed.Delete(f)
		}
	}
	for _, f := range mine {
		if !done {
			x.Uncheckpointed.Set(f, id)
		}
	}
}

// drop removes claims.
func (x *Index) drop(which func(file, turn string) bool) {
	var keep ojson.Map[string]
	for f, turn := range x.Uncheckpointed.All() {
		if !which(f, turn) {
			keep.Set(f, turn)
		}
	}
	x.Uncheckpointed = keep
}

// Awaiting returns the accepted turns whose uncommitted files are among dirty, each once, in the order of
// acceptance.
func (x *Index) Awaiting(dirty []string) []string {
	if x == nil || x.Uncheckpointed.Len() == 0 {
		return nil
	}
	var turns []string
	for file, turn := range x.Uncheckpointed.All() {
		if !slices.Contains(turns, turn) && slices.Contains(dirty, file) {
			turns = append(turns, turn)
		}
	}
	return turns
}

// Checkpointed replaces a row with the one that names its checkpoint.
func (x *Index) Checkpointed(row *ojson.Object) {
	id := row.String("turn_id")
	x.drop(func(_, turn string) bool { return turn == id })
	for _, p := range []**ojson.Object{&x.LastRow, &x.QueuedRow, &x.QueuedDone} {
		if (*p).String("turn_id") == id {
			*p = row
		}
	}
	for i, r := range x.Recent {
		if r.String("turn_id") == id {
			x.Recent[i] = row
		}
	}
	if x.DelegationRows.Has(id) {
		x.DelegationRows.Set(id, row)
	}
}

// KeepRequests keeps only the rows whose requests are queued or wait for approval: the gate reads their
// verification (docs/spec/observation.md#concurrent-turns).
func (x *Index) KeepRequests(s *State) {
	keep := func(row **ojson.Object, by string) {
		switch {
		case by == "":
			*row = nil
		case (*row).String("turn_id") == by:
		case x.LastRow.String("turn_id") == by:
			*row = x.LastRow
		default:
			*row = nil
		}
	}
	phase, done := requesters(s)
	keep(&x.QueuedRow, phase)
	keep(&x.QueuedDone, done)
}

// requesters returns the turns whose phase and completion requests stand.
func requesters(s *State) (phase, completion string) {
	switch {
	case s.PendingPhaseTransition != nil:
		phase = s.PendingPhaseTransition.RequestedByTurn
	case s.QueuedPhaseTransition != nil:
		phase = s.QueuedPhaseTransition.RequestedByTurn
	}
	switch {
	case s.PendingRunCompletion != nil:
		completion = s.PendingRunCompletion.RequestedByTurn
	case s.QueuedRunCompletion != nil:
		completion = s.QueuedRunCompletion.RequestedByTurn
	}
	if a := s.LastApproval; a != nil && phase == "" && completion == "" {
		// The approval can be taken back, and the gate is then judged by that turn again.
		if a.Transition != nil {
			phase = a.Transition.RequestedByTurn
		}
		if a.Completion != nil {
			completion = a.Completion.RequestedByTurn
		}
	}
	return phase, completion
}

// MaxOpenObjections bounds the objections in the index; the ledger keeps them all.
const MaxOpenObjections = 50

// Trim drops rows that no active turn can conflict with, and messages that no turn waits for.
func (x *Index) Trim(s *State) {
	x.settleMail(s)
	if s.ActiveTurns.Len() == 0 {
		x.Recent = nil
		return
	}
	oldest := -1
	for _, t := range s.ActiveTurns.All() {
		if oldest < 0 || t.AssignedSequence < oldest {
			oldest = t.AssignedSequence
		}
	}
	x.Recent = slices.DeleteFunc(slices.Clone(x.Recent), func(r *ojson.Object) bool {
		n, _ := r.Int("accepted_sequence")
		return n <= oldest
	})
}

func keepLast(list []*ojson.Object, n int, o *ojson.Object) []*ojson.Object {
	list = append(slices.Clip(list), o)
	if len(list) > n {
		list = slices.Clone(list[len(list)-n:])
	}
	return list
}

// BuildIndex derives the index of the state's run from whole ledgers, for a run that another tool changed. It reads
// each ledger once.
func BuildIndex(cfg *config.Config, s *State, read LedgerReader) *Index {
	x := &Index{Run: s.Run()}
	if x.Run == "" {
		return x
	}
	phaseBy, doneBy := requesters(s)
	line := 0
	var recent []*ojson.Object
	used := DecodeDecisionIDs(nil)
	var closed closings
	for l := range read(wire.LedgerDecisions) {
		if id := l.Row.String("id"); id != "" && l.Row.String("run_id") == x.Run {
			used.Add(id)
		}
		if l.Row.String("type") == RowObjectionClosed && l.Row.String("run_id") == x.Run {
			closed = append(closed, l.Row)
		}
	}
	for l := range read(wire.LedgerHistory) {
		line++
		row := l.Row
		if id := row.String("run_id"); id != "" && id != x.Run {
			continue
		}
		if row.String("status") == "reissued" {
			continue
		}
		if _, ok := row.Int("accepted_sequence"); !ok {
			row = row.Clone()
			row.Set("accepted_sequence", line)
		}
		if at := row.String("accepted_at"); at != "" {
			closed.before(at, x)
		}
		x.take(row, used)
		// take copies what others may hold; for a whole history that is too slow.
		recent, x.Recent = append(recent, x.Recent...), nil
		id := row.String("turn_id")
		if id == phaseBy {
			x.QueuedRow = row
		}
		if id == doneBy {
			x.QueuedDone = row
		}
		for _, d := range s.DelegationQueue {
			if wire.OrEmpty(d.ChildTurnID) == id {
				x.DelegationRows.Set(id, row)
			}
		}
		if phase := row.String("phase"); phase != s.Phase && !slices.Contains(x.PhasesDone, phase) {
			x.PhasesDone = append(x.PhasesDone, phase)
		}
	}
	x.Recent = recent
	if s.Status == wire.StatusCompleted && !slices.Contains(x.PhasesDone, s.Phase) {
		x.PhasesDone = append(x.PhasesDone, s.Phase)
	}
	closed.before("", x)
	x.DecisionIDs = used.Encode()
	var escalations []*ojson.Object
	for l := range read(wire.LedgerEscalations) {
		escalations = append(escalations, l.Row)
	}
	open, _ := FoldEscalations(escalations)
	for _, row := range open {
		if row.String("run_id") == x.Run {
			x.OpenEscalations = append(x.OpenEscalations, row)
		}
	}
	var newest time.Time
	for l := range read(wire.LedgerEvents) {
		at, err := wire.ParseTime(l.Row.String("timestamp"))
		if err == nil && l.Row.String("run_id") == x.Run && !at.Before(newest) {
			newest, x.LastEventAt = at, l.Row.String("timestamp")
		}
		if l.Row.String("run_id") == x.Run {
			x.Mail(l.Row)
		}
	}
	x.KeepRequests(s)
	x.Trim(s)
	return x
}

// RowObjectionClosed is the type of the decision ledger's row that says a person closed an objection.
const RowObjectionClosed = "objection_closed"

// CloseObjection removes an objection of a turn.
func (x *Index) CloseObjection(turn, id string) {
	x.OpenObjections = slices.DeleteFunc(slices.Clone(x.OpenObjections), func(o *ojson.Object) bool {
		return o.String("turn_id") == turn && o.String("id") == id
	})
}

// closings are the objections that people closed, in ledger order.
type closings []*ojson.Object

// before applies the closings that came before the time; all of them for "".
func (c *closings) before(at string, x *Index) {
	for len(*c) > 0 && (at == "" || (*c)[0].String("timestamp") < at) {
		x.CloseObjection((*c)[0].String("turn_id"), (*c)[0].String("objection_id"))
		*c = (*c)[1:]
	}
}

// BlockingObjections returns the open objections of severity blocking.
func (x *Index) BlockingObjections() []string {
	var out []string
	for _, o := range x.OpenObjections {
		if o.String("severity") == "blocking" {
			out = append(out, o.String("id"))
		}
	}
	return out
}

// SeriousObjection reports whether an objection of high or blocking severity is open.
func (x *Index) SeriousObjection() bool {
	return slices.ContainsFunc(x.OpenObjections, func(o *ojson.Object) bool {
		severity := o.String("severity")
		return severity == "high" || severity == "blocking"
	})
}
