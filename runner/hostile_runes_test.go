// Foreign text that this package shows, checked against the table of hostile runes.

package runner

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "checkpointMessage", func(s string) string {
		return checkpointMessage(ojson.NewObject("turn_id", s, "role", s, "phase", s, "runtime_id", s, "summary", s,
			"intent_id", s, "run_id", s))
	})
}
