// Spelling rules of configuration values: identifiers, phase names, URLs, white space.

package protocol

import (
	"net/url"
	"strings"
)

// trimJS trims the white space of spec/02 §0: Unicode space separators, the
// ASCII controls, line and paragraph separators and U+FEFF, but not U+0085,
// which strings.TrimSpace would take.
func trimJS(s string) string { return strings.TrimFunc(s, isSpaceJS) }

func isSpaceJS(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A,
		r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return false
}

// utf16Len is the length of s in UTF-16 code units, the unit of every limit on
// text (spec/02 §0).
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// isConfigID matches ^[a-z0-9_-]+$: roles, hooks, webhooks, schedules.
func isConfigID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// isConfigName matches ^[a-z][a-z0-9_-]*$: phases and policy ids.
func isConfigName(s string) bool {
	return isConfigID(s) && s[0] >= 'a' && s[0] <= 'z'
}

// isWebURL reports an absolute http or https URL with a host.
func isWebURL(s string) bool {
	u, err := url.Parse(trimJS(s))
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != ""
}
