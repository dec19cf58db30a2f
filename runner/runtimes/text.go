// Foreign words in our own sentences.

package runtimes

import "github.com/git-agentxchain/git-agentxchain/internal/text"

// maxQuoted bounds how much of foreign words is repeated in a sentence, in runes.
const maxQuoted = 1000

// OneLine makes foreign words fit for a message: one line, hostile runes spelled out, at most 1000
// characters.
func OneLine(s string) string {
	return text.CutRunes(text.OneLine(text.Cut(s, 4*maxQuoted)), maxQuoted)
}
