// The words by which N26 tells an approving reason from a blocking one (docs/spec/results.md#normalisation).

package result

import (
	"strings"
	"unicode/utf8"
)

// A '~' stands for at most one arbitrary character. The words are stems only by
// name: they match whole words, so "approved" is no match for "approv".
const (
	affirmativeWords = "approv ship release sign~off no~block ready pass good accept green~light proceed move~forward complet done lgtm satisf recommend"
	blockerWords     = "critical security fail block cannot must~fix regression vulnerab reject unsafe broken"
)

// affirms reports a text with an affirmative word and without a blocking one.
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

// isWordByte reports ASCII letters, digits and the underscore; other scripts
// are no part of words here.
func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}
