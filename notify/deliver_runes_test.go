// Foreign text that this package shows, checked against the table of hostile runes.

package notify

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "oneLine", func(s string) string { return oneLine(s, maxMessage) })
}
