// Facts: what the picture needs from one recorded row, small enough to keep thousands.

package timeline

import (
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kinds of facts that are not events.
const (
	kindHistory  = "history"
	kindApproval = "human_approval"
	kindDenial   = "human_denial"
	kindPolicy   = "approval_policy"
)

// Fact is a row of events.jsonl, history.jsonl or decision-ledger.jsonl. Its texts are on one line, bounded and
// free of hostile runes.
type Fact struct {
	At                              time.Time
	Kind                            string // the event's type, or one of the kinds above
	Run, Turn, Role, Phase, Status  string
	Repo                            string // in an initiative: the turn's repository
	Gate, By, Why, Commit, From, To string // From and To are turns, or phases
	Others                          []string
	Start                           time.Time
	Final                           bool // a rejection after which no attempt follows
	USD                             float64
	Input, Output                   int64 // tokens
}

const maxOthers = 50

// short returns a truncated copy of a text on one line.
func short(s string) string {
	return strings.Clone(text.ClipRunes(text.OneLine(text.Cut(s, 4000)), 160))
}

func when(s string) time.Time {
	at, err := wire.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Event returns the fact of a row of events.jsonl, nil when the picture does not show it.
func Event(row *ojson.Object) *Fact {
	kind := row.String("event_type")
	switch kind {
	case run.EventRunStarted, run.EventPhaseEntered, run.EventPhaseCleanup, run.EventTurnDispatched,
		run.EventTurnAccepted, run.EventTurnRejected, run.EventTurnConflicted, run.EventAcceptanceFailed,
		run.EventTurnReissued, run.EventTurnStalled, run.EventTurnStartFailed, run.EventTurnCheckpointed,
		run.EventRunBlocked, run.EventRunCompleted, run.EventEscalationRaised, run.EventEscalationResolved,
		run.EventGatePending, run.EventGateApproved, run.EventGateFailed, run.EventHumanEscalationRaised,
		run.EventHumanEscalationResolved, run.EventAbandoned, run.EventApprovalWithdrawn, run.EventGateLeft:
	default:
		return nil
	}
	turn, p := row.Object("turn"), row.Object("payload")
	f := &Fact{At: when(row.String("timestamp")), Kind: kind, Run: short(row.String("run_id")),
		Turn: short(turn.String("turn_id")),
		Role: short(turn.String("role_id")), Phase: short(row.String("phase")), Status: short(row.String("status")),
		Gate: short(p.String("gate_id")), Why: short(why(p)), Commit: short(p.String("checkpoint_sha")),
		From: short(p.String("from")), To: short(p.String("to")), By: short(p.String("trigger")),
		Start: when(p.String("started_at"))}
	switch kind {
	case run.EventTurnReissued:
		f.From = short(p.String("old_turn_id"))
	case run.EventTurnRejected:
		retrying, ok := p.Get("retrying")
		f.Final = ok && retrying == false
	case run.EventTurnConflicted:
		f.Others = names(p.Strings("accepted_since_turn_ids"))
	case run.EventPhaseCleanup:
		f.Others = names(p.Strings("removed_turn_ids"))
	case run.EventAbandoned:
		var dropped []string
		for _, t := range p.Objects("dropped_turns") {
			dropped = append(dropped, t.String("turn_id"))
		}
		f.Others, f.By = names(dropped), short(p.Object("by").String("name"))
	}
	return f
}

// why returns the reason in an event, in one sentence.
func why(p *ojson.Object) string {
	for _, k := range [...]string{"errors", "validation_errors", "reasons", "conflicting_files"} {
		if list := p.Strings(k); len(list) > 0 {
			return strings.Join(list[:min(len(list), 3)], "; ")
		}
	}
	for _, k := range [...]string{"reason", "detail", "failure_type", "recommendation"} {
		if s := p.String(k); s != "" {
			return s
		}
	}
	return ""
}

func names(list []string) (out []string) {
	for _, s := range list[:min(len(list), maxOthers)] {
		out = append(out, short(s))
	}
	return out
}

// History returns the fact of a row of history.jsonl, nil for a row without a turn.
func History(row *ojson.Object) *Fact {
	if row.String("turn_id") == "" {
		return nil
	}
	cost := row.Object("cost")
	f := &Fact{At: when(row.String("accepted_at")), Kind: kindHistory, Run: short(row.String("run_id")),
		Turn: short(row.String("turn_id")), Role: short(row.String("role")), Phase: short(row.String("phase")),
		Status: short(row.String("status")), Why: short(row.String("summary")), Start: when(row.String("started_at")),
		From: short(row.Object("delegation_context").String("parent_turn_id")),
		USD:  run.RowCost(cost), Input: tokens(cost, "input_tokens"), Output: tokens(cost, "output_tokens"),
		Commit: short(row.String("checkpoint_sha"))}
	if ms, ok := row.Float("duration_ms"); ok && f.Start.IsZero() && ms > 0 && ms < 1e12 {
		f.Start = f.At.Add(-time.Duration(ms) * time.Millisecond)
	}
	return f
}

// tokens limits a claimed number to between zero and a sum that cannot overflow.
func tokens(cost *ojson.Object, key string) int64 {
	n, _ := cost.Float(key)
	return int64(min(max(0, n), 1e12))
}

// Decision returns the fact of a row of decision-ledger.jsonl that says who opened a gate or refused to, nil for
// any other.
func Decision(row *ojson.Object) *Fact {
	f := &Fact{At: when(row.String("timestamp")), Kind: row.String("type"), Run: short(row.String("run_id")),
		Gate: short(row.String("gate_id")), Phase: short(row.String("from_phase"))}
	switch f.Kind {
	case kindApproval:
		f.By = row.Object("approved_by").String("name")
		if votes := row.Objects("votes"); len(votes) > 1 {
			f.By = ""
			for i, v := range votes[:min(len(votes), 10)] {
				if i > 0 {
					f.By += ", "
				}
				f.By += v.String("name")
			}
		}
	case kindDenial:
		f.By = row.Object("denied_by").String("name")
	case kindPolicy:
		f.By = "approval policy"
	default:
		return nil
	}
	f.By = short(f.By)
	return f
}
