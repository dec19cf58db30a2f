// Making foreign text harmless, and times and sums readable.

package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	foreign "github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

// Bounds on one value on a page, in bytes.
const (
	maxPre = 64 << 10
)

// visible returns a foreign text with its lines kept. The template keeps it from becoming markup.
func visible(s string) string { return foreign.Visible(s) }

// cut returns the beginning of a text, n bytes at most.
func cut(s string, n int) string { return foreign.Cut(s, n) }

// longText returns a block of text, bounded.
func longText(s string, limit int) string {
	if len(s) <= limit {
		return visible(s)
	}
	head := cut(s, limit)
	return visible(head) + fmt.Sprintf("\n… (%d more bytes)", len(s)-len(head))
}

// plain returns any value on one line, bounded.
func plain(v any) string { return account.Plain(v) }

func asText(v any) string { return fmt.Sprint(v) }

func instant(s string) time.Time {
	at, err := wire.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return at
}

// lasting returns a duration in at most two units.
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

func short(id string) string { return cut(id, 10) }

func counted(n int, one, many string) string { return foreign.Count(n, one, many) }

// cellClass returns how a table cell is laid out: long words may be broken, and running text has a
// line of its own on a telephone.
func cellClass(head string, c cell) string {
	var class []string
	if longWord(c.Text) {
		class = append(class, "long")
	}
	if !c.Code && c.Time.IsZero() && (runningText(head) || utf8.RuneCountInString(c.Text) > 40) {
		class = append(class, "text")
	}
	return strings.Join(class, " ")
}

// runningText reports the columns of sentences.
func runningText(head string) bool {
	switch head {
	case "Because", "Charter", "Message", "Note", "Reason", "Statement", "Text", "What", "What was done":
		return true
	}
	return false
}

// longWord reports a word that may be broken for a table to fit: ids of turns, which have 21
// characters, may not.
func longWord(s string) bool {
	n := 0
	for _, r := range s {
		if n++; r == ' ' || r == '\n' {
			n = 0
		} else if n > 24 {
			return true
		}
	}
	return false
}
