// Making other people's text harmless, and times and sums readable.

package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

// Bounds of one value on a page, in bytes.
const (
	maxShown = 4000
	maxPre   = 64 << 10
)

// visible is a text of somebody else's with its lines kept: what drives a terminal
// or reorders text is spelled out. That it cannot become markup is the template's
// business.
func visible(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	clean := true
	for _, r := range s {
		if hostile(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hostile(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hostile are controls but line feeds and tabs, and what reorders or hides text.
func hostile(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || r == 0x061c || r == 0x200e || r == 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2066 <= r && r <= 0x2069 || 0xe0000 <= r && r <= 0xe007f || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef || r == 0xfeff
}

// block of text, bounded.
func longText(s string, limit int) string {
	if len(s) <= limit {
		return visible(s)
	}
	head := cut(s, limit)
	return visible(head) + fmt.Sprintf("\n… (%d more bytes)", len(s)-len(head))
}

// plain is any value on one line, bounded.
func plain(v any) string { return account.Plain(v) }

func asText(v any) string { return fmt.Sprint(v) }

func get(o *ojson.Object, key string) any { v, _ := o.Get(key); return v }

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func instant(s string) time.Time {
	at, err := protocol.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return at
}

// lasting is a duration in two units at most.
func lasting(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
	}
	return strconv.Itoa(int(d.Hours())/24) + " days"
}

func dollars(f float64) string { return "$" + strconv.FormatFloat(f, 'f', 2, 64) }

func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func short(id string) string { return cut(id, 10) }
