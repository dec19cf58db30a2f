// The shapes of the API (docs/dashboard.md#api), member by member, and its filters.

package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// doc returns an answer with its members in order.
func (v *served) doc(path string) *ojson.Object {
	v.t.Helper()
	status, header, body := v.fetch("GET", "/api/"+path)
	if status != 200 || header.Get("Content-Type") != "application/json; charset=utf-8" ||
		header.Get("Cache-Control") != "no-cache" {
		v.t.Fatalf("/api/%s: %d %v", path, status, header)
	}
	o, err := ojson.DecodeObject([]byte(body))
	if err != nil {
		v.t.Fatalf("/api/%s: %v: %s", path, err, body)
	}
	return o
}

// adopt puts the rules of the working configuration in force, as a person does.
func adopt(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, wire.ConfigPath))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems, err := config.Decode(data)
	if err != nil || len(problems) > 0 {
		t.Fatalf("the configuration: %v %v", err, problems)
	}
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.AdoptConfig(t.Context(), config.RulesDigest(cfg), runner.ConsentOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestShapes(t *testing.T) {
	dir, turn := fresh(t)
	config := filepath.Join(dir, wire.ConfigPath)
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	doc.Set("timeouts", ojson.NewObject("per_turn_minutes", 30, "per_run_minutes", 600, "action", "warn"))
	doc.Set("notifications", ojson.NewObject("webhooks", []*ojson.Object{ojson.NewObject("name", "w",
		"url", "http://secret.example/token", "events", []string{"run_blocked", "approval_sla_reminder"},
		"timeout_ms", 1000)},
		"approval_sla", ojson.NewObject("enabled", true, "reminder_after_seconds", []any{ojson.Int(3600)})))
	doc.Object("runtimes").Set("remote",
		ojson.NewObject("type", "remote_agent", "url", "https://user:password@agents.example/run?key=secret"))
	if err := os.WriteFile(config, ojson.Pretty(doc), 0o666); err != nil {
		t.Fatal(err)
	}
	adopt(t, dir)
	v := serve(t, Options{Dir: dir})
	for path, want := range map[string]string{
		"session":                "session_version mutation_token replay_mode capabilities",
		"poll":                   "ok polled_at replay_mode governed_project_detected state_available reminder_evaluation",
		"continuity":             "checkpoint stale_checkpoint recovery_report_path restart_recommended recommended_command recommended_reason recommended_detail drift_detected drift_warnings",
		"chain-reports":          "latest reports",
		"missions":               "latest missions",
		"plans":                  "latest plans coordinator_warnings",
		"gate-actions":           "configured latest_attempt",
		"watch-results":          "ok total corrupt recent summary",
		"workflow-kit-artifacts": "ok phase artifacts",
		"notifications":          "ok configured webhooks approval_sla summary recent",
		"connectors":             "ok connectors",
		"timeouts":               "ok configured config live budget live_context events",
	} {
		if got := strings.Join(v.doc(path).Keys(), " "); got != want {
			t.Errorf("/api/%s has %s, want %s", path, got, want)
		}
	}
	state := v.doc("state")
	if keys := state.Keys(); !slices.Equal(keys[len(keys)-3:], []string{"runtime_guidance", "next_actions",
		"dispatch_progress"}) || !state.Object("active_turns").Has(turn.TurnID) {
		t.Errorf("the state ends with %v", keys)
	}
	c := v.doc("connectors").Objects("connectors")
	if len(c) != 1 ||
		strings.Join(c[0].Keys(),
			" ") != "runtime_id type target state reachable active_turn_ids active_roles last_turn_id last_role last_phase last_attempt_at last_success_at last_failure_at latency_ms attempts_made last_error" {
		t.Errorf("connectors: %s", ojson.Compact(c))
	} else if c[0].String("state") != "never_used" || c[0].String("target") != "https://agents.example/run" {
		t.Errorf("the connector: %s", ojson.Compact(c[0]))
	}
	n := v.doc("notifications")
	if strings.Contains(string(ojson.Compact(n)), "secret") ||
		strings.Join(n.Objects("webhooks")[0].Keys(), " ") != "name timeout_ms event_count events" {
		t.Errorf("notifications: %s", ojson.Compact(n))
	}
	b := v.doc("timeouts").Objects("budget")
	if len(b) != 2 ||
		strings.Join(b[0].Keys(),
			" ") != "scope limit_minutes elapsed_minutes remaining_minutes remaining_seconds deadline_iso exceeded action" {
		t.Errorf("the limits: %s", ojson.Compact(b))
	}
	kit := v.doc("workflow-kit-artifacts").Objects("artifacts")
	if len(kit) == 0 ||
		strings.Join(kit[0].Keys(), " ") != "path required semantics owned_by owner_resolution exists" {
		t.Errorf("artifacts: %s", ojson.Compact(kit))
	}
	for path, code := range map[string]string{
		"coordinator/blockers":    "coordinator_config_missing",
		"coordinator/repo-status": "coordinator_config_missing",
		"coordinator/timeouts":    "coordinator_config_missing",
	} {
		if got := v.api(path, 404).(map[string]any); got["code"] != code || got["ok"] != false {
			t.Errorf("/api/%s: %v", path, got)
		}
	}
	for _, path := range []string{"coordinator/state", "coordinator/history", "hooks/audit", "nothing", "state/x"} {
		if got := v.api(path, 404).(map[string]any); got["error"] != "Resource not found" {
			t.Errorf("/api/%s: %v", path, got)
		}
	}
}

func TestEventFilters(t *testing.T) {
	dir := laid(t, "")
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b,
			`{"event_id":"evt_%d","event_type":"%s","timestamp":"2026-01-01T00:%02d:%02d.000Z","run_id":"run_%d","payload":{}}`+
				"\n",
			i, []string{"a", "b", "c"}[i%3], i/60, i%60, i%2)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(wire.LedgerEvents.Path())), []byte(b.String()),
		0o666); err != nil {
		t.Fatal(err)
	}
	v := serve(t, Options{Dir: dir, Replay: &Replay{}})
	for _, c := range []struct {
		query       string
		n           int
		first, last string
	}{
		{"", 50, "evt_70", "evt_119"},
		{"?limit=0", 120, "evt_0", "evt_119"},
		{"?limit=3", 3, "evt_117", "evt_119"},
		{"?limit=x", 50, "evt_70", "evt_119"},
		{"?type=a&limit=0", 40, "evt_0", "evt_117"},
		{"?type=a,%20c&limit=0", 80, "evt_0", "evt_119"},
		{"?type=nosuch", 0, "", ""},
		{"?since=2026-01-01T00:01:50.000Z", 9, "evt_111", "evt_119"},
		{"?limit=4&run_id=run_0", 2, "evt_116", "evt_118"},
	} {
		list := v.api("events"+c.query, 200).([]any)
		id := func(i int) string {
			if len(list) == 0 {
				return ""
			}
			return list[i].(map[string]any)["event_id"].(string)
		}
		if len(list) != c.n || id(0) != c.first || id(max(0, len(list)-1)) != c.last {
			t.Errorf("events%s: %d from %s to %s, want %d from %s to %s", c.query, len(list), id(0),
				id(max(0, len(list)-1)), c.n, c.first, c.last)
		}
	}
}

// A client that asks for much and never reads is disconnected; it delays no other client.
func TestClientThatNeverReads(t *testing.T) {
	dir := laid(t, "")
	row := `{"turn_id":"turn_x","summary":"` + strings.Repeat("x", 60<<10) + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(wire.LedgerHistory.Path())),
		[]byte(strings.Repeat(row, 400)), 0o666); err != nil {
		t.Fatal(err)
	}
	v := serve(t, Options{Dir: dir, Replay: &Replay{}})
	for range 40 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, fmt.Sprintf("GET /api/history HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n\r\n",
			strings.TrimPrefix(v.base, "http://"), tokenHeader, v.s.Token()))
	}
	done := make(chan int, 1)
	go func() {
		_, _, body := v.fetch("GET", "/api/history")
		var rows []json.RawMessage
		_ = json.Unmarshal([]byte(body), &rows)
		done <- len(rows)
	}()
	select {
	case n := <-done:
		if n != 400 {
			t.Errorf("%d rows", n)
		}
	case <-time.After(writeWait):
		t.Error("others are held up")
	}
	v.page("/search?q=xx")
}
