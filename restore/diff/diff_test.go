// Tests of comparisons: every category of regression with its id, the summaries, runs by reference, any input.

package diff

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

func object(t testing.TB, text string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// artifact returns a run's artifact with these members of the summary and the state.
func artifact(t testing.TB, summary, state string) *account.Artifact {
	return &account.Artifact{Kind: restore.KindRun, Head: ojson.NewObject("export_kind", restore.KindRun,
		"summary", object(t, summary), "state", object(t, state))}
}

func TestRegressions(t *testing.T) {
	const order = `"workflow_phase_order":["plan","make","ship"]`
	for _, c := range []struct{ name, left, leftState, right, rightState, want string }{
		{"nothing", `{"status":"active"}`, `{}`, `{"status":"active"}`, `{}`, ""},
		{"blocked", `{"status":"active"}`, `{}`, `{"status":"blocked"}`, `{}`, "REG-STATUS-001 status error status"},
		{"crashed", `{"status":"completed"}`, `{}`, `{"status":"crashed"}`, `{}`,
			"REG-STATUS-001 status error status"},
		{"blocked before", `{"status":"blocked"}`, `{}`, `{"status":"failed"}`, `{}`, ""},
		{"better", `{"status":"blocked"}`, `{}`, `{"status":"completed"}`, `{}`, ""},
		{"back", `{"phase":"ship",` + order + `}`, `{}`, `{"phase":"plan",` + order + `}`, `{}`,
			"REG-PHASE-001 phase warning phase"},
		{"on", `{"phase":"plan",` + order + `}`, `{}`, `{"phase":"ship",` + order + `}`, `{}`, ""},
		{"lost", `{"phase":"plan"}`, `{}`, `{}`, `{}`, "REG-PHASE-001 phase warning phase"},
		{"other phases", `{"phase":"ship",` + order + `}`, `{}`, `{"phase":"plan","workflow_phase_order":["plan"]}`,
			`{}`, "REG-PHASE-ORDER-001 phase warning workflow_phase_order"},
		{"budget", `{}`, `{}`, `{}`, `{"budget_status":{"warn_mode":true,"exhausted":true}}`,
			"REG-BUDGET-WARN-001 budget warning budget_warn_mode;REG-BUDGET-EXHAUST-002 budget error budget_exhausted"},
		{"budget mended", `{}`, `{"budget_status":{"warn_mode":true}}`, `{}`, `{}`, ""},
		{"overridden", `{}`, `{}`, `{"repo_decisions":{"overridden_count":1}}`, `{}`,
			"REG-DECISION-OVERRIDE-001 decisions warning overridden_repo_decision_count"},
		{"delegation",
			`{"delegation_summary":{"delegation_chains":[{"delegations":[{"delegation_id":"del-1","missing_decision_ids":["DEC-1"]}]}]}}`,
			`{}`,
			`{"delegation_summary":{"delegation_chains":[{"delegations":[{"delegation_id":"del-1","missing_decision_ids":["DEC-1","DEC-2"]}]}]}}`,
			`{}`, "REG-DELEGATION-MISSING-001 delegation error delegation_summary.del-1.missing_decision_ids"},
		{"gate", `{}`, `{"phase_gate_status":{"g":"passed","h":"pending"}}`, `{}`,
			`{"phase_gate_status":{"g":"failed","h":"failed"}}`, "REG-GATE-001 gate error phase_gate_status.g"},
		{"several", `{"status":"active"}`, `{"phase_gate_status":{"g":"satisfied"}}`, `{"status":"failed"}`,
			`{"phase_gate_status":{"g":"rejected"}}`,
			"REG-STATUS-001 status error status;REG-GATE-002 gate error phase_gate_status.g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Exports(artifact(t, c.left, c.leftState), artifact(t, c.right, c.rightState), "l", "r")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range d.Objects("regressions") {
				got = append(got, fmt.Sprintf("%s %s %s %s", r.String("id"), r.String("category"),
					r.String("severity"), r.String("field")))
				if r.String("message") == "" {
					t.Error("a regression without words")
				}
			}
			if s := strings.Join(got, ";"); s != c.want {
				t.Errorf("got %s\nwant %s", s, c.want)
			}
			if d.Bool("has_regressions") != (c.want != "") ||
				c.want != "" && (!d.Bool("changed") || d.Object("summary").String("outcome") != "regressed") {
				t.Errorf("changed %v, summary %s", d.Bool("changed"), ojson.Compact(d.Object("summary")))
			}
			if risk := d.Object("summary").String("risk_level"); strings.Contains(c.want,
				"error") != (risk == "high") {
				t.Errorf("risk %s", risk)
			}
		})
	}
}

