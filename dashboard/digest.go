// What lists show of the rows of each ledger.

package dashboard

import (
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func timeOf(row *ojson.Object, keys ...string) time.Time {
	for _, k := range keys {
		if at, err := wire.ParseTime(row.String(k)); err == nil {
			return at
		}
	}
	return time.Time{}
}

func firstText(row *ojson.Object, keys ...string) string {
	for _, k := range keys {
		if s := row.String(k); s != "" {
			return s
		}
	}
	return ""
}

func digestHistory(row *ojson.Object, e *entry) {
	e.fact = timeline.History(row)
	e.Time = timeOf(row, "accepted_at", "rejected_at", "timestamp", "projected_at")
	e.Turn, e.Run, e.Role, e.Phase = row.String("turn_id"), row.String("run_id"), row.String("role"),
		row.String("phase")
	e.Status, e.Text, e.ID, e.Ref = row.String("status"), row.String("summary"), row.String("turn_id"),
		row.String("runtime_id")
}

func digestEvent(row *ojson.Object, e *entry) {
	e.fact = timeline.Event(row)
	e.Time = timeOf(row, "timestamp")
	e.Kind, e.Run, e.Phase, e.Status, e.ID = firstText(row, "event_type",
		"type"), row.String("run_id"), row.String("phase"), row.String("status"), row.String("event_id")
	turn := row.Object("turn")
	e.Turn, e.Role = turn.String("turn_id"), firstText(turn, "role_id", "assigned_role", "role")
	p := row.Object("payload")
	e.Ref = firstText(p, "gate_id", "runtime_id")
	var parts []string
	for _, k := range [...]string{"reason", "from_phase", "to_phase", "gate_id", "checkpoint_sha", "detail", "message",
		"blocked_on", "error_code"} {
		if s := p.String(k); s != "" {
			parts = append(parts, strings.ReplaceAll(k, "_", " ")+" "+s)
		}
	}
	e.Text = strings.Join(parts, "; ")
}

func digestDecision(row *ojson.Object, e *entry) {
	e.fact = timeline.Decision(row)
	e.Time = timeOf(row, "created_at", "timestamp", "failed_at", "decided_at", "recorded_at")
	e.Kind, e.ID = row.String("type"), row.String("id")
	if e.Kind == "" && e.ID != "" {
		e.Kind = "decision"
	}
	e.Turn, e.Run = firstText(row, "turn_id", "requested_by_turn"), row.String("run_id")
	e.Role, e.Phase, e.Status = row.String("role"), firstText(row, "phase", "from_phase"), row.String("status")
	e.Ref = firstText(row, "gate_id", "gate", "category")
	if e.Text = firstText(row, "statement", "reason", "detail", "message"); e.Text == "" {
		e.Text = strings.Join(row.Strings("reasons"), "; ")
	}
}

func digestHook(row *ojson.Object, e *entry) {
	e.Time = timeOf(row, "timestamp", "recorded_at", "at")
	e.Kind, e.Ref = firstText(row, "hook_phase", "phase", "event"), firstText(row, "hook_name", "name")
	e.Turn, e.Run = row.String("turn_id"), row.String("run_id")
	e.Status = firstText(row, "orchestrator_action", "result", "verdict")
	e.Text = firstText(row, "message", "reason", "error")
}

func digestAny(row *ojson.Object, e *entry) {
	e.Time = timeOf(row, "timestamp", "recorded_at", "created_at", "emitted_at", "accepted_at", "completed_at")
	e.Kind, e.ID = firstText(row, "type", "event_type", "kind", "status"), firstText(row, "id", "run_id", "event_id")
	e.Turn, e.Run = firstText(row, "turn_id", "repo_turn_id"), firstText(row, "run_id", "repo_run_id")
	e.Role, e.Phase, e.Status, e.Ref = row.String("role"), row.String("phase"), row.String("status"), firstText(row,
		"repo_id", "workstream_id")
	e.Text = firstText(row, "summary", "statement", "message", "detail", "reason")
}
