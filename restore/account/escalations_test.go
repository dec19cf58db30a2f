// Tests of escalations to a person.

package account

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func ofRun(a *Artifact, all bool) *ojson.Object {
	return Build(a, "x.json", Options{Now: now, AllRuns: all}).Object("subject").Object("run")
}

func TestRunTellsWhatAPersonWasNeededFor(t *testing.T) {
	f := newFixture(t)
	raised := func(id, run, at, detail string) string {
		return fmt.Sprintf(`{"kind":"raised","escalation_id":%q,"created_at":%q,"run_id":%q,"type":"needs_decision","blocked_on":"non_progress","detail":%q,"turn_id":"turn_2","role_id":"dev","waited_seconds":"x"}`,
			id, at, run, detail)
	}
	f.files[pathHuman] = strings.Join([]string{
		raised("hesc_0", oldRun, "2026-03-01T10:00:00.000Z", "of the older run"),
		raised("hesc_1", run, "2026-03-04T11:00:00.000Z", "nothing moves"),
		raised("hesc_1", run, "2026-03-04T11:00:01.000Z", "a second row of the same"),
		`{"kind":"resolved","escalation_id":"hesc_0","resolved_at":"2026-03-01T11:00:00.000Z","resolved_via":"operator_unblock","resolution_notes":null}`,
		`{"kind":"resolved","escalation_id":"hesc_1","resolved_at":"2026-03-04T11:02:00.000Z","resolved_via":"operator_unblock","resolution_notes":"wrote the notes"}`,
		`{"kind":"resolved","escalation_id":"hesc_nobody","resolved_at":"2026-03-04T11:02:00.000Z"}`,
		// The open one is what the run is blocked on.
		strings.Replace(raised("hesc_2", run, "2026-03-04T12:00:00.000Z", "all is spent"), "non_progress",
			"budget:exhausted", 1),
		`{"kind":"raised"}`, `{"kind":7,"escalation_id":[]}`,
	}, "\n") + "\n"
	a := loaded(t, f.artifact(t))
	for all, want := range map[bool]int{false: 2, true: 3} {
		list := ofRun(a, all).Objects("human_escalations")
		if len(list) != want {
			t.Fatalf("all runs %v: %d escalations, want %d", all, len(list), want)
		}
	}
	list := ofRun(a, false).Objects("human_escalations")
	if o := list[0]; o.String("escalation_id") != "hesc_1" || o.String("status") != "resolved" ||
		o.String("detail") != "nothing moves" || say(o.Value("waited_seconds")) != "120" ||
		o.String("resolution_notes") != "wrote the notes" {
		t.Errorf("%s", ojson.Compact(o))
	}
	if o := list[1]; o.String("status") != "open" || o.Value("resolved_at") != nil ||
		o.Value("waited_seconds") != nil {
		t.Errorf("%s", ojson.Compact(o))
	}
	for _, format := range []string{"text", "markdown", "html"} {
		out := strings.ReplaceAll(string(Render(Build(a, "x.json", Options{Now: now}), format)), "\\", "")
		for _, s := range []string{"Human Escalations", "nothing moves", "all is spent", "wrote the notes"} {
			if !strings.Contains(out, s) {
				t.Errorf("%s: no %q", format, s)
			}
		}
		if strings.Contains(out, "of the older run") {
			t.Errorf("%s tells of another run", format)
		}
	}
}

// A ledger with only open escalations must be read once, not once per row.
func TestManyOpenEscalations(t *testing.T) {
	f := newFixture(t)
	var b bytes.Buffer
	n := 30000
	if !testrepo.All(t.Name()) {
		n = 1000
	}
	for i := range n {
		fmt.Fprintf(&b, `{"kind":"raised","escalation_id":"hesc_%d","run_id":%q}`+"\n", i, run)
	}
	f.files[pathHuman] = b.String()
	a, err := Load(context.Background(), bytes.NewReader(f.artifact(t)), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(ofRun(a, false).Objects("human_escalations")); got != n {
		t.Errorf("%d of %d", got, n)
	}
}
