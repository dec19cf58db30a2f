// Foreign text that this package shows, checked against the table of hostile runes.

package runtimes_test

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "Shown", func(s string) string { return "x" + runtimes.Shown([]byte(s)) })
	texttest.Passes(t, "OneLine", runtimes.OneLine)
}
