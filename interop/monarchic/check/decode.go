// Reading a document: strict JSON, and duplicate members.

package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// decode reads one document. A duplicate member is a finding, not an error: the document can still
// be judged, using the last one.
func decode(data []byte) (ojson.Value, []Finding, error) {
	limits := wire.Limits()
	v, err := ojson.DecodeLimited(data, limits)
	if err == nil {
		return v, nil, nil
	}
	var syntax *ojson.SyntaxError
	if !errors.As(err, &syntax) || !strings.HasPrefix(syntax.Msg, "duplicate member") {
		return nil, nil, err
	}
	limits.LastWins = true
	if v, err = ojson.DecodeLimited(data, limits); err != nil {
		return nil, nil, err
	}
	return v, doubles(data), nil
}

// level is an object or array that encloses the position of the scan for doubles.
type level struct {
	at   string
	seen map[string]bool // nil in an array
	n    int             // items so far, of an array
	name string          // of the member whose value comes next
	want bool            // a value comes next, in an object
}

// doubles lists the duplicate members of a well-formed document.
func doubles(data []byte) []Finding {
	var out []Finding
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var stack []level
	here := func() string { // the place of the present value
		if len(stack) == 0 {
			return ""
		}
		top := &stack[len(stack)-1]
		if top.seen == nil {
			top.n++
			return ojson.Item(top.at, top.n-1)
		}
		top.want = false
		return ojson.Member(top.at, top.name)
	}
	for len(out) < maxFindings {
		t, err := d.Token()
		if err != nil {
			return out
		}
		if delim, ok := t.(json.Delim); ok {
			switch delim {
			case '{':
				stack = append(stack, level{at: here(), seen: map[string]bool{}})
			case '[':
				stack = append(stack, level{at: here()})
			default:
				stack = stack[:len(stack)-1]
			}
			continue
		}
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			if name, ok := t.(string); ok && top.seen != nil && !top.want {
				if top.seen[name] {
					out = append(out, Finding{
						Pointer: ojson.Member(top.at, name), Rule: "json.duplicate_member", Severity: Error,
						Message: fmt.Sprintf("the member %s is there twice", ojson.Shown(name)),
					})
				}
				top.seen[name], top.name, top.want = true, name, true
				continue
			}
		}
		here()
	}
	return out
}
