package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The overview begins with what was delivered, what a person is asked, or the way out; then comes
// the picture, of the run or of one phase.
func TestOutcomes(t *testing.T) {
	at := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		name, status, more string
		active             string // turns
		want               []string
	}{
		{"delivered", "completed", `"completed_at":"2026-01-01T01:00:00.000Z"`, `{}`,
			[]string{"Took", "4 turns, 0 retries", "$9.00 of $10.00", "DEC-001", "a.md"}},
		{"asked", "paused",
			`"pending_phase_transition":{"from":"planning","to":"building","gate":"signoff","requested_by_turn":"turn_3"}`, `{}`,
			[]string{"the step from planning to building", "a person", "PLAN.md", "/turns/turn_3"}},
		{"waiting", "blocked",
			`"blocked_reason":{"category":"needs_human","blocked_at":"2026-01-01T00:40:00.000Z","recovery":{"typed_reason":"needs_human","owner":"human","recovery_action":"git agentxchain unblock","detail":"who pays?"}}`,
			`{"turn_9":{"turn_id":"turn_9","assigned_role":"dev","status":"failed","attempt":2,"assigned_at":"2026-01-01T00:30:00.000Z","runtime_id":"manual","assigned_sequence":4,"concurrent_with":[],"last_rejection":{"reason":"no notes"}}}`,
			[]string{"The way out", "who pays?", "git agentxchain unblock", `href="/turns/turn_9"`, "no notes"}},
	} {
		dir := laid(t, "")
		name := filepath.Join(dir, ".agentxchain", "state.json")
		state, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := string(state)
		s = s[:strings.Index(s, `"active_turns"`)] + x.more + `,"active_turns":` + x.active + "}"
		s = strings.Replace(s, `"status":"active"`, `"status":"`+x.status+`"`, 1)
		if x.status == "blocked" {
			s = strings.Replace(s, `"blocked_reason":null,`, "", 1)
			s = strings.Replace(s, `"blocked_on":null`, `"blocked_on":"human:who pays?"`, 1)
		}
		writeFile(t, dir, ".agentxchain/state.json", s)
		v := serve(t, Options{Dir: dir, Now: still(at), Replay: &Replay{Artifact: "run.json"}})
		got := mainOf(v.page("/"))
		first, rest, _ := strings.Cut(got, "</section>")
		if !strings.Contains(first, `<section id="`+x.name+`"`) {
			t.Errorf("a run that is %s leads with\n%s", x.status, first)
		}
		for _, want := range x.want {
			if !strings.Contains(first, want) {
				t.Errorf("a run that is %s: the first section lacks %q:\n%s", x.status, want, first)
			}
		}
		if strings.Contains(got, "Nothing has to be done") || !strings.Contains(rest, `<svg class="tl"`) ||
			!strings.Contains(rest, `href="/turns/turn_1"`) {
			t.Errorf("a run that is %s: after it comes\n%s", x.status, rest)
		}
		if zoomed := v.page("/?phase=planning"); !strings.Contains(zoomed, "Phase planning in time") ||
			!strings.Contains(zoomed, "The whole run") {
			t.Error("a phase has no picture of its own")
		}
		if got := v.page("/?phase=%3Cb%3Enowhere"); strings.Contains(got, "<b>") {
			t.Error("the address is markup")
		}
	}
}
