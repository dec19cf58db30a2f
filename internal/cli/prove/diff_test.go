// Tests of what diff shows of a change.

package prove

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/diff"
)

func TestDiffCell(t *testing.T) {
	runs := diff.Runs(ojson.NewObject("duration_ms", 36776, "phases_completed", []string{"planning"}, "total_turns", 1),
		ojson.NewObject("duration_ms", 1776, "phases_completed", []string{"planning", "qa"}, "total_turns", 4))
	got := map[string]string{}
	for label, o := range diff.Changed(runs) {
		got[label] = diffCell(label, o.Value("left")) + " | " + diffCell(label, o.Value("right")) + " | " +
			diffCell(label, o.Value("delta"))
	}
	for label, want := range map[string]string{
		"Duration": "36 s | 1.8 s | -35 s",
		"Phases":   "planning | planning, qa | -",
		"Turns":    "1 | 4 | 3",
	} {
		if got[label] != want {
			t.Errorf("%s is shown as %q, want %q", label, got[label], want)
		}
	}
}
