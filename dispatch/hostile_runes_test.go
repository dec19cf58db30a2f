// How this package shows other people's text, checked with the table of hostile runes.

package dispatch

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestHostileRunes(t *testing.T) {
	files := map[string]string{}
	in := newInput(wire.ReviewOnly, "manual")
	withFiles(&in, files)
	v, _ := newView(in)
	for name, show := range map[string]func(string) string{
		"clean":      clean,
		"line":       line,
		"quote":      quote,
		"verbatim":   verbatim,
		"unheaded":   unheaded,
		"code":       code,
		"tableText":  tableText,
		"logExcerpt": func(s string) string { return logExcerpt([]byte(s)) },
		"preview": func(s string) string {
			files["f"] = s
			p, _ := v.sample("f")
			if p.binary {
				return "x" // not previewed
			}
			return p.preview(changedLines)
		},
		"MESSAGES.json": func(s string) string {
			return string(MessagesDocument([]*ojson.Object{ojson.NewObject("body", s)}))
		},
	} {
		texttest.Passes(t, name, show)
	}
}
