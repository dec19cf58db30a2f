// Configured headers: interpolation of variables and what a header may hold (docs/hooks.md#fields).

package webpost

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Header is one header of a request.
type Header struct{ Name, Value string }

// Resolve returns the headers of a configuration object with every ${NAME} in a value replaced by the value from
// lookup. missing names the unset variables, as "<Header>:<NAME>"; if there are any, the request must not be made.
// Values that are not strings are skipped: the configuration check reports them.
func Resolve(headers *ojson.Object, lookup func(name string) (string, bool)) (hs []Header, missing []string) {
	for name, v := range headers.All() {
		text, ok := v.(string)
		if !ok {
			continue
		}
		value, unset := expand(text, lookup)
		for _, variable := range unset {
			missing = append(missing, name+":"+variable)
		}
		hs = append(hs, Header{Name: name, Value: value})
	}
	return hs, missing
}

// expand replaces matches of \$\{([^}]+)\}.
func expand(text string, lookup func(string) (string, bool)) (out string, unset []string) {
	var b strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			break
		}
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			break
		}
		name := text[start+2 : start+end]
		b.WriteString(text[:start])
		if name == "" {
			b.WriteString("${}")
		} else if v, ok := lookup(name); ok {
			b.WriteString(v)
		} else {
			unset = append(unset, name)
		}
		text = text[start+end+1:]
	}
	b.WriteString(text)
	return b.String(), unset
}

// check refuses characters that would end the header or begin another one. It never repeats the value.
func (h Header) check() error {
	if h.Name == "" {
		return fmt.Errorf("a header has no name")
	}
	for i := range len(h.Name) {
		if c := h.Name[i]; !tokenByte(c) {
			return fmt.Errorf("the header name %q has a character that names cannot have", h.Name)
		}
	}
	for i := range len(h.Value) {
		if c := h.Value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("the value of header %s has a line break or another control character", h.Name)
		}
	}
	return nil
}

// tokenByte reports whether c may be in a header name (RFC 9110 §5.6.2).
func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
