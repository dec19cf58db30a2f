// The spellings that a portable document may use besides the canonical ones, and the early names of lease
// times.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// canonical returns v in the spelling that the schemas describe (docs/monarchic.md): in the
// portable family snake_case for lowerCamelCase members and numbers for integers written as decimal
// strings. v itself is not changed; unchanged parts are shared with it.
func (j *judge) canonical(places []place, v ojson.Value, at string) ojson.Value {
	flat := j.st.allFlat(places)
	switch v := v.(type) {
	case *ojson.Object:
		return j.canonicalObject(flat, v, at)
	case []any:
		below := items(flat)
		if len(below) == 0 {
			return v
		}
		out, changed := v, false
		for i, e := range v {
			c := j.canonical(below, e, ojson.Item(at, i))
			if same(c, e) {
				continue
			}
			if !changed {
				out, changed = slices.Clone(v), true
			}
			out[i] = c
		}
		return out
	case string:
		if isDecimal(v) && wantsInteger(flat) {
			return ojson.Number(v)
		}
	}
	return v
}

func (j *judge) canonicalObject(flat []place, v *ojson.Object, at string) ojson.Value {
	var out *ojson.Object // v in canonical spelling, once it differs
	differ := func(k string) {
		if out != nil {
			return
		}
		out = &ojson.Object{}
		for name, e := range v.All() {
			if name == k {
				return
			}
			out.Set(name, e)
		}
	}
	for k, e := range v.All() {
		name := j.canonicalName(flat, k)
		if name != k {
			differ(k)
			if own, both := v.Get(name); both {
				if !ojson.Equal(own, e) {
					j.fail(ojson.Member(at, k), "alias.conflict",
						fmt.Sprintf("%q and %q are the same member, and differ", k, name))
				}
				continue
			}
			j.spell(ojson.Member(at, name), k)
		}
		c := e
		if below := member(flat, name); len(below) > 0 {
			if c = j.canonical(below, e, ojson.Member(at, name)); !same(c, e) {
				differ(k)
			}
		}
		if out != nil {
			out.Set(name, c)
		}
	}
	if out == nil {
		return v
	}
	return out
}

// canonicalName returns the schemas' name of a member: the name itself unless it is another
// spelling of one of theirs.
func (j *judge) canonicalName(flat []place, k string) string {
	for _, p := range flat {
		if _, ok := p.Properties[k]; ok {
			return k
		}
	}
	for _, p := range flat {
		if Type(p.file).Strict() && !j.opts.Lenient {
			continue
		}
		if name := meantBy(p, k); name != "" {
			return name
		}
	}
	return k
}

// meantBy returns the member of a place that k is another spelling of; "" for none.
func meantBy(p place, k string) string {
	if Type(p.file).Strict() {
		if name := k + "_ms"; strings.HasPrefix(p.file, "durable_authority/") && isEarly(k) &&
			p.Properties[name] != nil {
			return name
		}
		return ""
	}
	if !mixed(k) {
		return ""
	}
	for name := range p.Properties {
		if wire.LowerCamel(name) == k {
			return name
		}
	}
	return ""
}

func (j *judge) spell(pointer, name string) {
	if j.spelled == nil {
		j.spelled = map[string]string{}
	}
	j.spelled[pointer] = name
}

// isEarly reports the short names that an early revision gave to the times of the durable authority
// surface.
func isEarly(k string) bool { return k == "issued_at" || k == "expires_at" || k == "occurred_at" }

// mixed reports whether a name has capitals, as every lowerCamelCase spelling of a member has.
func mixed(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return 'A' <= r && r <= 'Z' })
}

// isDecimal reports whether s is an integer as protobuf writes a 64-bit one.
func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 20 || digits[0] == '0' && digits != "0" {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// wantsInteger reports whether portable places accept an integer and no string.
func wantsInteger(flat []place) bool {
	integer := false
	for _, p := range flat {
		types := p.jsonTypes()
		if Type(p.file).Strict() || slices.Contains(types, "string") {
			return false
		}
		integer = integer || slices.Contains(types, "integer")
	}
	return integer
}

// same reports whether two values are identical, without looking inside.
func same(a, b ojson.Value) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	case *ojson.Object:
		b, ok := b.(*ojson.Object)
		return ok && a == b
	}
	if _, ok := b.([]any); ok {
		return false
	}
	return a == b
}
