// The only routines that block a run and clear a block: state, event, escalation record and run-history row always
// change together (docs/compatibility.md#where-we-differ-on-purpose rows 3, 22, 23).

package change

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Block is the full descriptor of a block (docs/spec/state.md#what-blocks-a-run).
type Block struct {
	On, Category, TypedReason string
	Owner                     string // human, operator
	Action, Detail            string
	Turn                      *run.Turn // nil when no turn is concerned
	Retained                  bool
	Escalation                *ojson.Object
	GateAction                *ojson.Object
	Violations                []*ojson.Object // of policies
	More                      []any           // further members of the run_blocked event, in pairs
}

// Block blocks the run, or replaces its present block.
func (t *Draft) Block(b Block) {
	s := t.State
	if s.Status == wire.StatusBlocked && wire.OrEmpty(s.BlockedOn) != b.On {
		// People are no longer asked about the previous block.
		t.resolveCurrent("superseded")
	}
	s.Status = wire.StatusBlocked
	s.BlockedOn = new(b.On)
	r := &run.BlockedReason{
		Category:  b.Category,
		BlockedAt: t.Env.Time(),
		Recovery: run.Recovery{
			TypedReason:    b.TypedReason,
			Owner:          b.Owner,
			RecoveryAction: b.Action,
			TurnRetained:   b.Retained,
		},
	}
	if b.Detail != "" {
		r.Recovery.Detail = new(b.Detail)
	}
	if b.Turn != nil {
		r.TurnID = new(b.Turn.TurnID)
	} else if only := s.OnlyTurn(); only != nil {
		r.TurnID = new(only.TurnID)
	}
	if b.GateAction != nil {
		r.Extra.Set("detail", b.Detail)
		r.Extra.Set("gate_action", b.GateAction)
	}
	if len(b.Violations) > 0 {
		list := make([]any, len(b.Violations))
		for i, v := range b.Violations {
			list[i] = v
		}
		r.Extra.Set("violations", list)
	}
	s.BlockedReason = r
	if b.Escalation != nil {
		s.Escalation = b.Escalation
	}
	t.LastEvent("run_blocked", b.Turn, withMembers(ojson.NewObject("category", b.Category, "blocked_on", b.On,
		"typed_reason", b.TypedReason, "detail", r.Recovery.Detail), b.More))
	if b.Owner == "human" {
		t.raise(b.Turn)
	}
	t.RunHistory(b.Detail)
	if t.Session == "" {
		t.Session = "blocked"
	}
}

// raise records that a person is needed, once per run, block and turn.
func (t *Draft) raise(turn *run.Turn) {
	s := t.State
	role := ""
	if turn != nil {
		role = turn.AssignedRole
	}
	if run.CurrentEscalation(s, t.Index.OpenEscalations) != nil {
		return
	}
	row := run.NewEscalation(t.Env.ID("hesc"), t.Env.Time(), s, role)
	t.Append(wire.LedgerEscalations, row)
	t.Index.OpenEscalations = append(
		slices.Clip(t.Index.OpenEscalations), row)
	t.Event("human_escalation_raised", turn, "escalation_id", row.String("escalation_id"), "type", row.String("type"),
		"service", row.Value("service"),
		"action", row.Value("action"), "blocked_on", wire.OrEmpty(s.BlockedOn),
		"resolution_command", row.String("resolution_command"), "detail", row.Value("detail"))
	t.renderTasks(nil)
}

// ClearBlock makes the run active and resolves its open escalation record.
func (t *Draft) ClearBlock(via string) { t.ClearBlockFor(via, "") }

// ClearBlockFor is like ClearBlock, with the reason of the person who lifts the block.
func (t *Draft) ClearBlockFor(via, reason string) {
	s := t.State
	was := wire.OrEmpty(s.BlockedOn)
	current := run.CurrentEscalation(s, t.Index.OpenEscalations)
	t.resolveNoted(func(open *ojson.Object) bool { return current != nil && open == current }, via, reason)
	if strings.HasPrefix(was, "escalation:") {
		role := s.Escalation.String("from_role")
		turn := ""
		if s.BlockedReason != nil {
			turn = wire.OrEmpty(s.BlockedReason.TurnID)
		}
		t.Append(wire.LedgerDecisions,
			ledger.NewEscalationResolvedEntry(t.Env.Time(), s.Run(), s.Phase, via, was, s.Escalation, turn, role))
		pairs := []any{"resolved_via", via}
		if reason != "" {
			pairs = append(pairs, "reason", reason)
		}
		t.Event("escalation_resolved", nil, pairs...)
	}
	s.Status = wire.StatusActive
	s.BlockedOn, s.BlockedReason, s.Escalation = nil, nil, nil
}

// resolveCurrent closes the open record of the present block.
func (t *Draft) resolveCurrent(via string) {
	current := run.CurrentEscalation(t.State, t.Index.OpenEscalations)
	t.ResolveEscalations(func(open *ojson.Object) bool { return current != nil && open == current }, via)
}

// ResolveEscalations closes the open records that match.
func (t *Draft) ResolveEscalations(match func(*ojson.Object) bool, via string) {
	t.resolveNoted(match, via, "")
}

func (t *Draft) resolveNoted(match func(*ojson.Object) bool, via, notes string) {
	var keep, done []*ojson.Object
	for _, open := range t.Index.OpenEscalations {
		if !match(open) {
			keep = append(keep, open)
			continue
		}
		row := run.NewEscalationResolution(open.String("escalation_id"), t.Env.Time(), via, notes)
		t.Append(wire.LedgerEscalations, row)
		t.Event("human_escalation_resolved", nil, "escalation_id", open.String("escalation_id"),
			"type", open.Value("type"), "service", open.Value("service"), "resolved_via", via)
		done = append(done, run.CompletedEscalation(open, row))
	}
	t.Index.OpenEscalations = keep
	if len(done) > 0 {
		t.renderTasks(done)
	}
}

// CloseStale closes open records of the run that no longer block anything: another tool lifted the block, or
// replaced it, and left them. They could not be resolved afterwards. A finished run is left as it is: nothing may
// follow its last event.
func (t *Draft) CloseStale() {
	if len(t.Index.OpenEscalations) == 0 || t.Before.State.Status == wire.StatusCompleted ||
		t.Before.State.Status == wire.StatusFailed {
		return
	}
	s := t.State
	via := "block_lifted"
	if s.Status == wire.StatusBlocked {
		via = "superseded"
	}
	waits := make(map[string]bool)
	if s.Status == wire.StatusBlocked || s.Status == wire.StatusPaused {
		waits[wire.OrEmpty(s.BlockedOn)] = true
	}
	if run.HasPending(s) {
		waits["human_approval:"+run.PendingGate(s)] = true
	}
	t.ResolveEscalations(func(open *ojson.Object) bool {
		return open.String("run_id") == s.Run() && !waits[open.String("blocked_on")]
	}, via)
}

// renderTasks rewrites the managed sections of HUMAN_TASKS.md.
func (t *Draft) renderTasks(done []*ojson.Object) {
	prev := t.humanTasks
	if prev == nil {
		prev = t.Tasks
	}
	t.humanTasks = ledger.RenderHumanTasks(prev, t.Index.OpenEscalations, done)
}

// RunHistory appends the run's row; readers take the last row of a run.
func (t *Draft) RunHistory(reason string) {
	t.Append(wire.LedgerRunHistory, run.BuildHistory(run.HistoryFacts{
		Config:        t.Config,
		State:         t.State,
		Index:         t.Index,
		BlockedReason: reason,
		RecordedAt:    t.Env.Now,
	}))
}

// withMembers adds members, given in pairs, to o.
func withMembers(o *ojson.Object, pairs []any) *ojson.Object {
	for k, v := range ojson.NewObject(pairs...).All() {
		o.Set(k, v)
	}
	return o
}

// BlockResult is the outcome of an operation that blocks the run.
type BlockResult struct {
	BlockedOn    string
	EscalationID string // the record to unblock, "" when no person is asked
}

// Blocked returns the present block of the run.
func (t *Draft) Blocked() *BlockResult {
	return &BlockResult{
		BlockedOn:    wire.OrEmpty(t.State.BlockedOn),
		EscalationID: run.CurrentEscalation(t.State, t.Index.OpenEscalations).String("escalation_id"),
	}
}
