// Why the schema library refused a document: every place and keyword behind its one error.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"

	"github.com/google/jsonschema-go/jsonschema"
)

// explain reports what is wrong with a value at the places below p. The library stops at its first
// failure and does not say where in the document it is, so explain walks schema and value together
// and asks the library again about every part; it stops where the library has no objection.
func (j *judge) explain(p place, value any, at string) {
	if j.full() {
		return
	}
	err := j.st.accepts(p, value)
	if err == nil {
		return
	}
	before := len(j.findings) + j.more
	if p.Ref != "" {
		if q, ok := j.st.deref(p); ok {
			j.explain(q, value, at)
		}
	}
	for _, s := range p.AllOf {
		j.explain(place{s, p.file}, value, at)
	}
	j.explainChoice(p, slices.Concat(p.AnyOf, p.OneOf), value, at)
	if j.explainValue(p, value, at) {
		switch v := value.(type) {
		case map[string]any:
			j.explainObject(p, v, at)
		case []any:
			if p.Items != nil {
				for i, e := range v {
					j.explain(place{p.Items, p.file}, e, ojson.Item(at, i))
				}
			}
		}
	}
	if len(j.findings)+j.more == before {
		j.fail(at, "schema", firstLine(err.Error()))
	}
}

// explainValue judges a value by the keywords that look at nothing below it; false when it has the
// wrong type or is not one of the allowed values, so that looking further adds nothing.
func (j *judge) explainValue(p place, value any, at string) bool {
	only := func(s jsonschema.Schema) bool { return j.st.refuses(place{&s, p.file}, value) }
	switch {
	case (p.Type != "" || p.Types != nil) && only(jsonschema.Schema{Type: p.Type, Types: p.Types}):
		j.fail(at, "type", fmt.Sprintf("must be %s, not %s", oneOf(typeNames(p.jsonTypes())), shown(value)))
		return false
	case p.Enum != nil && only(jsonschema.Schema{Enum: p.Enum}):
		j.fail(at, "enum", fmt.Sprintf("%s is not one of %s", shown(value), allowed(p.Enum)))
		return false
	case p.Const != nil && only(jsonschema.Schema{Const: p.Const}):
		if isVersion(at) {
			j.fail(at, "unsupported_version",
				fmt.Sprintf("version %s is not supported; %s is", shown(value), shown(*p.Const)))
		} else {
			j.fail(at, "const", fmt.Sprintf("must be %s, not %s", shown(*p.Const), shown(value)))
		}
		return false
	}
	if (p.Minimum != nil || p.ExclusiveMinimum != nil) &&
		only(jsonschema.Schema{Minimum: p.Minimum, ExclusiveMinimum: p.ExclusiveMinimum}) {
		j.fail(at, "minimum", fmt.Sprintf("%s is too small: %s", shown(value),
			bound("at least", p.Minimum, "more than", p.ExclusiveMinimum)))
	}
	if (p.Maximum != nil || p.ExclusiveMaximum != nil) &&
		only(jsonschema.Schema{Maximum: p.Maximum, ExclusiveMaximum: p.ExclusiveMaximum}) {
		j.fail(at, "maximum", fmt.Sprintf("%s is too large: %s", shown(value),
			bound("at most", p.Maximum, "less than", p.ExclusiveMaximum)))
	}
	if p.MinLength != nil && only(jsonschema.Schema{MinLength: p.MinLength}) {
		j.fail(at, "minLength", "must not be empty")
	}
	if p.Pattern != "" && only(jsonschema.Schema{Pattern: p.Pattern}) {
		j.fail(at, "pattern", fmt.Sprintf("%s does not have the form %s", shown(value), p.Pattern))
	}
	if p.MinItems != nil && only(jsonschema.Schema{MinItems: p.MinItems}) {
		j.fail(at, "minItems", fmt.Sprintf("needs at least %d", *p.MinItems))
	}
	return true
}

// refuses reports whether the library refuses a value by a temporary schema, which is not cached.
func (st *store) refuses(p place, value any) bool {
	r, err := p.Resolve(nil)
	return err == nil && r.Validate(value) != nil
}

func (j *judge) explainObject(p place, m map[string]any, at string) {
	for _, name := range p.Required {
		if _, ok := m[name]; !ok {
			j.fail(ojson.Member(at, name), "required", fmt.Sprintf("the member %q is missing", name))
		}
	}
	for _, name := range sortedKeys(m) {
		s, known := p.Properties[name]
		switch {
		case known:
			j.explain(place{s, p.file}, m[name], ojson.Member(at, name))
		case p.AdditionalProperties == nil:
		case p.AdditionalProperties.Not != nil && isTrivial(p.AdditionalProperties):
			j.fail(ojson.Member(at, name), "additionalProperties", unknownMember(name, p.Properties))
		default:
			j.explain(place{p.AdditionalProperties, p.file}, m[name], ojson.Member(at, name))
		}
	}
}

// explainChoice reports a value that fits none of several schemas: by the one that its type shows
// to be meant, else by what all of them require.
func (j *judge) explainChoice(p place, list []*jsonschema.Schema, value any, at string) {
	if list == nil || !j.st.refusesAll(p, list, value) {
		return
	}
	var meant []place
	var wanted, types []string
	for _, s := range list {
		q := place{s, p.file}
		var t []string
		for _, f := range j.st.flat(q) {
			t = append(t, f.jsonTypes()...)
		}
		types = append(types, t...)
		if t == nil || fits(t, value) {
			meant = append(meant, q)
		}
		wanted = append(wanted, s.Required...)
	}
	_, isObject := value.(map[string]any)
	switch {
	case len(meant) == 0:
		slices.Sort(types)
		j.fail(at, "type", fmt.Sprintf("must be %s, not %s", oneOf(typeNames(slices.Compact(types))), shown(value)))
	case len(meant) == 1:
		j.explain(meant[0], value, at)
	case isObject && len(wanted) == len(list):
		j.fail(at, "anyOf", "needs at least one of the members "+strings.Join(wanted, ", "))
	default:
		j.explain(meant[0], value, at)
	}
}

// refusesAll reports whether the library refuses a value by a choice alone.
func (st *store) refusesAll(p place, list []*jsonschema.Schema, value any) bool {
	return !slices.ContainsFunc(list, func(s *jsonschema.Schema) bool {
		return st.accepts(place{s, p.file}, value) == nil
	})
}
