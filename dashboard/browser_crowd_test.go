// A workspace that has too much of everything for one page.

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// crowded is a replayed workspace with a turn, lists and a configuration that are
// longer than any page.
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
		phases = append(phases, fmt.Sprintf(`"phase%02d":{"entry_role":"pm","allowed_next_roles":["pm","human"],"exit_gate":"gate%02d"}`, i, i))
		gates = append(gates, fmt.Sprintf(`"gate%02d":{"requires_files":%s,"requires_human_approval":true}`, i, list(40, func(j int) string { return fmt.Sprintf(`"docs/%d/%d.md"`, i, j) })))
	}
	writeFile(t, dir, "agentxchain.json", `{"schema_version":"1.0","template":"generic","project":{"id":"p","name":"Crowded"},
 "roles":{"pm":{"title":"PM","mandate":"plans","write_authority":"review_only","runtime":"manual"}},"runtimes":{"manual":{"type":"manual"}},
 "routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm","human"]},`+strings.Join(phases, ",")+`},"gates":{`+strings.Join(gates, ",")+`}}`)
	rows(".agentxchain/history.jsonl", 1, func(int) string {
		return `{"turn_id":"turn_big","run_id":"run_1","role":"pm","phase":"planning","status":"completed","summary":"Much","accepted_at":"2026-01-01T00:40:00.000Z",
"decisions":` + list(900, func(i int) string {
			return fmt.Sprintf(`{"id":"DEC-%d","category":"c","statement":"s","rationale":"r"}`, i)
		}) + `,
"objections":` + list(900, func(i int) string {
			return fmt.Sprintf(`{"id":"OBJ-%d","severity":"low","statement":"s","status":"raised"}`, i)
		}) + `,
"files_changed":` + list(4000, func(i int) string { return fmt.Sprintf(`"f%d.txt"`, i) }) + `,
"verification":{"status":"pass","machine_evidence":` + list(900, func(i int) string { return fmt.Sprintf(`{"command":"make %d","exit_code":0}`, i) }) + `}}`
	})
	rows(".agentxchain/history.jsonl", 1500, func(i int) string {
		return fmt.Sprintf(`{"turn_id":"turn_d%d","run_id":"run_1","role":"pm","phase":"planning","status":"completed","summary":"Delegated","accepted_at":"2026-01-01T00:50:00.000Z","delegations_issued":%s}`, i,
			list(3, func(j int) string {
				return fmt.Sprintf(`{"id":"del_%d_%d","to_role":"dev","charter":"Build it"}`, i, j)
			}))
	})
	rows(".agentxchain/repo-decisions.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"id":"DEC-%d","run_id":"run_1","role":"pm","category":"api","statement":"Way %d","status":"%s","overridden_by":"DEC-101","durability":"repo"}`, 1000+i, i, []string{"active", "overridden"}[i%2])
	})
	rows(".agentxchain/decision-ledger.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"type":"human_approval","gate_id":"gate%d","approved_by":{"name":"Grace"},"signature":"-----BEGIN","timestamp":"2026-01-01T00:11:00.000Z"}`, i)
	})
	rows(".agentxchain/events.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"event_id":"evt_n%d","event_type":"kind_%d","timestamp":"2026-01-01T01:00:00.000Z","run_id":"run_%d","phase":"phase%d","turn":{"turn_id":"turn_big","role_id":"role%d"},"payload":{"reason":"r"}}`, i, i, i, i, i)
	})
	rows(".agentxchain/hook-audit.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:05:00.000Z","hook_phase":"p%d","hook_name":"h%d","verdict":"allow","orchestrator_action":"a%d"}`, i, i, i)
	})
	rows(".agentxchain/hook-annotations.jsonl", 3000, func(i int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:05:00.000Z","hook_name":"h%d","turn_id":"turn_big","annotations":[{"key":"k","value":"v"}]}`, i)
	})
	rows(".agentxchain/notification-audit.jsonl", 900, func(int) string { return `{"half":` })
	at := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	return serve(t, Options{Dir: dir, Now: func() time.Time { return at }, Replay: &Replay{Artifact: "crowded.json"}})
}
