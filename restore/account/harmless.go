// Making other people's text harmless, in one place for every rendering.

package account

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// harmless puts a foreign text on one line; it truncates a long text and marks it as such.
func harmless(s string) string {
	short := text.Cut(s, maxShownText)
	if left := len(s) - len(short); left > 0 {
		return fmt.Sprintf("%s… (%d more bytes)", text.OneLine(short), left)
	}
	return text.OneLine(s)
}
