// Foreign text that this package shows, checked against the table of hostile runes.

package dashboard

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "visible", visible)
	texttest.Passes(t, "plain", func(s string) string { return plain(s) })
	texttest.Passes(t, "longText", func(s string) string { return longText(s, 30) })
}
