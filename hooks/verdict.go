// Reading a hook's answer (docs/hooks.md#what-a-hook-answers).

package hooks

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Bounds of what is read from an answer, in UTF-16 code units. The protocol does not limit a message's length; here
// it is bounded, because every entry is kept.
const (
	maxMessage     = 4096
	maxAnnotations = 16
	maxAnnotation  = 1000
	maxStderr      = 4096
)

type answer struct {
	verdict     string
	message     ojson.Value // nil for none
	annotations []*ojson.Object
}

// parseAnswer reads standard output or a response body: one JSON object with a known verdict, surrounded only by
// white space. Secrets are masked before anything is cut, because half of one would not be recognised.
func parseAnswer(stdout []byte, hide secrets) (answer, bool) {
	v, err := ojson.DecodeLimited(bytes.TrimFunc(stdout, wire.IsSpace), ojson.Limits{Bytes: maxOutput, LastWins: true})
	o, ok := v.(*ojson.Object)
	if err != nil || !ok {
		return answer{}, false
	}
	a := answer{verdict: o.String("verdict")}
	switch a.verdict {
	case VerdictAllow, VerdictWarn, VerdictBlock:
	default:
		return answer{}, false
	}
	if m, _ := o.Get("message"); ojson.Truthy(m) {
		a.message = boundMessage(hide.redactValue(m))
	}
	for i, item := range o.Array("annotations") {
		if i == maxAnnotations {
			break
		}
		n, ok := item.(*ojson.Object)
		if !ok {
			continue
		}
		value, isText := n.Value("value").(string)
		if key := n.String("key"); isText && isKey(key) {
			a.annotations = append(a.annotations,
				ojson.NewObject("key", key, "value", cut(hide.redact(value), maxAnnotation)))
		}
	}
	return a, true
}

// boundMessage returns a short message unchanged, and the beginning of a longer one's text.
func boundMessage(v ojson.Value) ojson.Value {
	if s, ok := v.(string); ok {
		return cut(s, maxMessage)
	}
	if text := string(ojson.Compact(v)); len(text) > maxMessage {
		return cut(text, maxMessage)
	}
	return v
}

// messageText returns a message as one string.
func messageText(v ojson.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(ojson.Compact(v))
}

// isKey matches ^[a-z0-9_-]+$.
func isKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// cut returns the first n UTF-16 code units of s as valid UTF-8, never half a
// character.
func cut(s string, n int) string {
	if enough := 3*n + utf8.UTFMax; len(s) > enough { // no unit takes more than three bytes
		s = s[:enough]
	}
	return text.CutUnits(strings.ToValidUTF8(s, "\ufffd"), n)
}
