// Keeping the run index: one row at a time, or from whole ledgers.

package protocol

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Bounds of the lists the index keeps for run-history rows.
const (
	keepDecisions = 5
	keepTurns     = 3
)

// accept books an accepted history row.
func (x *Index) accept(row *ojson.Object, cfg *Config) {
	phase, role := row.String("phase"), row.String("role")
	x.Accepted++
	n, _ := x.PhaseAccepted.Get(phase)
	x.PhaseAccepted.Set(phase, n+1)
	roles, _ := x.Participants.Get(phase)
	if !contains(roles, role) {
		x.Participants.Set(phase, append(slices.Clip(roles), role))
	}
	if !contains(x.RolesUsed, role) {
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
	if phase == "implementation" && row.String("status") == ResultCompleted && slices.ContainsFunc(files, ProductPath) {
		x.ProductTurn = true
	}
	used := DecodeDecisionIDs(x.DecisionIDs)
	for _, d := range row.Objects("decisions") {
		used.Add(d.String("id"))
		x.Decisions++
		x.RecentDecisions = keepLast(x.RecentDecisions, keepDecisions,
			ojson.NewObject("id", d.String("id"), "statement", d.String("statement"), "decided_by", role, "phase", phase))
	}
	x.DecisionIDs = used.Encode()
	x.RecentTurns = keepLast(x.RecentTurns, keepTurns,
		ojson.NewObject("turn_id", row.String("turn_id"), "role", role, "summary", row.String("summary"), "phase", phase))
	for _, o := range row.Objects("objections") {
		switch st := o.String("status"); st {
		case "", "raised", "acknowledged", "escalated":
			x.OpenObjections = append(slices.Clip(x.OpenObjections), ojson.NewObject("turn_id", row.String("turn_id"), "role", role, "id", o.String("id"),
				"severity", o.String("severity"), "statement", o.String("statement")))
		default:
			x.OpenObjections = slices.DeleteFunc(slices.Clone(x.OpenObjections), func(open *ojson.Object) bool { return open.String("id") == o.String("id") })
		}
	}
	if n := len(x.OpenObjections); n > maxOpenObjections {
		x.OpenObjections = slices.Clone(x.OpenObjections[n-maxOpenObjections:])
	}
	if row.String("checkpoint_sha") == "" {
		for _, f := range files {
			if ProjectOwned(f) {
				x.Uncheckpointed.Set(f, row.String("turn_id"))
			}
		}
	}
	x.LastRow = row
	x.Recent = append(slices.Clip(x.Recent), row)
}

// maxOpenObjections bounds what the index carries; the ledger keeps them all.
const maxOpenObjections = 50

// trim forgets rows no active turn can conflict with.
func (x *Index) trim(s *State) {
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

// BuildIndex derives the index of the state's run from whole ledgers, for a run
// that another tool has worked on. It reads each ledger once.
func BuildIndex(cfg *Config, s *State, read LedgerReader) *Index {
	x := &Index{Run: s.Run()}
	if x.Run == "" {
		return x
	}
	line := 0
	for l := range read(LedgerHistory) {
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
		x.accept(row, cfg)
		usd, ok := row.Object("cost").Float("usd")
		if !ok {
			usd, _ = row.Object("cost").Float("total_usd")
		}
		x.CostUSD += max(0, usd)
		if by := requestedBy(s); by != "" && row.String("turn_id") == by {
			x.QueuedRow = row
		}
		for _, d := range s.DelegationQueue {
			if strOr(d.ChildTurnID) == row.String("turn_id") {
				x.DelegationRows.Set(row.String("turn_id"), row)
			}
		}
		if phase := row.String("phase"); phase != s.Phase && !contains(x.PhasesDone, phase) {
			x.PhasesDone = append(x.PhasesDone, phase)
		}
	}
	if s.Status == StatusCompleted && !contains(x.PhasesDone, s.Phase) {
		x.PhasesDone = append(x.PhasesDone, s.Phase)
	}
	used := DecodeDecisionIDs(x.DecisionIDs)
	for l := range read(LedgerDecisions) {
		if id := l.Row.String("id"); id != "" && l.Row.String("run_id") == x.Run {
			used.Add(id)
		}
	}
	x.DecisionIDs = used.Encode()
	open := map[string]*ojson.Object{}
	var order []string
	for l := range read(LedgerEscalations) {
		id := l.Row.String("escalation_id")
		switch l.Row.String("kind") {
		case "raised":
			if l.Row.String("run_id") == x.Run {
				open[id] = l.Row
				order = append(order, id)
			}
		case "resolved":
			delete(open, id)
		}
	}
	for _, id := range order {
		if r, ok := open[id]; ok {
			x.OpenEscalations = append(x.OpenEscalations, r)
		}
	}
	x.trim(s)
	return x
}

func requestedBy(s *State) string {
	if q := s.QueuedRunCompletion; q != nil {
		return q.RequestedByTurn
	}
	if q := s.QueuedPhaseTransition; q != nil {
		return q.RequestedByTurn
	}
	return ""
}

// SeriousObjection reports whether an objection of high or blocking severity is open.
func (x *Index) SeriousObjection() bool {
	return slices.ContainsFunc(x.OpenObjections, func(o *ojson.Object) bool {
		return o.String("severity") == "high" || o.String("severity") == "blocking"
	})
}
