// Reading members of the configuration; findings are collected, nothing fails (docs/coordinator.md#the-configuration).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxProblems bounds the findings about a hostile document.
const maxProblems = 500

// problemCycle is the finding that decides the error type of a refused
// configuration.
const problemCycle = "workstream_cycle"

// decoder fills cfg section by section and reports every finding.
type decoder struct {
	cfg      *Config
	problems wire.Problems
}

func (d *decoder) add(code, field, value, format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, wire.Problem{
			Code:    code,
			Field:   field,
			Value:   value,
			Message: fmt.Sprintf(format, args...),
		})
	}
}

// wrong reports an invalid member; v is nil when it is absent.
func (d *decoder) wrong(code, field, want string, v ojson.Value) {
	if v == nil {
		d.add(code, field, "", "%s must be %s; it is missing or null", field, want)
		return
	}
	value, _ := v.(string)
	d.add(code, field, value, "%s must be %s, not %s", field, want, ojson.Shown(v))
}

// section returns an optional top-level object; nil when absent or wrong.
func (d *decoder) section(key, code string) *ojson.Object {
	v, has := d.cfg.Raw.Get(key)
	o, ok := v.(*ojson.Object)
	if has && !ok {
		d.wrong(code, key, "an object", v)
	}
	return o
}

// id checks the name of a repository, workstream or gate.
func (d *decoder) id(code, kind, id string) {
	if !isID(id) {
		d.add(code, kind+"s", id, "the %s name %s must consist of lowercase letters, digits, - and _", kind,
			ojson.Shown(id))
	}
}

func isID(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}

// isPhase reports whether s may name a phase: an id that starts with a letter.
func isPhase(s string) bool { return isID(s) && s[0] >= 'a' && s[0] <= 'z' }

// isDecisionID reports whether s is DEC-<digits>.
func isDecisionID(s string) bool {
	digits, ok := strings.CutPrefix(s, "DEC-")
	return ok && digits != "" && strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// textOf returns a string that is not blank.
func textOf(v ojson.Value) (string, bool) {
	s, ok := v.(string)
	return s, ok && strings.TrimSpace(s) != ""
}

const wantText = "a non-blank string"

// listCodes are the codes of the findings about the items of a list of names.
type listCodes struct{ item, duplicate, unknown string }

// names checks a list of names item by item and returns the valid ones, each once. It reports a repeated item as a
// duplicate unless that code is "".
func (d *decoder) names(field string, items []any, known func(string) bool, what string, c listCodes) []string {
	var out []string
	seen := make(map[string]bool)
	for i, v := range items {
		s, ok := textOf(v)
		switch {
		case !ok:
			d.wrong(c.item, fmt.Sprintf("%s[%d]", field, i), wantText, v)
		case seen[s]:
			if c.duplicate != "" {
				d.add(c.duplicate, field, s, "%s names %s more than once", field, ojson.Shown(s))
			}
		default:
			seen[s] = true
			if !known(s) {
				d.add(c.unknown, field, s, "%s names %s, which is not a declared %s", field, ojson.Shown(s), what)
				continue
			}
			out = append(out, s)
		}
	}
	return out
}

// orList formats a list of words for a message.
func orList(words []string) string {
	if len(words) == 0 {
		return "one of the phases in routing, which has none"
	}
	if len(words) > 20 {
		words = append(slices.Clone(words[:20]), "…")
	}
	return "one of " + strings.Join(words, ", ")
}
