// Tests that other people's text is shown harmlessly, with the table of hostile runes.

package account

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "harmless", harmless)
	texttest.Passes(t, "Plain", func(s string) string { return Plain([]any{s, s}) })
}
