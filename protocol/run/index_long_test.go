// The index of a long history without any checkpoint.

package run

import (
	"fmt"
	"iter"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Scanning all earlier rows for each row would take very long here.
func TestIndexOfALongHistory(t *testing.T) {
	testrepo.Thorough(t)
	const n = 6000
	rows := make([]*ojson.Object, n)
	for i := range rows {
		rows[i] = ojson.NewObject("turn_id", fmt.Sprint("turn_", i), "run_id", "run_1", "role", "dev",
			"phase", "implementation", "status", "completed", "accepted_sequence", i+1,
			"objections", []any{ojson.NewObject("id", fmt.Sprint("OBJ-", i), "status", "raised")},
			"files_changed", []any{fmt.Sprint("src/", i), "src/hot"},
			"decisions", []any{ojson.NewObject("id", fmt.Sprintf("DEC-%03d", 2*i+1))})
	}
	runID := "run_1"
	s := &State{RunID: &runID}
	s.ActiveTurns.Set("turn_a", &Turn{TurnID: "turn_a", AssignedSequence: n - 10})
	x := BuildIndex(nil, s, func(l wire.Ledger) iter.Seq[Line] {
		return func(yield func(Line) bool) {
			for i := 0; l == wire.LedgerHistory && i < n && yield(Line{Row: rows[i]}); i++ {
			}
		}
	})
	if x.Accepted != n || x.Decisions != n || x.Uncheckpointed.Len() != n+1 || len(x.Recent) != 10 ||
		x.Recent[9] != rows[n-1] || len(x.OpenObjections) != MaxOpenObjections {
		t.Errorf("%d accepted, %d decisions, %d claims, %d recent, %d objections", x.Accepted, x.Decisions,
			x.Uncheckpointed.Len(), len(x.Recent), len(x.OpenObjections))
	}
	if keys := x.Uncheckpointed.Keys(); keys[len(keys)-1] != "src/hot" {
		t.Errorf("the last claim is %s", keys[len(keys)-1])
	}
	if turn, _ := x.Uncheckpointed.Get("src/hot"); turn != fmt.Sprint("turn_", n-1) {
		t.Errorf("it is of %s", turn)
	}
	if used := DecodeDecisionIDs(x.DecisionIDs); !used.Has("DEC-11999") || used.Has("DEC-002") {
		t.Error("the decision ids are others")
	}
}
