// Members of agentxchain.json whose names look misspelt (docs/spec/configuration.md).

package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"github.com/git-agentxchain/git-agentxchain/docs/schemas"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ProblemMisspelt is the code of such a member.
const ProblemMisspelt = "member_misspelt"

const (
	maxMisspelt = 20
	maxMember   = 64 // bytes of a name that is compared
)

// misspelt lists members that the published schema does not know and that resemble one that it knows in their place:
// a gate with requires_humam_approval asks no person. Other unknown members are another tool's own and left alone.
func misspelt(config *ojson.Object) wire.Problems {
	schema, err := ojson.DecodeObject(schemas.Config)
	if err != nil {
		return nil // a test decodes it
	}
	s := &speller{definitions: schema.Object("$defs")}
	s.value([]*ojson.Object{schema}, config, "")
	return s.found
}

type speller struct {
	definitions *ojson.Object
	found       wire.Problems
}

// value checks a value that may match any of some schemas.
func (s *speller) value(under []*ojson.Object, v ojson.Value, at string) {
	under = s.spread(under)
	switch v := v.(type) {
	case *ojson.Object:
		s.members(under, v, at)
	case []any:
		var items []*ojson.Object
		for _, u := range under {
			items = append(items, u.Object("items"))
		}
		for i, e := range v {
			s.value(items, e, fmt.Sprintf("%s[%d]", at, i))
		}
	}
}

func (s *speller) members(under []*ojson.Object, v *ojson.Object, at string) {
	known := make(map[string][]*ojson.Object)
	var others []*ojson.Object // of members that may have any name
	for _, u := range under {
		for name := range u.Object("properties").All() {
			known[name] = append(known[name], u.Object("properties").Object(name))
		}
		if o := u.Object("additionalProperties"); o != nil {
			others = append(others, o)
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for name, member := range v.All() {
		field := strings.TrimPrefix(at+"."+name, ".")
		if next := append(known[name], others...); len(next) > 0 {
			s.value(next, member, field)
		} else if near := nearest(name, names); near != "" && len(s.found) < maxMisspelt {
			s.found = append(s.found, wire.Problem{
				Code:    ProblemMisspelt,
				Field:   field,
				Value:   name,
				Message: fmt.Sprintf("nothing reads %s; did you mean %s?", field, near),
			})
		}
	}
}

// spread adds the schemas that the given ones refer to, and those that apply under a condition.
func (s *speller) spread(list []*ojson.Object) (out []*ojson.Object) {
	for _, o := range list {
		if o == nil {
			continue
		}
		next := []*ojson.Object{o.Object("if"), o.Object("then"), o.Object("else")}
		if name, ok := strings.CutPrefix(o.String("$ref"), "#/$defs/"); ok {
			next = append(next, s.definitions.Object(name))
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			next = append(next, o.Objects(key)...)
		}
		for name := range o.Object("dependentSchemas").All() {
			next = append(next, o.Object("dependentSchemas").Object(name))
		}
		out = append(append(out, o), s.spread(next)...)
	}
	return out
}

// nearest returns the known name that differs from name by a typing slip, "" for none.
func nearest(name string, known []string) string {
	if len(name) < 4 || len(name) > maxMember {
		return ""
	}
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	best, least := "", 2
	if len(name) >= 6 {
		least = 3
	}
	for _, k := range known {
		if d := len(k) - len(name); d > 4 || d < -4 {
			continue
		}
		if d := smetrics.WagnerFischer(plain(name), plain(k), 1, 1, 1); d < least {
			best, least = k, d
		}
	}
	return best
}