func initiative(t testing.TB, status string, barriers, events int, web string, ok bool) *account.Artifact {
	a := &account.Artifact{Kind: restore.KindCoordinator, Head: ojson.NewObject("export_kind", restore.KindCoordinator,
		"summary", ojson.NewObject("super_run_id", "srun_1", "status", status, "barrier_count", barriers,
			"repo_run_statuses", object(t, `{"web":"linked"}`),
			"aggregated_events", ojson.NewObject("total_events", events,
				"event_type_counts", ojson.NewObject("run_started", events)))),
		Repos: []account.Repo{{ID: "web", OK: ok}}}
	if ok {
		a.Repos[0].Export = &account.Artifact{Head: ojson.NewObject("summary", ojson.NewObject("status", web))}
	}
	return a
}

func TestInitiativeRegressions(t *testing.T) {
	d, err := Exports(initiative(t, "active", 2, 9, "active", true), initiative(t, "active", 1, 3, "blocked", true),
		"l", "r")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range d.Objects("regressions") {
		got = append(got, r.String("id"))
	}
	if s := strings.Join(got, " "); s != "REG-REPO-STATUS-001 REG-BARRIER-002 REG-EVENT-LOSS-003" {
		t.Errorf("%s", s)
	}
	d, _ = Exports(initiative(t, "active", 1, 1, "active", true), initiative(t, "active", 1, 1, "", false), "l", "r")
	if r := d.Objects("regressions"); len(r) != 1 || r[0].String("category") != "repo_export" {
		t.Errorf("%s", ojson.Compact(d.Objects("regressions")))
	}
	d, _ = Exports(initiative(t, "completed", 1, 1, "completed", true),
		initiative(t, "completed", 1, 1, "blocked", true), "l", "r")
	if d.Bool("has_regressions") || !d.Bool("changed") {
		t.Error("repositories of completed initiatives are changes, not regressions")
	}
	if _, err := Exports(initiative(t, "active", 1, 1, "", false), artifact(t, `{}`, `{}`), "l", "r"); err == nil {
		t.Error("an initiative was compared with a run")
	}
	if _, err := Exports(&account.Artifact{Kind: "x", Head: &ojson.Object{}},
		&account.Artifact{Kind: "x", Head: &ojson.Object{}}, "l", "r"); err == nil {
		t.Error("artifacts of an unknown kind were compared")
	}
}

func TestRuns(t *testing.T) {
	row := func(extra string) *ojson.Object {
		return object(t,
			`{"run_id":"run_1","status":"completed","total_turns":4,"total_cost_usd":1.1,"phases_completed":["plan","make"],"roles_used":["dev "," pm"],"gate_results":{"g":"passed"}`+
				extra+`}`)
	}
	bad := object(t,
		`{"run_id":"run_2","status":"blocked","blocked_reason":"why","total_turns":5,"total_cost_usd":1.3,"phases_completed":["plan"],"gate_results":{"g":"failed"},"retrospective":{"next_operator_action":"do"}}`)
	if d := Runs(row(""), row(`,"recorded_at":"2026-01-01T00:00:00Z"`)); d.Bool("changed") ||
		d.Object("summary").String("outcome") != "unchanged" {
		t.Errorf("the same run: %s", ojson.Compact(d.Object("summary")))
	}
	d := Runs(row(""), bad)
	var got []string
	for _, r := range d.Objects("regressions") {
		got = append(got, r.String("category"))
	}
	if s := strings.Join(got, " "); s != "status blocked gate phase" ||
		d.Object("summary").String("risk_level") != "high" {
		t.Errorf("worse: %s, %s", s, ojson.Compact(d.Object("summary")))
	}
	if delta, _ := d.Object("numeric_changes").Object("total_cost_usd").Float("delta"); delta != 0.2 {
		t.Errorf("the cost rose by %v", delta)
	}
	if s := Runs(bad, row("")).Object("summary"); s.String("outcome") != "improved" {
		t.Errorf("better: %s", ojson.Compact(s))
	}
	mixed := Runs(bad, object(t, `{"run_id":"run_3","status":"completed","gate_results":{"g":"passed","h":"failed"}}`))
	if mixed.Object("summary").String("outcome") != "mixed" {
		t.Errorf("mixed: %s", ojson.Compact(mixed.Object("summary")))
	}
}

