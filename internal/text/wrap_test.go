package text_test

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"", 10, ""},
		{"one", 10, "one"},
		{"one two three", 7, "one two|three"},
		{"  one   two ", 20, "one two"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"a abcdefgh b", 4, "a|abcd|efgh|b"},
		{"日本語です", 4, "日本|語で|す"},
		{"日本", 1, "日|本"},
		{"x", 0, "x"},
	} {
		lines := text.Wrap(c.in, c.columns)
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.in, c.columns, got, c.want)
		}
		for _, line := range lines {
			if c.columns > 1 && text.Width(line) > c.columns {
				t.Errorf("%q is wider than %d", line, c.columns)
			}
		}
	}
}
