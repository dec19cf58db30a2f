// Tests of what people read of a change.

package diff

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestShown(t *testing.T) {
	runs := Runs(ojson.NewObject("duration_ms", 36776, "phases_completed", []string{"planning"}, "total_turns", 1),
		ojson.NewObject("duration_ms", 1776, "phases_completed", []string{"planning", "qa"}, "total_turns", 4))
	got := map[string]string{}
	for label, o := range Changed(runs) {
		got[label] = Shown(label, o.Value("left")) + " | " + Shown(label, o.Value("right")) + " | " +
			Shown(label, o.Value("delta"))
	}
	for label, want := range map[string]string{
		"Duration": "36 s | 1.8 s | -35 s",
		"Phases":   "planning | planning, qa | ",
		"Turns":    "1 | 4 | 3",
	} {
		if got[label] != want {
			t.Errorf("%s is shown as %q, want %q", label, got[label], want)
		}
	}
}
