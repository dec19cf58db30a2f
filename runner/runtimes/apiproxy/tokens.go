// A local estimate of the number of tokens in a text.

package apiproxy

import "unicode"

// tokens estimates the tokens of a text without the provider's vocabulary, on the high side: a word
// counts one token for every four letters or part of them, digits count by threes, every other sign
// counts one, runs of the same sign and of white space share tokens, and letters of scripts without
// spaces count one each. It takes one pass and no memory.
func tokens(text string) int {
	n, run := 0, 0
	var last rune
	kind := 0 // of the run: 1 letters, 2 digits, 3 white space, 4 the same sign again
	for _, r := range text {
		k := 0
		switch {
		case r < 0x250 && unicode.IsLetter(r):
			k = 1
		case r >= '0' && r <= '9':
			k = 2
		case unicode.IsSpace(r):
			k = 3
		case r == last:
			k = 4
		}
		if k == 0 || k != kind && k != 4 {
			run = 0
		}
		switch k {
		case 0:
			n++
			if r > 0xFFFF {
				n++ // signs beyond the first plane are two or three tokens
			}
		case 1:
			if run%4 == 0 {
				n++
			}
		case 2:
			if run%3 == 0 {
				n++
			}
		case 3:
			// One space belongs to the word after it.
			if run == 1 || run > 1 && run%8 == 0 || run == 0 && r == '\n' {
				n++
			}
		case 4:
			if run%4 == 3 {
				n++
			}
		}
		if k == 0 {
			run, kind = 0, 4
		} else {
			kind = k
		}
		run++
		last = r
	}
	return n
}
