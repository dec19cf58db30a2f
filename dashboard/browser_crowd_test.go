// A workspace that has too much of everything for one page.

package dashboard

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// crowded serves a replayed workspace with a turn, lists and a configuration that are longer than
// any page.
func crowded(t testing.TB) *served {
	t.Helper()
	dir := laid(t, "")
	rows := func(name string, n int, row func(i int) string) {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(row(i), "\n", " ") + "\n")
		}
		appendFile(t, dir, name, b.String())
	}
	list := func(n int, item func(i int) string) string {
		var out []string
		for i := range n {
			out = append(out, item(i))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	var phases, gates []string
	for i := range 80 {
		phases = append(phases, fmt.Sprintf(
			`"phase%02d":{"entry_role":"pm","allowed_next_roles":["pm","human"],"exit_gate":"gate%02d"}`, i, i,
		))
		gates = append(gates, fmt.Sprintf(`"gate%02d":{"requires_files":%s,"requires_human_approval":true}`, i,
			list(40, func(j int) string { return fmt.Sprintf(`"docs/%d/%d.md"`, i, j) })))
	}
	writeFile(t, dir, "agentxchain.json",
		`{"schema_version":"1.0","template":"generic","project":{"id":"p","name":"Crowded"},
 "roles":{"pm":{"title":"PM","mandate":"plans","write_authority":"review_only","runtime":"manual"}},"runtimes":{"manual":{"type":"manual"}},
 "routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm","human"]},`+strings.Join(phases, ",")+
			`},"gates":{`+strings.Join(gates, ",")+`}}`)
	rows(".agentxchain/history.jsonl", 1, func(int) string {
		return `{"turn_id":"turn_big","run_id":"run_1","role":"pm","phase":"planning","status":"completed","summary":"Much","accepted_at":"2026-01-01T00:40:00.000Z",
"decisions":` + list(900, func(i int) string {
			return fmt.Sprintf(`{"id":"DEC-%d","category":"c","statement":"s","rationale":"r"}`, i)
		}) + `,
"objections":` + list(900, func(i int) string {
			return fmt.Sprintf(`{"id":"OBJ-%d","severity":"low","statement":"s","status":"raised"}`, i)
		}) + `,
"files_changed":` + list(4000, func(i int) string { return fmt.Sprintf(`"f%d.txt"`, i) }) + `,
"verification":{"status":"pass","machine_evidence":` +
			list(900, func(i int) string { return fmt.Sprintf(`{"command":"make %d","exit_code":0}`, i) }) + `}}`
	})
	rows(".agentxchain/history.jsonl", 1500, func(i int) string {
		return fmt.Sprintf(`{"turn_id":"turn_d%d","run_id":"run_1","role":"pm","phase":"planning","status":"completed","summary":"Delegated","accepted_at":"2026-01-01T00:50:00.000Z","delegations_issued":%s}`,
			i,
			list(3, func(j int) string {
				return fmt.Sprintf(`{"id":"del_%d_%d","to_role":"dev","charter":"Build it"}`, i, j)
			}))
	})
	rows(".agentxchain/repo-decisions.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"id":"DEC-%d","run_id":"run_1","role":"pm","category":"api","statement":"Way %d","status":"%s","overridden_by":"DEC-101","durability":"repo"}`,
			1000+i, i, []string{"active", "overridden"}[i%2])
	})
	rows(".agentxchain/decision-ledger.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"type":"human_approval","gate_id":"gate%d","approved_by":{"name":"Grace"},"votes":[{"principal":"grace@example.org","statement":"sha256:00","key_id":"SHA256:abc"}],"timestamp":"2026-01-01T00:11:00.000Z"}`,
			i)
	})
	rows(".agentxchain/events.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"event_id":"evt_n%d","event_type":"kind_%d","timestamp":"2026-01-01T01:00:00.000Z","run_id":"run_%d","phase":"phase%d","turn":{"turn_id":"turn_big","role_id":"role%d"},"payload":{"reason":"r"}}`,
			i, i, i, i, i)
	})
	rows(".agentxchain/hook-audit.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:05:00.000Z","hook_phase":"p%d","hook_name":"h%d","verdict":"allow","orchestrator_action":"a%d"}`,
			i, i, i)
	})
	rows(".agentxchain/hook-annotations.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:05:00.000Z","hook_name":"h%d","turn_id":"turn_big","annotations":[{"key":"k","value":"v"}]}`,
			i)
	})
	manyRepositories(t, dir, list)
	rows(".agentxchain/notification-audit.jsonl", 900, func(int) string { return `{"half":` })
	at := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	return serve(t, Options{Dir: dir, Now: func() time.Time { return at }, Replay: &Replay{Artifact: "crowded.json"}})
}