func TestFind(t *testing.T) {
	rows := []*ojson.Object{object(t, `{"run_id":"run_aa","status":"blocked"}`), object(t,
		`{"run_id":"run_ab"}`), object(t, `{"run_id":"run_aa","status":"completed"}`), object(t, `{}`)}
	if r, err := Find(rows, "run_aa"); err != nil || r.String("status") != "completed" {
		t.Errorf("%v %v", r, err)
	}
	if r, err := Find(rows, "run_ab"); err != nil || r.String("run_id") != "run_ab" {
		t.Errorf("%v %v", r, err)
	}
	for ref, code := range map[string]string{
		"run_a": wire.CodeInvalidArgument,
		"run_b": wire.CodeNotFound,
		"":      wire.CodeNotFound,
	} {
		_, err := Find(rows, ref)
		if e, ok := err.(*wire.Error); !ok || e.Code != code {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if r, err := Find(rows[:1], "run_"); err != nil || r.String("run_id") != "run_aa" {
		t.Errorf("%v %v: a run that was blocked twice is one run", r, err)
	}
}

// TestAnything compares objects of any form: no panic, and no regression between an object and itself.
func TestAnything(t *testing.T) {
	leaf := rapid.SampledFrom([]any{nil, true, "blocked", "passed", "failed", "completed", ojson.Number("1e999"),
		ojson.Number("-1"), []any{"a", nil, ojson.Number("1")}, &ojson.Object{}})
	names := rapid.SampledFrom([]string{"status", "phase", "workflow_phase_order", "budget_status", "warn_mode",
		"phase_gate_status", "g", "repo_decisions", "overridden_count", "delegation_summary", "delegation_chains",
		"blocked_reason", "gate_action", "aggregated_events", "total_events", "barrier_count", "repo_run_statuses",
		"gate_results", "run_id"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.Custom(func(t *rapid.T) any {
			if rapid.Bool().Draw(t, "leaf") {
				return leaf.Draw(t, "v")
			}
			o := &ojson.Object{}
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				o.Set(names.Draw(t, "k"), value(depth-1).Draw(t, "v"))
			}
			return o
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{restore.KindRun, restore.KindCoordinator}).Draw(t, "kind")
		side := func() *account.Artifact {
			return &account.Artifact{
				Kind:  kind,
				Head:  ojson.NewObject("summary", value(3).Draw(t, "summary"), "state", value(3).Draw(t, "state")),
				Repos: []account.Repo{{ID: "a", OK: rapid.Bool().Draw(t, "ok")}},
			}
		}
		l, r := side(), side()
		if _, err := Exports(l, r, "l", "r"); err != nil {
			t.Fatal(err)
		}
		if d, _ := Exports(l, l, "l", "l"); d.Bool("has_regressions") || d.Bool("changed") {
			t.Fatalf("between a thing and itself: %s", ojson.Compact(d))
		}
		a, _ := value(3).Draw(t, "row").(*ojson.Object)
		b, _ := value(3).Draw(t, "row").(*ojson.Object)
		Runs(a, b)
		if d := Runs(a, a); d.Bool("changed") {
			t.Fatalf("between a run and itself: %s", ojson.Compact(d))
		}
	})
}
