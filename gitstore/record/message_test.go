// Tests that other people's text is shown harmlessly, with the table of hostile runes.

package record

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunesInCommitMessages(t *testing.T) {
	texttest.Passes(t, "message", func(s string) string { return Message(s, TrailerTurn, s) })
}