// manyRepositories makes an initiative over 300 repositories with 120 workstreams.
func manyRepositories(t testing.TB, dir string, list func(int, func(int) string) string) {
	t.Helper()
	object := func(n int, member func(i int) string) string {
		s := list(n, member)
		return "{" + s[1:len(s)-1] + "}"
	}
	ids := list(300, func(i int) string { return fmt.Sprintf(`"repo%03d"`, i) })
	writeFile(t, dir, "agentxchain-multi.json",
		`{"schema_version":"0.1","project":{"id":"many","name":"Many"},"repos":`+
			object(300, func(i int) string {
				return fmt.Sprintf(`"repo%03d":{"path":"./repos/repo%03d"}`, i, i)
			})+`,"workstreams":`+
			object(120, func(i int) string {
				return fmt.Sprintf(`"stream%03d":{"phase":"planning","repos":%s,"entry_repo":"repo000","depends_on":[],"completion_barrier":"all_repos_accepted"}`,
					i, ids)
			})+`,"routing":{"planning":{"entry_workstream":"stream000"}}}`)
	writeFile(t, dir, ".agentxchain/multirepo/state.json",
		`{"schema_version":"0.1","super_run_id":"srun_1","project_id":"many","status":"active","phase":"planning","repo_runs":`+
			object(300, func(i int) string {
				return fmt.Sprintf(`"repo%03d":{"run_id":"run_%d","status":"linked","phase":"planning","initialized_by_coordinator":false}`,
					i, i)
			})+`,"pending_gate":null,"phase_gate_status":{}}`)
	writeFile(t, dir, ".agentxchain/multirepo/barriers.json", object(120, func(i int) string {
		return fmt.Sprintf(`"stream%03d_completion":{"workstream_id":"stream%03d","type":"all_repos_accepted","status":"pending","required_repos":%s,"satisfied_repos":[]}`,
			i, i, ids)
	}))
}

// The board of an initiative of many repositories shows their number in each state, and continues
// on the next page.
func TestBoardOfManyRepositories(t *testing.T) {
	testrepo.Serving(t)
	v := crowded(t)
	if err := v.s.model.now().InitiativeErr; err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, pages := "/board", 0; path != ""; pages++ {
		got := v.page(path)
		if pages == 0 && (!strings.Contains(got, "300 unreadable") || !strings.Contains(got, "stream000") ||
			strings.Contains(got, "stream119") || !strings.Contains(got, ">Next<")) {
			i := strings.Index(got, "Workstreams</h2>")
			t.Errorf("the first page:\n%.3000s", got[max(0, i):])
		}
		for _, r := range strings.Split(got, `data-label="Repository">`)[1:] {
			name, _, _ := strings.Cut(r[strings.Index(r, ">")+1:], "<")
			seen[name] = true
		}
		path = ""
		for _, link := range strings.Split(got, `<a rel="next" href="`)[1:] {
			if address, _, _ := strings.Cut(link, `"`); strings.Contains(address, "repositories-before") {
				path = html.UnescapeString(address)
			}
		}
		if pages > 300/listSize+1 {
			t.Fatal("there is no end")
		}
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 repositories are on the pages", len(seen))
	}
}
