// Tests of reports of real projects: the model, and what people are shown.

package account

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestMain(m *testing.M) {
	testrepo.Isolate()
	os.Exit(m.Run())
}

const run, oldRun = "run_00000000000000aa", "run_00000000000000bb"

var now = time.Date(2026, 3, 4, 12, 10, 0, 0, time.UTC)

// fixture is a project as another tool may have left it: a blocked run, and rows of an earlier one in the same
// ledgers. change may edit the documents.
type fixture struct {
	state     *ojson.Object
	config    *ojson.Object
	history   []string
	decisions []string
	events    []string
	files     map[string]string
}

func object(t testing.TB, text string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

func newFixture(t testing.TB) *fixture {
	return &fixture{
		state: object(t, `{"schema_version":"1.1","run_id":"`+run+
			`","project_id":"proj","status":"blocked","phase":"implementation","created_at":"2026-03-04T11:00:00.000Z",
			"accepted_integration_ref":null,"active_turns":{},"turn_sequence":3,"last_completed_turn_id":"turn_2","blocked_on":"budget:exhausted",
			"blocked_reason":{"category":"budget_exhausted","recovery":{"typed_reason":"budget_exhausted","owner":"human","recovery_action":"raise the budget","turn_retained":false,"detail":"all is spent"},"blocked_at":"2026-03-04T12:00:00.000Z","turn_id":null},
			"escalation":null,"queued_phase_transition":null,"queued_run_completion":null,"last_gate_failure":null,"phase_gate_status":{"planning_signoff":"passed","implementation_complete":"failed"},
			"budget_reservations":{},"budget_status":{"spent_usd":10.5,"remaining_usd":-0.5,"warn_mode":true,"exhausted":true}}`),
		history: []string{
			`{"turn_id":"turn_0","run_id":"` + oldRun +
				`","role":"pm","phase":"planning","status":"completed","summary":"an older run","cost":{"usd":100},"accepted_sequence":1,"accepted_at":"2026-03-01T10:00:00.000Z","decisions":[],"objections":[],"files_changed":[]}`,
			`{"turn_id":"turn_2","run_id":"` + run +
				`","role":"dev","phase":"implementation","status":"completed","summary":"built it","cost":{"total_usd":0.2,"input_tokens":7},"accepted_sequence":2,"accepted_at":"2026-03-04T11:50:00.000Z","duration_ms":90000,"decisions":[],"objections":["OBJ-9"],"files_changed":["a.go","b.go"]}`,
			`{"turn_id":"turn_1","run_id":"` + run +
				`","role":"pm","phase":"planning","status":"completed","summary":"planned it","cost":{"usd":0.1,"input_tokens":10,"output_tokens":5},"accepted_sequence":1,"accepted_at":"2026-03-04T11:10:00.000Z","phase_transition_request":"implementation","decisions":[{"id":"DEC-001"}],"objections":[{"id":"OBJ-001","severity":"high","statement":"who asked for this?","status":"raised"}],"files_changed":[]}`,
			`{"turn_id":"turn_x","run_id":"` + run +
				`","role":"dev","phase":"planning","status":"reissued","summary":"given up","cost":{"usd":50},"files_changed":[],"accepted_at":"2026-03-04T11:20:00.000Z"}`,
		},
		decisions: []string{
			`{"id":"DEC-001","turn_id":"turn_0","role":"pm","phase":"planning","category":"scope","statement":"of the older run","rationale":"r","created_at":"2026-03-01T10:00:00.000Z"}`,
			`{"id":"DEC-001","turn_id":"turn_1","role":"pm","phase":"planning","category":"scope","statement":"Plain text only.","rationale":"It is enough.","created_at":"2026-03-04T11:10:00.000Z"}`,
			`{"type":"human_approval","gate_type":"phase_transition","gate_id":"planning_signoff","from_phase":"planning","to_phase":"implementation","requested_by_turn":"turn_1","approved_by":{"name":"Grace","email":"grace@example.org"},"timestamp":"2026-03-04T11:15:00.000Z"}`,
			`{"type":"gate_failure","gate_type":"phase_transition","gate_id":"implementation_complete","phase":"implementation","requested_by_turn":"turn_2","failed_at":"2026-03-04T11:55:00.000Z","reasons":["no test ran"],"missing_files":["NOTES.md"],"missing_verification":true}`,
			`{"type":"gate_failure","gate_id":"implementation_complete","requested_by_turn":"turn_0","failed_at":"2026-03-01T11:55:00.000Z","reasons":["of the older run"]}`,
			`{"timestamp":"2026-03-04T11:58:00.000Z","decision":"conflict_resolution_selected","turn_id":"turn_2","role":"dev","resolution_chosen":"human_merge","conflict":{"conflicting_files":["a.go"],"accepted_since_turn_ids":["turn_1"],"overlap_ratio":0.5}}`,
			`{"timestamp":"2026-03-04T11:57:00.000Z","decision":"policy_escalation","turn_id":"turn_2","violations":[{"policy_id":"p","rule":"r","message":"too much"}]}`,
		},
		events: []string{
			`{"event_id":"e0","event_type":"run_started","timestamp":"2026-03-01T10:00:00.000Z","run_id":"` + oldRun +
				`"}`,
			`{"event_id":"e9","event_type":"run_started","timestamp":"2026-03-04T11:00:00.000Z","run_id":"` + run +
				`"}`,
			`{"event_id":"e1","event_type":"ghost_retry_exhausted","timestamp":"2026-03-04T11:59:00.000Z","run_id":"` +
				run + `","payload":{"exhaustion_reason":"same_signature_repeat"}}`,
			`{"event_id":"e2","event_type":"phase_entered","timestamp":"2026-03-04T12:00:00.000Z","run_id":"` + run +
				`","phase":"implementation","payload":{"from":"planning","to":"implementation","gate_id":"planning_signoff"}}`,
		},
		files: map[string]string{},
	}
}

// lay writes the fixture to its own repository.
func (f *fixture) lay(t testing.TB, dir string) {
	t.Helper()
	if _, err := testproject.Init(context.Background(), dir,
		runner.ProjectOptions{ID: "proj", Name: "Proj"}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		".agentxchain/state.json": string(ojson.Pretty(f.state)),
		pathHistory:               strings.Join(f.history, "\n") + "\n",
		pathDecisions:             strings.Join(f.decisions, "\n") + "\n",
		pathEvents:                strings.Join(f.events, "\n") + "\n",
	}
	if f.config != nil {
		files[wire.ConfigPath] = string(ojson.Pretty(f.config))
	}
	maps.Copy(files, f.files)
	for k, v := range files {
		p := filepath.Join(dir, filepath.FromSlash(k))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(v), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if f.files[pathHookAudit] != "" {
		return // an unreadable record cannot be adopted either
	}
	// A person adopts what no operation made.
	r, err := runner.Open(context.Background(), dir, runner.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Adopt(context.Background(), runner.ConfirmOptions{}); err != nil {
		t.Fatal(err)
	}
}

// exported returns the artifact of the governed project in dir.
func exported(t testing.TB, dir string) []byte {
	t.Helper()
	e, err := restore.Prepare(context.Background(), dir,
		restore.ExportOptions{TempDir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b bytes.Buffer
	if _, err := e.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (f *fixture) artifact(t testing.TB) []byte {
	t.Helper()
	dir := testrepo.New(t, testrepo.Options{}).Dir
	f.lay(t, dir)
	return exported(t, dir)
}

func loaded(t testing.TB, data []byte) *Artifact {
	t.Helper()
	a, err := Load(context.Background(), bytes.NewReader(data), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// runOf returns the run in the report of the fixture.
func runOf(t testing.TB, data []byte, opt Options) *ojson.Object {
	t.Helper()
	a := loaded(t, data)
	if !a.Verification.Passed() {
		t.Fatalf("the artifact does not verify: %v", a.Verification.Findings)
	}
	opt.Now = now
	return Build(a, "x.json", opt).Object("subject").Object("run")
}

func TestRunIsScopedAndCostsAreRight(t *testing.T) {
	data := newFixture(t).artifact(t)
	r := runOf(t, data, Options{})
	var turns []string
	for _, x := range r.Objects("turns") {
		turns = append(turns, x.String("turn_id"))
	}
	if got := fmt.Sprint(turns); got != "[turn_1 turn_2]" {
		t.Errorf("turns %s: those of the run, in the order of acceptance, none that was given up", got)
	}
	c := r.Object("cost_summary")
	if f, _ := c.Float("total_usd"); f != 0.3 {
		t.Errorf("total %v, want 0.3: usd counts as total_usd does, other runs and given-up turns do not", f)
	}
	if n, _ := c.Int("total_input_tokens"); n != 17 {
		t.Errorf("input tokens %d", n)
	}
	for _, by := range c.Objects("by_role") {
		want := map[string]float64{"pm": 0.1, "dev": 0.2}[by.String("role")]
		if f, _ := by.Float("usd"); f != want {
			t.Errorf("%s cost %v, want %v", by.String("role"), f, want)
		}
	}
	d := r.Objects("decisions")
	if len(d) != 1 || d[0].String("statement") != "Plain text only." {
		t.Errorf("decisions %v: only the run's, which rows tell by their turn", d)
	}
	if n := len(r.Array("gate_failures")); n != 1 {
		t.Errorf("%d gate failures", n)
	}
	if got := r.Object("recent_event_summary"); count(got, "recent_count") != 2 ||
		got.Object("latest_event").String("summary") != "phase_entered planning -> implementation" {
		t.Errorf("recent events %s", ojson.Compact(got))
	}
	if n := count(r.Object("scope"), "turns_of_other_runs"); n != 1 {
		t.Errorf("%d turns of other runs", n)
	}
	all := runOf(t, data, Options{AllRuns: true})
	if f, _ := all.Object("cost_summary").Float("total_usd"); f != 100.3 || len(all.Array("decisions")) != 2 {
		t.Errorf("of all runs: %s", ojson.Compact(all.Object("cost_summary")))
	}
}

func TestRunTellsWhoAndWhy(t *testing.T) {
	r := runOf(t, newFixture(t).artifact(t), Options{})
	a := r.Objects("approvals")
	if len(a) != 1 || a[0].String("by") != "Grace" || a[0].String("gate_id") != "planning_signoff" ||
		!a[0].Bool("by_person") {
		t.Errorf("approvals %s", ojson.Compact(a))
	}
	o := r.Objects("objections")
	if len(o) != 1 || o[0].String("statement") != "who asked for this?" || o[0].String("role") != "pm" {
		t.Errorf("objections %s", ojson.Compact(o))
	}
	g := r.Objects("governance_events")
	if len(g) != 2 || g[0].String("type") != "policy_escalation" || g[1].String("resolution_method") != "human_merge" {
		t.Errorf("governance events, by time: %s", ojson.Compact(g))
	}
	if c := r.Object("recovery_classification"); c.String("health_score") != "critical" ||
		count(c.Object("by_domain").Object("ghost"), "exhausted") != 1 {
		t.Errorf("recoveries %s", ojson.Compact(c))
	}
	if s := r.Object("ship_status"); s.String("overall") != "fail" || count(s, "dimensions_total") != 5 {
		t.Errorf("ship status %s", ojson.Compact(s))
	}
	if h := r.Object("human_attention"); h.String("overall") != "attention" ||
		!slices.Equal(h.Strings("categories"), []string{"budget_policy"}) {
		t.Errorf("attention %s", ojson.Compact(h))
	}
	if n := r.Objects("next_actions"); len(n) == 0 || n[0].String("command") == "" {
		t.Errorf("next actions %s", ojson.Compact(n))
	}
}

// TestPersonActs reads the rows of every decision of a person, and nothing else.
func TestPersonActs(t *testing.T) {
	row := func(s string) *ojson.Object {
		o, err := ojson.DecodeObject([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for _, c := range []struct{ row, want string }{
		{`{"type":"human_approval","gate_id":"g","approved_by":{"name":"Ada","email":"a@x"},"terminal":true}`,
			"human_approval g a@x: unsigned, at a terminal"},
		{`{"type":"human_approval","gate_id":"g","approved_by":{"name":"Bob","email":"b@x"},"votes_needed":2,
			"votes":[{"principal":"a@x","statement":"sha256:0","key_id":"SHA256:k"},{"principal":"b@x"}]}`,
			"human_approval g a@x: signed with SHA256:k; human_approval g b@x: unsigned, without a terminal"},
		{`{"type":"human_approval_vote","gate_id":"g","votes":[{"principal":"a@x"},{"principal":"b@x","key_id":"no statement"}]}`,
			"human_approval_vote g b@x: unsigned, without a terminal"},
		{`{"type":"human_denial","gate_id":"g","denied_by":{"email":"a@x"},"reason":"no"}`,
			"human_denial g a@x: unsigned, without a terminal"},
		{`{"type":"approval_withdrawn","gate_id":"g","withdrawn_by":{"email":"a@x"}}`,
			"approval_withdrawn g a@x: unsigned, without a terminal"},
		{`{"type":"run_abandoned","abandoned_by":{"email":"a@x"}}`,
			"run_abandoned  a@x: unsigned, without a terminal"},
		{`{"type":"gate_left","gate_id":"g","left_by":"hostile"}`, "gate_left g : unsigned, without a terminal"},
		{`{"type":"approval_policy","gate_id":"g"}`, ""},
		{`{"id":"DEC-001"}`, ""},
	} {
		var got []string
		for _, a := range PersonActs(row(c.row)) {
			got = append(got, a.String("type")+" "+a.String("gate_id")+" "+a.String("email")+": "+ProofText(a))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.row, text, c.want)
		}
	}
}

// TestShape checks the published members of a report and their order (docs/reports.md#what-a-report-says).
func TestShape(t *testing.T) {
	a := loaded(t, newFixture(t).artifact(t))
	report := Build(a, "x.json", Options{Now: now})
	for _, c := range []struct{ at, want string }{
		{"", "report_version overall generated_at input export_kind verification subject"},
		{"subject", "kind project run artifacts"},
		{"subject.project", "id name goal template protocol_mode schema_version"},
		{"subject.run",
			"run_id status phase blocked_on blocked_reason provenance inherited_context active_turn_count retained_turn_count active_turn_ids retained_turn_ids " +
				"active_roles budget_status cost_summary dashboard_session recent_event_summary created_at completed_at duration_seconds turns decisions approval_policy_events " +
				"governance_events gate_failures gate_actions timeout_events delegation_summary hook_summary gate_summary intake_links recovery_summary recovery_classification " +
				"next_actions continuity workflow_kit_artifacts repo_decisions ship_status human_attention role_charters"},
	} {
		o := report
		for k := range strings.SplitSeq(c.at, ".") {
			if k != "" {
				o = o.Object(k)
			}
		}
		want := strings.Fields(c.want)
		if got := o.Keys(); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q has\n%v, want\n%v", c.at, got, want)
		}
	}
}

func TestPeopleAreShown(t *testing.T) {
	a := loaded(t, newFixture(t).artifact(t))
	report := Build(a, "x.json", Options{Now: now})
	for _, format := range []string{"text", "markdown", "html"} {
		page := string(Render(report, format))
		for _, want := range []string{"all is spent", "Grace", "Plain text only", "who asked for this?", "PASS",
			"planning", "$0.30", "built it", "raise the budget", "no test ran", "of earlier runs"} {
			if !strings.Contains(strings.ReplaceAll(page, "\\", ""), want) {
				t.Errorf("the %s does not say %q", format, want)
			}
		}
		if strings.Contains(page, "an older run") {
			t.Errorf("the %s tells of another run", format)
		}
	}
	if text := string(Render(report,
		"text")); !strings.Contains(text, "Budget: spent $10.50, $39.50 left [OVER BUDGET]") {
		t.Errorf("expected what is left of the $50 of the configuration, and that the run went over its budget; got\n%s", text)
	}
}

func TestNotVerifiedIsNotReported(t *testing.T) {
	data := bytes.Replace(newFixture(t).artifact(t), []byte(`"history_entries":4`), []byte(`"history_entries":5`), 1)
	report := Build(loaded(t, data), "x.json", Options{Now: now})
	if report.String("overall") != "fail" || report.Has("subject") ||
		len(report.Object("verification").Strings("errors")) != 1 {
		t.Fatalf("%s", ojson.Compact(report))
	}
	for _, format := range Formats() {
		if page := string(Render(report, format)); !strings.Contains(page, "history") {
			t.Errorf("the %s does not say what is wrong:\n%s", format, page)
		}
	}
}

func TestNoArtifact(t *testing.T) {
	for _, text := range []string{"", "{", "{} {}", "\x28\xb5\x2f\xfd nonsense", `{"a":1,"a":2}`} {
		_, err := Load(t.Context(), strings.NewReader(text), LoadOptions{})
		if input, ok := err.(*restore.InputError); !ok || input.Message == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, strings.NewReader("{}"), LoadOptions{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLongListsAreCutAndSaidSo(t *testing.T) {
	testrepo.Thorough(t)
	f := newFixture(t)
	for i := range 700 {
		f.history = append(f.history,
			fmt.Sprintf(`{"turn_id":"turn_n%d","run_id":%q,"role":"dev","status":"completed","summary":"step %d","accepted_sequence":%d,"accepted_at":"2026-03-04T11:51:00.000Z"}`,
				i, run, i, i+10))
	}
	report := Build(loaded(t, f.artifact(t)), "x", Options{Now: now})
	for _, format := range []string{"text", "markdown", "html"} {
		page := string(Render(report, format))
		if !strings.Contains(page, "step 699") || strings.Contains(page, "step 3 ") ||
			!strings.Contains(strings.ReplaceAll(page, "\\", ""), "202 earlier turns omitted") {
			t.Errorf("the %s does not show the end of the list, or does not say what it leaves out", format)
		}
	}
	if n := len(report.Object("subject").Object("run").Array("turns")); n != 702 {
		t.Errorf("the model has %d turns", n)
	}
}
