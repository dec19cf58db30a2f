// What each view shows of foreign files, friendly or hostile: a replayed workspace made by hand.

package dashboard

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// poison would be markup, end an attribute, reorder a line or control a terminal.
const poison = `</script><script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;` + "\u202e\u0007"

// laid makes a workspace with one run; p is added to every text of it.
func laid(t testing.TB, p string) string {
	t.Helper()
	dir := t.TempDir()
	quoted, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("~", strings.Trim(string(quoted), `"`))
	write := func(name string, lines ...string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fill.Replace(strings.Join(lines, "\n"))+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("agentxchain.json",
		`{"schema_version":"1.0","template":"generic","project":{"id":"p","name":"Pro~ject","goal":"A goal~"},
 "roles":{"pm":{"title":"PM~","mandate":"plans~","write_authority":"review_only","runtime":"manual"},"dev":{"title":"Dev","mandate":"builds","write_authority":"authoritative","runtime":"manual"}},
 "runtimes":{"manual":{"type":"manual"}},
 "routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm","dev","human"],"exit_gate":"signoff"},"building":{"entry_role":"dev","allowed_next_roles":["dev","pm","human"]}},
 "gates":{"signoff":{"requires_files":["PLAN.md"],"requires_human_approval":true}},
 "timeouts":{"per_run_minutes":60,"action":"warn"},"budget":{"per_run_max_usd":10}}`)
	write(".agentxchain/state.json",
		`{"schema_version":"1.1","run_id":"run_1","project_id":"p","status":"active","phase":"planning","created_at":"2026-01-01T00:00:00.000Z","phase_entered_at":"2026-01-01T00:00:00.000Z",
 "accepted_integration_ref":null,"turn_sequence":4,"last_completed_turn_id":"turn_3","blocked_on":null,"blocked_reason":null,"escalation":null,"queued_phase_transition":null,"queued_run_completion":null,"last_gate_failure":null,
 "phase_gate_status":{"signoff":"pending"},"budget_reservations":{},"budget_status":{"spent_usd":9,"remaining_usd":1},
 "active_turns":{"turn_4":{"turn_id":"turn_4","assigned_role":"pm","status":"running","attempt":1,"assigned_at":"2026-01-01T01:00:00.000Z","deadline_at":"2026-01-01T01:30:00.000Z","runtime_id":"manual","assigned_sequence":4,"concurrent_with":[],
  "last_rejection":{"reason":"sent back~","validation_errors":["sent back~","an error~"]}}}}`)
	write(".agentxchain/history.jsonl",
		`{"turn_id":"turn_1","run_id":"run_1","role":"pm","phase":"planning","runtime_id":"manual","status":"completed","summary":"Planned~","decisions":[{"id":"DEC-001~","category":"scope~","statement":"Small~","rationale":"Because~"}],"objections":[{"id":"OBJ-001","severity":"high","statement":"Too big~","status":"raised~"}],"files_changed":["a~.md"],"verification":{"status":"pass","evidence_summary":"ran~","machine_evidence":[{"command":"make~ test","exit_code":1,"summary":"red~"}]},"normalized_verification":{"status":"fail","reason":"it is red~"},"cost":{"usd":1.5},"accepted_at":"2026-01-01T00:10:00.000Z","delegations_issued":[{"id":"del_1","to_role":"dev","charter":"Build~ it"},{"id":"del_2","to_role":"dev","charter":"Test it"}]}`,
		`{"turn_id":"turn_2","run_id":"run_1","role":"dev","phase":"planning","runtime_id":"manual","status":"completed","summary":"Built","decisions":[],"objections":[],"files_changed":[],"verification":{},"accepted_at":"2026-01-01T00:20:00.000Z","delegation_context":{"delegation_id":"del_1","parent_turn_id":"turn_1","charter":"Build~ it"},"delegations_issued":[{"id":"del_3","to_role":"pm","charter":"Ask"}]}`,
		`{"turn_id":"turn_3","run_id":"run_1","role":"pm","phase":"planning","runtime_id":"manual","status":"completed","summary":"Reviewed","decisions":[],"objections":[],"files_changed":[],"verification":{},"accepted_at":"2026-01-01T00:30:00.000Z","checkpoint_sha":"0123456789abcdef0123456789abcdef01234567","delegation_review":{"parent_turn_id":"turn_1","results":[{"delegation_id":"del_1","status":"completed"},{"delegation_id":"del_2","status":"failed"}]}}`)
	write(".agentxchain/decision-ledger.jsonl",
		`{"id":"DEC-001~","turn_id":"turn_1","role":"pm","phase":"planning","category":"scope~","statement":"Small~","rationale":"x","objections_against":[],"status":"accepted","overridden_by":"DEC-009","created_at":"2026-01-01T00:10:00.000Z"}`,
		`{"type":"human_approval","gate_id":"signoff~","approved_by":{"name":"Grace~"},"votes":[{"principal":"grace@example.org~","statement":"sha256:00","key_id":"SHA256:abc~"}],"reason":"Agreed~","timestamp":"2026-01-01T00:11:00.000Z"}`)
	write(".agentxchain/repo-decisions.jsonl",
		`{"id":"DEC-100","run_id":"run_0","role":"pm","category":"api","statement":"Old way~","status":"overridden","overridden_by":"DEC-101","durability":"repo"}`,
		`{"id":"DEC-101","run_id":"run_1","role":"dev","category":"api","statement":"New way~","status":"active","overrides":"DEC-100","durability":"repo"}`)
	write(".agentxchain/events.jsonl",
		`{"event_id":"evt_1","event_type":"run_started","timestamp":"2026-01-01T00:00:00.000Z","run_id":"run_1","phase":"planning","status":"active","turn":null,"payload":{}}`,
		`{"event_id":"evt_2","event_type":"turn_dispatched~","timestamp":"2026-01-01T01:00:00.000Z","run_id":"run_1","phase":"planning","status":"active","turn":{"turn_id":"turn_4","role_id":"pm~"},"payload":{"reason":"a reason~"}}`)
	write(".agentxchain/hook-audit.jsonl",
		`{"timestamp":"2026-01-01T00:05:00.000Z","hook_phase":"before_gate","hook_name":"guard~","verdict":"block","orchestrator_action":"blocked","message":"not now~","turn_id":"turn_1"}`)
	write(".agentxchain/hook-annotations.jsonl",
		`{"timestamp":"2026-01-01T00:05:00.000Z","hook_name":"guard","turn_id":"turn_1","annotations":[{"key":"k~","value":"noted~"}]}`)
	write(".agentxchain/dispatch/turns/turn_4/PROMPT.md", "Do this~ now")
	write(".agentxchain/staging/turn_4/turn-result.json", `{"summary":"staged~"}`)
	return dir
}

func replayOf(t testing.TB, p string) *served {
	at := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	return serve(t, Options{Dir: laid(t, p), Now: func() time.Time { return at }, Replay: &Replay{
		Artifact: "run.json" + p,
		Exported: "2026-01-01T02:00:00.000Z",
		Schema:   "0.3",
		Partial:  []string{"big" + p + ".jsonl"},
	}})
}

func TestViews(t *testing.T) {
	v := replayOf(t, "")
	for path, want := range map[string][]string{
		"/": {"1 turn is under way in phase planning: pm (result staged).", "What signoff asks for",
			"Required file missing: PLAN.md", "the approval of a person", "This is a replay", "overdue since 30 min",
			"signoff", "PLAN.md", "$9.00 of $10.00 spent, 90 %", `class="fill warn"`, `class="current"`,
			"for 2 h 0 min", "exceeded", "A goal", "big.jsonl"},
		"/turns/turn_1": {"Planned", "make test", "it is red", "Too big", "DEC-001",
			"were not committed when the artifact was made", "a.md", "$1.50"},
		"/turns/turn_2": {"Delegated by", "/turns/turn_1", "Build it", "Nothing was verified"},
		"/turns/turn_3": {"An artifact has no diffs", "0123456789"},
		"/turns/turn_4": {"pm has this turn: running.", "sent back", "an error", "Do this now", "staged",
			"plans"},
		"/gates/signoff": {"What it asks for", "Required file missing: PLAN.md",
			"An artifact has no record of operations"},
		"/timeline": {"an artifact has no record of operations", "turn dispatched", "/turns/turn_4"},
		"/decisions": {"overridden by DEC-009", "overridden by DEC-101", "1 in force, 1 overridden.",
			"New way", "DEC-100"},
		"/hooks":       {"guard", "blocked", "not now", "noted"},
		"/delegations": {"del_1", "Build it", "del_3", "Ask", `class="badge warn"`, "reviewed in", "mixed"},
		"/integrity": {"verified when it was opened", "grace@example.org", "signed with SHA256:abc", "big.jsonl",
			".agentxchain/events.jsonl"},
		"/event-log?type=nosuch": {"Nothing fits the filter."},
		"/search?q=TOO+BIG":      {"1 place holds", "statement: Too big", "/turns/turn_1"},
		"/search?q=%22":          {"Nothing in the ledgers holds this text."},
		"/search":                {"Type something"},
	} {
		got := v.page(path)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, mainOf(got))
			}
		}
		if strings.Contains(got, "live.js") || strings.Contains(got, "http-equiv") {
			t.Errorf("%s: a replay does not change, so nothing has to reload", path)
		}
	}
	if got := v.page("/turns/turn_4"); strings.Count(got, "<dt>Because</dt>") != 1 {
		t.Errorf("the words of a rejection twice:\n%s", mainOf(got))
	}
	// The tree: what turn_2 delegated is below what was delegated to it.
	if got := v.page("/delegations"); strings.Index(got, "del_3") < strings.Index(got, "del_1") ||
		strings.Index(got, "del_3") > strings.Index(got, "del_2") {
		t.Errorf("the tree:\n%s", mainOf(got))
	}
	// Nothing is reconciled: the overdue turn is still active.
	if s := v.api("state", 200).(map[string]any); s["status"] != "active" || len(s["next_actions"].([]any)) != 0 {
		t.Errorf("the state: %v", s)
	}
}

