// The words by which N26 distinguishes an approving reason from a blocking one
// (docs/spec/results.md#normalisation).

package result

import (
	"strings"
	"unicode/utf8"
)

// A '~' matches at most one arbitrary character. Although they look like stems, the words match whole words only,
// so "approved" does not match "approv".
const (
	affirmativeWords = "approv ship release sign~off no~block ready pass good accept green~light proceed move~forward complet done lgtm satisf recommend"
	blockerWords     = "critical security fail block cannot must~fix regression vulnerab reject unsafe broken"
)

// affirms reports whether a text has an affirmative word and no blocking one.
func affirms(reason string) bool {
	text := strings.ToLower(reason)
	return hasWord(text, affirmativeWords) && !hasWord(text, blockerWords)
}

// hasWord reports whether a whole word of text is one of words.
func hasWord(text, words string) bool {
	for word := range strings.SplitSeq(words, " ") {
		head, tail, _ := strings.Cut(word, "~")
		for from := 0; ; {
			i := strings.Index(text[from:], head)
			if i < 0 {
				break
			}
			start := from + i
			from = start + 1
			if start > 0 && isWordByte(text[start-1]) {
				continue
			}
			rest := text[start+len(head):]
			if tail == "" {
				if endsWord(rest) {
					return true
				}
				continue
			}
			if after, ok := strings.CutPrefix(rest, tail); ok && endsWord(after) {
				return true
			}
			r, size := utf8.DecodeRuneInString(rest)
			if r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029 || r > 0xFFFF {
				continue
			}
			if after, ok := strings.CutPrefix(rest[size:], tail); ok && endsWord(after) {
				return true
			}
		}
	}
	return false
}

func endsWord(rest string) bool { return rest == "" || !isWordByte(rest[0]) }

// isWordByte reports whether b is an ASCII letter, a digit or the underscore; other scripts do not form words here.
func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}
