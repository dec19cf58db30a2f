// Tests of run-history rows, provenance, inheritance and lineage.

package protocol

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestBuildRunHistory(t *testing.T) {
	s := inStatus(wire.StatusCompleted)
	s.CompletedAt = new("2026-01-01T02:00:00.000Z")
	s.PhaseGateStatus.Set("g1", "passed")
	s.BudgetStatus.SpentUSD = 1.5
	s.Provenance = ojson.NewObject("trigger", "odd", "parent_run_id", " run_0 ")
	s.InheritedContext = ojson.NewObject("parent_run_id", "run_0", "parent_status", "completed", "more", 1)
	x := &run.Index{
		Accepted:        4,
		FirstAcceptedAt: "2026-01-01T01:00:00.000Z",
		RolesUsed:       []string{"dev"},
		PhasesDone:      []string{"planning"},
		Decisions:       7,
		RecentTurns:     []*ojson.Object{ojson.NewObject("turn_id", "t", "summary", "did\nit")},
	}
	row := run.BuildHistory(run.HistoryFacts{
		Config:     twoPhaseConfig(),
		State:      s,
		Index:      x,
		RecordedAt: time.UnixMilli(0),
	})
	want := "schema_version run_id project_id project_name template status started_at completed_at duration_ms phases_completed total_turns roles_used decisions_count total_cost_usd budget_limit_usd blocked_reason gate_results connector_used model_used provenance parent_context retrospective inheritance_snapshot recorded_at"
	if got := strings.Join(row.Keys(), " "); got != want {
		t.Errorf("keys\n got %s\nwant %s", got, want)
	}
	for path, want := range map[string]string{
		"status":           `"completed"`,
		"duration_ms":      "3600000",
		"total_turns":      "4",
		"blocked_reason":   "null",
		"gate_results":     `{"g1":"passed"}`,
		"connector_used":   `"man"`,
		"budget_limit_usd": "5",
		"total_cost_usd":   "1.5",
		"project_name":     `"Demo"`,
		"provenance":       `{"trigger":"manual","parent_run_id":"run_0","trigger_reason":null,"intake_intent_id":null,"created_by":"operator"}`,
		"parent_context":   `{"parent_run_id":"run_0","parent_status":"completed","parent_completed_at":null,"inherited_at":null}`,
		"retrospective":    `{"headline":"did it","terminal_reason":"completed","next_operator_action":null,"follow_on_hint":"git agentxchain run --continue-from run_1 --inherit-context"}`,
	} {
		v, _ := row.Get(path)
		if got := string(ojson.Compact(v)); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
	if !run.Inheritable(row) || run.Inheritable(nil) {
		t.Error("Inheritable")
	}

	b := blockedState("escalation:operator:x", "why it stopped")
	row = run.BuildHistory(run.HistoryFacts{State: b, RecordedAt: time.UnixMilli(0)})
	if row.String("status") != "blocked" || row.String("blocked_reason") != "escalation:operator:x" ||
		row.Object("retrospective").String("headline") != "why it stopped" ||
		row.Object("retrospective").String("terminal_reason") != "operator_escalation" ||
		row.String("started_at") != wire.OrEmpty(b.CreatedAt) {
		t.Errorf("%s", ojson.Compact(row))
	}
	if row.Object("inheritance_snapshot").Array("recent_decisions") == nil || run.Inheritable(row) {
		t.Errorf("%s", ojson.Compact(row))
	}
}

func TestProvenance(t *testing.T) {
	row := func(status string) *ojson.Object { return ojson.NewObject("run_id", "run_0", "status", status) }
	for _, tc := range []struct {
		trigger, parent string
		row             *ojson.Object
		code            string
	}{
		{"", "", nil, ""}, {"continuation", "run_0", row("completed"), ""}, {"recovery", "run_0", row("blocked"), ""},
		{"continuation", "run_0", nil, wire.CodeNotFound}, {"continuation", "run_9", row("completed"),
			wire.CodeNotFound}, {"continuation", "run_0", row("active"), wire.CodeInvalidArgument},
		{"continuation", "run_0", row(""), wire.CodeInvalidArgument},
	} {
		p, err := run.Provenance(tc.trigger, " why ", tc.parent, "nobody", tc.row)
		if tc.code != "" {
			if err == nil || err.Code != tc.code {
				t.Errorf("%+v: %v", tc, err)
			}
			continue
		}
		if err != nil || p.String("created_by") != "operator" || p.String("trigger_reason") != "why" ||
			p.String("parent_run_id") != tc.parent || p.String("trigger") != cmp.Or(tc.trigger, "manual") {
			t.Errorf("%+v: %v %s", tc, err, ojson.Compact(p))
		}
	}
	if run.NormalizeProvenance(nil) != nil {
		t.Error("nil became something")
	}
	if p := run.NormalizeProvenance(ojson.NewObject("vendor", 1, "trigger", "intake")); p.String(
		"trigger") != "intake" || !p.Has("vendor") || p.Keys()[0] != "trigger" {
		t.Errorf("%s", ojson.Compact(p))
	}
}

func TestInheritedContext(t *testing.T) {
	keys := "schema_version parent_run_id parent_status parent_completed_at parent_phases_completed parent_roles_used parent_blocked_reason parent_retrospective recent_decisions recent_accepted_turns inherited_at"
	parent := ojson.NewObject("run_id", "run_0", "status", "completed", "roles_used", []string{"dev"},
		"inheritance_snapshot", ojson.NewObject("recent_decisions", []*ojson.Object{ojson.NewObject("id", "DEC-1")}))
	o := run.InheritedContext("run_0", parent, "now")
	if got := strings.Join(o.Keys(), " "); got != keys {
		t.Error(got)
	}
	if len(o.Array("recent_decisions")) != 1 || o.Array("recent_accepted_turns") == nil {
		t.Errorf("%s", ojson.Compact(o))
	}
	o.Objects("recent_decisions")[0].Set("id", "x")
	if parent.Object("inheritance_snapshot").Objects("recent_decisions")[0].String("id") != "DEC-1" {
		t.Error("the child shares the parent's row")
	}
	for _, p := range []*ojson.Object{nil, ojson.NewObject("run_id", "run_0")} {
		if o := run.InheritedContext("run_0", p, "now"); len(o.Strings("warnings")) != 1 ||
			string(ojson.Compact(o.Array("recent_decisions"))) != "[]" {
			t.Errorf("%s", ojson.Compact(o))
		}
	}
}
