// Foreign words inside our own sentences.

package runtimes

import "github.com/git-agentxchain/git-agentxchain/internal/text"

// maxQuoted is how much of foreign words is repeated in a sentence, in runes.
const maxQuoted = 1000

// OneLine makes foreign words fit to stand in a message: one line, hostile runes
// spelled out, at most 1000 characters.
func OneLine(s string) string {
	return text.CutRunes(text.OneLine(text.Cut(s, 4*maxQuoted)), maxQuoted)
}
