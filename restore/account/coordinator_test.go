// Tests of reports of an initiative: repositories, barriers, disagreements, next actions.

package account

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

const superState = `{"schema_version":"0.1","super_run_id":"srun_1","project_id":"suite","status":"STATUS","phase":"planning","blocked_reason":REASON,"pending_gate":GATE,
	"repo_runs":{"api":{"run_id":"run_00000000000000ff","status":"linked","phase":"planning"},"web":{"run_id":"run_x","status":"initialized","phase":"planning"}},
	"created_at":"2026-03-04T09:00:00.000Z","updated_at":"2026-03-04T12:00:00.000Z"}`

// initiative lays out a coordinator's workspace with a repository api, and one web that cannot be exported, and
// returns its artifact.
func initiative(t *testing.T, status, reason, gate string) []byte {
	t.Helper()
	top := testrepo.New(t, testrepo.Options{}).Dir
	for _, r := range []string{"api", "web"} {
		if err := os.MkdirAll(filepath.Join(top, r), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	newFixture(t).lay(t, filepath.Join(top, "api"))
	f := newFixture(t)
	f.files[pathHookAudit] = "{bad\n"
	f.lay(t, filepath.Join(top, "web"))
	for name, text := range map[string]string{
		"agentxchain-multi.json": `{"schema_version":"0.1","project":{"id":"suite","name":"Suite"},"repos":{"api":{"path":"./api"},"web":{"path":"./web"}},
			"workstreams":{"w":{"phase":"planning","repos":["api","web"],"entry_repo":"api","depends_on":[],"completion_barrier":"named_decisions","named_decisions":{"decision_ids_by_repo":{"api":["DEC-001","DEC-002"]}}}},"routing":{"planning":{}}}`,
		multiState: strings.NewReplacer("STATUS", status, "REASON", reason, "GATE", gate).Replace(superState),
		multiHistory: `{"type":"run_initialized","timestamp":"2026-03-04T09:00:01.000Z","super_run_id":"srun_1","repo_runs":{"api":{},"web":{}}}
{"type":"acceptance_projection","timestamp":"2026-03-04T10:00:00.000Z","super_run_id":"srun_1","workstream_id":"w","repo_id":"api","repo_turn_id":"turn_1","summary":"planned","decisions":["DEC-001","DEC-099"]}
{"type":"acceptance_projection","timestamp":"2026-01-01T10:00:00.000Z","super_run_id":"srun_0","workstream_id":"w","repo_id":"api","summary":"of an older initiative","decisions":["DEC-002"]}
{"type":"run_completed","timestamp":"2026-03-04T12:00:00.000Z","super_run_id":"srun_1","gate":"initiative_ship"}
`,
		multiBarriers: `{"w_completion":{"workstream_id":"w","type":"named_decisions","status":"partially_satisfied","required_repos":["api","web"],"satisfied_repos":[],"required_decision_ids_by_repo":{"api":["DEC-001","DEC-002"]}}}`,
		multiDecisions: `{"id":"DEC-COORD-001","timestamp":"2026-03-04T09:00:01.000Z","super_run_id":"srun_1","role":"coordinator","phase":"planning","category":"initialization","statement":"began"}` +
			"\n",
		multiBarrierLedger: `{"type":"barrier_transition","timestamp":"2026-03-04T10:00:00.000Z","barrier_id":"w_completion","previous_status":"pending","new_status":"partially_satisfied","causation":{"super_run_id":"srun_1","workstream_id":"w","repo_id":"api"}}` +
			"\n",
		multiRecovery: "# Report\n\n## Trigger\n\nthe key is gone\n\n## Impact\n\n(describe it)\n\n## Exit Condition\n\na new key\n",
	} {
		p := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return exported(t, top)
}

func initiativeOf(t *testing.T, data []byte) (report, subject *ojson.Object) {
	t.Helper()
	a := loaded(t, data)
	if !a.Verification.Passed() {
		t.Fatalf("the artifact does not verify: %v", a.Verification.Findings)
	}
	report = Build(a, "x.json", Options{Now: now})
	return report, report.Object("subject")
}

func TestInitiative(t *testing.T) {
	report, s := initiativeOf(t, initiative(t, "blocked", `"the key is gone"`, "null"))
	r := s.Object("run")
	if s.String("kind") != KindCoordinator || r.String("super_run_id") != "srun_1" ||
		r.String("blocked_reason") != "the key is gone" {
		t.Errorf("run %s", ojson.Compact(r))
	}
	if x := r.Objects("run_id_mismatches"); len(x) != 1 || x[0].String("actual_run_id") != run {
		t.Errorf("mismatches %s", ojson.Compact(x))
	}
	if x := r.Objects("repo_status_drifts"); len(x) != 1 || x[0].String("repo_status") != "blocked" ||
		x[0].String("coordinator_status") != "active" {
		t.Errorf("drifts %s", ojson.Compact(x))
	}
	if x := r.Objects("next_actions"); len(x) != 1 || x[0].String("command") != "git agentxchain multi resume" {
		t.Errorf("next %s", ojson.Compact(x))
	}
	if ok, bad := count(r, "repo_ok_count"), count(r, "repo_error_count"); ok != 1 || bad != 1 {
		t.Errorf("%d exported, %d not", ok, bad)
	}
	b := s.Objects("barrier_summary")
	if len(b) != 1 || len(b[0].Object("satisfied_decision_ids_by_repo").Strings("api")) != 1 {
		t.Errorf("barriers, of this initiative's turns only: %s", ojson.Compact(b))
	}
	if n := len(s.Array("coordinator_timeline")); n != 3 {
		t.Errorf("%d rows in the timeline", n)
	}
	rec := s.Object("recovery_report")
	if v, _ := rec.Get("impact"); rec.String("trigger") != "the key is gone" || v != nil {
		t.Errorf("recovery report %s", ojson.Compact(rec))
	}
	repos := s.Objects("repos")
	if len(repos) != 2 || len(repos[0].Array("turns")) != 2 || repos[1].Bool("ok") || repos[1].String("error") == "" ||
		repos[1].Has("turns") {
		t.Errorf("repos %s", ojson.Compact(repos))
	}
	for _, format := range []string{"text", "markdown", "html"} {
		page := strings.ReplaceAll(string(Render(report, format)), "\\", "")
		for _, want := range []string{"The initiative is blocked: the key is gone.", "failed export",
			"Plain text only.", "a new key", "began"} {
			if !strings.Contains(page, want) {
				t.Errorf("the %s does not say %q", format, want)
			}
		}
	}
	checkPages(t, report)
	checkPages(t, poisoned(report, func(v string) any {
		if v == "pass" || v == KindCoordinator {
			return v
		}
		return v + poison
	}).(*ojson.Object))
}

func TestInitiativeStanding(t *testing.T) {
	_, s := initiativeOf(t, initiative(t, "completed", "null", "null"))
	r := s.Object("run")
	if len(r.Array("next_actions")) != 0 || r.String("terminal_observability_note") == "" ||
		r.String("completed_at") != "2026-03-04T12:00:00.000Z" {
		t.Errorf("completed: %s", ojson.Compact(r))
	}
	if n, _ := r.Int("duration_seconds"); n != 3*3600-1 {
		t.Errorf("it took %d s", n)
	}
	_, s = initiativeOf(t, initiative(t, "paused", "null",
		`{"gate":"initiative_ship","gate_type":"run_completion","required_repos":["api"]}`))
	r = s.Object("run")
	if g := r.Object("pending_gate"); g.String("gate") != "initiative_ship" || len(g.Strings("required_repos")) != 1 {
		t.Errorf("pending: %s", ojson.Compact(r))
	}
	if x := r.Objects("next_actions"); len(x) != 2 || x[1].String("code") != "pending_gate" {
		t.Errorf("next %s", ojson.Compact(x))
	}
}

// TestInitiativeOfAnyShape poisons and distorts the artifact itself.
func TestInitiativeOfAnyShape(t *testing.T) {
	v, err := ojson.DecodeLimited(initiative(t, "blocked", `"r"`, "null"), ojson.Limits{Bytes: 1 << 28, Depth: 200})
	if err != nil {
		t.Fatal(err)
	}
	for name, with := range map[string]func(string) any{
		"markup": func(s string) any { return s + poison },
		"object": func(s string) any { return ojson.NewObject(poison, s) },
		"array":  func(s string) any { return []any{s} },
		"null":   func(string) any { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bad := poisoned(v, with).(*ojson.Object)
			bad.Set("export_kind", "agentxchain_coordinator_export")
			report, err := reportOf(ojson.Compact(bad))
			if err != nil {
				t.Fatal(err)
			}
			checkPages(t, report)
		})
	}
	if _, err := read(context.Background(), strings.NewReader(`{"repos":[],"files":{"a":null}}`), false); err != nil {
		t.Error(err)
	}
}