func TestHostileTextStaysText(t *testing.T) {
	v := replayOf(t, poison)
	for _, path := range append(everyAddress(), "/turns/turn_1", "/turns/turn_2", "/turns/turn_3", "/turns/turn_4",
		"/search?q=%3Cscript%3E%22", "/timeline?text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
		"/turns/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/%3Cscript%3E", "/timeline?role=%22%20onfocus=%22alert(1)",
		"/turns?before=%22%3E", "/turns/..%2f..%2fagentxchain.json") {
		_, header, got := v.fetch("GET", path, "Accept", "text/html")
		if strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			continue
		}
		for _, bad := range []string{"<script>", "<img", "\u202e", "\u0007", `"'>`, "onerror=alert(2)>\""} {
			if strings.Contains(got, bad) {
				i := strings.Index(got, bad)
				t.Errorf("%s holds %q: …%s…", path, bad, got[max(0, i-100):min(len(got), i+100)])
			}
		}
	}
}

// Lists are cut into pages that join without a gap, whatever the filter.
func TestPagesOfALongRun(t *testing.T) {
	dir := laid(t, "")
	const n = 1234
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			`{"turn_id":"turn_%05d","run_id":"run_1","role":"%s","phase":"planning","status":"completed","summary":"Turn number %d","accepted_at":"2026-01-01T00:00:00.000Z"}`+
				"\n",
			i, []string{"pm", "dev"}[i%2], i)
	}
	if err := os.WriteFile(filepath.Join(dir, ".agentxchain", "history.jsonl"), []byte(b.String()),
		0o666); err != nil {
		t.Fatal(err)
	}
	v := serve(t, Options{Dir: dir, Replay: &Replay{}})
	for _, c := range []struct {
		path string
		want int
	}{{"/turns", n}, {"/turns?role=dev", n / 2}, {"/turns?text=number+7", 111}, {"/turns?role=absent", 0}} {
		path, seen, last, pages := c.path, 0, n, 0
		for path != "" {
			got := v.page(path)
			if pages++; pages > n/listSize+2 {
				t.Fatalf("%s: no end", c.path)
			}
			rows := strings.Split(mainOf(got), `data-label="Turn"><a href="/turns/turn_`)[1:]
			for _, r := range rows {
				if r[:1] < "0" || r[:1] > "9" || len(r) < 5 || strings.HasPrefix(r, "4\"") {
					continue
				}
				var id int
				if _, err := fmt.Sscanf(r[:5], "%d", &id); err != nil || id >= last {
					t.Fatalf("%s: %s after %d", path, r[:5], last)
				}
				last = id
				seen++
			}
			if len(rows) > listSize+1 {
				t.Errorf("%s: %d rows", path, len(rows))
			}
			path = ""
			if _, rest, ok := strings.Cut(got, `<a rel="next" href="`); ok {
				path, _, _ = strings.Cut(rest, `"`)
				path = html.UnescapeString(path)
			}
		}
		if seen != c.want {
			t.Errorf("%s: %d rows of %d", c.path, seen, c.want)
		}
	}
	// From the second page back to the first.
	got := v.page(fmt.Sprintf("/turns?before=%d", n-listSize))
	if !strings.Contains(got, `rel="prev"`) {
		t.Errorf("there is no way back:\n%s", mainOf(got))
	}
	_, rest, _ := strings.Cut(got, `<a rel="prev" href="`)
	back, _, _ := strings.Cut(rest, `"`)
	if got := v.page(html.UnescapeString(back)); !strings.Contains(got, "turn_01233") ||
		!strings.Contains(got, fmt.Sprintf("turn_%05d", n-listSize)) {
		t.Errorf("%s is not the first page:\n%s", back, mainOf(got))
	}
}
