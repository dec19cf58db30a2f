// Tests of time limits (docs/spec/gates.md#timeouts).

package limits

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestEvaluateTimeouts(t *testing.T) {
	now := time.Date(2026, 1, 1, 10, 0, 30, 0, time.UTC)
	ago := func(minutes float64) string {
		return wire.FormatTime(now.Add(-time.Duration(minutes * float64(time.Minute))))
	}
	lim := func(m float64) *float64 { return &m }
	tests := []struct {
		name  string
		to    *config.Timeouts
		route *config.Route
		state run.State
		turn  *run.Turn
		want  []TimeoutHit
	}{
		{
			name:  "not configured",
			state: run.State{CreatedAt: new(ago(999))},
			route: &config.Route{TimeoutMinutes: lim(1)},
		},
		{
			name: "turn over",
			to:   &config.Timeouts{PerTurn: lim(5)},
			turn: &run.Turn{StartedAt: ago(10.5), AssignedAt: ago(99)},
			want: []TimeoutHit{{
				Scope:             "turn",
				LimitMinutes:      5,
				ElapsedMinutes:    11,
				ExceededByMinutes: 6,
				Action:            "escalate",
			}},
		},
		{name: "turn at the limit", to: &config.Timeouts{PerTurn: lim(10.5)}, turn: &run.Turn{StartedAt: ago(10.5)}},
		{
			name: "turn a little over",
			to:   &config.Timeouts{PerTurn: lim(10.2)},
			turn: &run.Turn{StartedAt: ago(10.5)},
			want: []TimeoutHit{{
				Scope:             "turn",
				LimitMinutes:      10.2,
				ElapsedMinutes:    11,
				ExceededByMinutes: 0,
				Action:            "escalate",
			}},
		},
		{
			name: "turn not started counts from its assignment",
			to:   &config.Timeouts{PerTurn: lim(5), Action: "warn"},
			turn: &run.Turn{AssignedAt: ago(8)},
			want: []TimeoutHit{{
				Scope:             "turn",
				LimitMinutes:      5,
				ElapsedMinutes:    8,
				ExceededByMinutes: 3,
				Action:            "warn",
			}},
		},
		{name: "no turn", to: &config.Timeouts{PerTurn: lim(5)}},
		{
			name:  "phase override",
			to:    &config.Timeouts{PerPhase: lim(1), Action: "warn"},
			route: &config.Route{TimeoutMinutes: lim(3), TimeoutAction: "skip_phase"},
			state: run.State{PhaseEnteredAt: new(ago(9)), CreatedAt: new(ago(99))},
			want: []TimeoutHit{{
				Scope:             "phase",
				Phase:             "build",
				LimitMinutes:      3,
				ElapsedMinutes:    9,
				ExceededByMinutes: 6,
				Action:            "skip_phase",
			}},
		},
		{
			name:  "phase from the run's start",
			to:    &config.Timeouts{PerPhase: lim(4)},
			state: run.State{CreatedAt: new(ago(9))},
			want: []TimeoutHit{{
				Scope:             "phase",
				Phase:             "build",
				LimitMinutes:      4,
				ElapsedMinutes:    9,
				ExceededByMinutes: 5,
				Action:            "escalate",
			}},
		},
		{
			name:  "skip_phase is for phases",
			to:    &config.Timeouts{PerRun: lim(4), Action: "skip_phase"},
			state: run.State{CreatedAt: new(ago(9))},
			want: []TimeoutHit{{
				Scope:             "run",
				LimitMinutes:      4,
				ElapsedMinutes:    9,
				ExceededByMinutes: 5,
				Action:            "escalate",
			}},
		},
		{
			name:  "all in order",
			to:    &config.Timeouts{PerRun: lim(1), PerPhase: lim(2), PerTurn: lim(3)},
			state: run.State{CreatedAt: new(ago(10))},
			turn:  &run.Turn{AssignedAt: ago(10)},
			want: []TimeoutHit{{
				Scope:             "turn",
				LimitMinutes:      3,
				ElapsedMinutes:    10,
				ExceededByMinutes: 7,
				Action:            "escalate",
			},
				{
					Scope:             "phase",
					Phase:             "build",
					LimitMinutes:      2,
					ElapsedMinutes:    10,
					ExceededByMinutes: 8,
					Action:            "escalate",
				},
				{Scope: "run", LimitMinutes: 1, ElapsedMinutes: 10, ExceededByMinutes: 9, Action: "escalate"}},
		},
		{
			name:  "unreadable start",
			to:    &config.Timeouts{PerRun: lim(1)},
			state: run.State{CreatedAt: new("yesterday")},
		},
		{
			name:  "start in the future",
			to:    &config.Timeouts{PerRun: lim(1)},
			state: run.State{CreatedAt: new(ago(-60))},
		},
		{
			name:  "endless limit",
			to:    &config.Timeouts{PerRun: lim(math.Inf(1))},
			state: run.State{CreatedAt: new(ago(9999))},
		},
		{
			name:  "senseless limit",
			to:    &config.Timeouts{PerRun: lim(math.NaN())},
			state: run.State{CreatedAt: new(ago(9999))},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &config.Config{Timeouts: tt.to}
			if tt.route == nil {
				tt.route = &config.Route{}
			}
			c.Routing.Set("build", tt.route)
			tt.state.Phase = "build"
			if diff := cmp.Diff(tt.want, EvaluateTimeouts(c, &tt.state, tt.turn, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTimeoutBudgets(t *testing.T) {
	now := time.Date(2026, 1, 1, 10, 0, 30, 0, time.UTC)
	limit, its := 90.0, 5.0
	c := &config.Config{Timeouts: &config.Timeouts{PerPhase: &limit, PerRun: &its}}
	c.Routing.Set("build", &config.Route{})
	s := &run.State{Phase: "build", CreatedAt: new("2026-01-01T09:00:00.000Z")}
	var got []string
	for _, b := range TimeoutBudgets(c, s, nil, now) {
		got = append(got, string(ojson.Compact(b.Object())))
	}
	want := []string{
		`{"scope":"phase","phase":"build","limit_minutes":90,"elapsed_minutes":61,"remaining_minutes":30,"remaining_seconds":1770,"deadline_iso":"2026-01-01T10:30:00.000Z","exceeded":false,"action":"escalate"}`,
		`{"scope":"run","limit_minutes":5,"elapsed_minutes":61,"remaining_minutes":0,"remaining_seconds":0,"deadline_iso":"2026-01-01T09:05:00.000Z","exceeded":true,"action":"escalate"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTimeoutHitTexts(t *testing.T) {
	h := TimeoutHit{
		Scope:             "phase",
		Phase:             "build",
		LimitMinutes:      2.5,
		ElapsedMinutes:    9,
		ExceededByMinutes: 7,
		Action:            "warn",
	}
	if got, want := h.Detail(), "Phase timeout (build): limit was 2.5m, elapsed 9m (exceeded by 7m)"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := (TimeoutHit{Scope: "run", LimitMinutes: 30}).Detail(),
		"Run timeout: limit was 30m, elapsed 0m (exceeded by 0m)"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := (TimeoutHit{Scope: "turn", LimitMinutes: 1}).Detail(),
		"Turn timeout: limit was 1m, elapsed 0m (exceeded by 0m)"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := string(ojson.Compact(h.Object())),
		`{"scope":"phase","phase":"build","limit_minutes":2.5,"elapsed_minutes":9,"exceeded_by_minutes":7,"action":"warn"}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestTurnDeadline(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	minutes := 1.5
	for _, tt := range []struct {
		to   *config.Timeouts
		want time.Duration
	}{{nil, 2 * time.Hour}, {&config.Timeouts{}, 2 * time.Hour},
		{&config.Timeouts{PerTurn: &minutes}, 90 * time.Second}} {
		if got := TurnDeadline(&config.Config{Timeouts: tt.to}, at).Sub(at); got != tt.want {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}
