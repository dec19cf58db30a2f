// The wording of findings: what a schema requires and what a document has.

package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// shown returns a value for a message: short, quoted, on one line.
func shown(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return string(ojson.Float(v))
	}
	return ojson.Shown(v)
}

// jsonType returns the type of an instance value in the words of JSON Schema.
func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if v != float64(int64(v)) {
			return "number"
		}
	}
	return "integer"
}

// fits reports whether a value has one of the types.
func fits(types []string, v any) bool {
	t := jsonType(v)
	return slices.Contains(types, t) || t == "integer" && slices.Contains(types, "number")
}

func typeNames(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			out[i] = t
		case "integer", "array", "object":
			out[i] = "an " + t
		default:
			out[i] = "a " + t
		}
	}
	return out
}

// oneOf joins words: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func allowed(values []any) string {
	var words []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			words = append(words, s)
		}
	}
	return strings.Join(words, ", ")
}

// bound describes the existing limits.
func bound(word string, inclusive *float64, strictWord string, exclusive *float64) string {
	if inclusive != nil {
		return word + " " + strconv.FormatFloat(*inclusive, 'f', -1, 64)
	}
	return strictWord + " " + strconv.FormatFloat(*exclusive, 'f', -1, 64)
}

func unknownMember(name string, known map[string]*jsonschema.Schema) string {
	const most = 24
	names := sortedKeys(known)
	if len(names) > most {
		return fmt.Sprintf("the member %s is unknown here", ojson.Shown(name))
	}
	return fmt.Sprintf("the member %s is unknown here; there are %s", ojson.Shown(name), strings.Join(names, ", "))
}

// isVersion reports whether a pointer ends in a member that holds a version tag.
func isVersion(at string) bool {
	return strings.HasSuffix(at, "/version") || strings.HasSuffix(at, "/contract_version")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return text.ClipRunes(s, 300)
}
