// Words: lists and counts in sentences.

package term

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// JoinComma lists names: "a, b, c".
func JoinComma(s []string) string { return strings.Join(s, ", ") }

// JoinArrow lists steps: "a -> b -> c".
func JoinArrow(s []string) string { return strings.Join(s, " -> ") }

// Counted returns a number with its noun: "1 warning", "2 warnings".
func Counted(n int, noun string) string { return text.Count(n, noun, noun+"s") }

// maxShown bounds a value in the text form; --full, --json and --raw have all of it.
const maxShown = 160

// Shown returns a value of the record on one line, safe and not too long.
func Shown(line []byte) string {
	s := OneLine(strings.ToValidUTF8(string(line), "\ufffd"))
	if DisplayWidth(s) > maxShown {
		return Truncate(s, maxShown)
	}
	return s
}
