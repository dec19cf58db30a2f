// Expectations changed so that no outcome which satisfied them before satisfies them now.

package conformance

import (
	"math/rand/v2"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// alteration is a changed expectation. Whatever satisfied the old one does not satisfy it
// (docs/conformance.md#checking): a pinned value became another, an array got another length, an assertion asks for
// what cannot exist.
type alteration struct {
	where    string // path of the change
	expected ojson.Value
}

// site is a place in an expectation that can be changed with a certain effect.
type site struct {
	where     string
	key       string // nearest member name
	value     ojson.Value
	put       func(ojson.Value) ojson.Value // the whole expectation with another value here
	unordered bool                          // below an unordered_array: only new values have a certain effect
	structure bool                          // change the shape, not the value
}

// alter changes an expectation at one place. When structure is set it prefers places where the shape changes,
// otherwise pinned values. It returns false when no such place exists.
func (c *Challenger) alter(expected ojson.Value, rng *rand.Rand, structure bool) (alteration, bool) {
	var all, preferred []site
	collect(site{where: "$", value: expected, put: func(v ojson.Value) ojson.Value { return v }}, 0, &all)
	for _, s := range all {
		if s.structure == structure {
			preferred = append(preferred, s)
		}
	}
	if len(preferred) == 0 {
		preferred = all
	}
	if len(preferred) == 0 {
		return alteration{}, false
	}
	s := preferred[rng.IntN(len(preferred))]
	return alteration{s.where, s.put(c.other(s, rng))}, true
}

// collect lists the sites of the expectation at s. The decoder bounds the depth.
func collect(s site, depth int, out *[]site) {
	switch v := s.value.(type) {
	case *ojson.Object:
		if isString(v.Value("assert")) {
			collectAssertion(s, v, depth, out)
			return
		}
		shape := s
		shape.structure = true
		*out = append(*out, shape)
		for k, member := range v.All() {
			// A member named assert could turn the pattern into an assertion.
			if k == hintKey || k == "assert" {
				continue
			}
			collect(site{where: s.where + "." + k, key: k, value: member, unordered: s.unordered,
				put: func(n ojson.Value) ojson.Value { return s.put(withMember(v, k, n)) }}, depth+1, out)
		}
	case []any:
		shape := s
		shape.structure = true
		*out = append(*out, shape)
		for i, item := range v {
			collect(site{where: s.where + "[" + strconv.Itoa(i) + "]", key: s.key, value: item, unordered: s.unordered,
				put: func(n ojson.Value) ojson.Value { return s.put(withItem(v, i, n)) }}, depth+1, out)
		}
	default:
		*out = append(*out, s)
	}
}

func collectAssertion(s site, v *ojson.Object, depth int, out *[]site) {
	items, isList := v.Array("items"), v.String("assert") == "unordered_array"
	if !isList {
		s.structure = true
		*out = append(*out, s)
		return
	}
	putItems := func(n ojson.Value) ojson.Value { return s.put(withMember(v, "items", n)) }
	*out = append(*out, site{where: s.where, key: s.key, value: items, put: putItems, structure: true})
	for i, item := range items {
		collect(site{where: s.where + ".items[" + strconv.Itoa(i) + "]", key: s.key, value: item, unordered: true,
			put: func(n ojson.Value) ojson.Value { return putItems(withItem(items, i, n)) }}, depth+1, out)
	}
}

// other returns the value that replaces the one at s.
func (c *Challenger) other(s site, rng *rand.Rand) ojson.Value {
	switch v := s.value.(type) {
	case *ojson.Object:
		switch v.String("assert") {
		case "id_prefix":
			return withMember(v, "value", freshWord(rng)+"_")
		case "":
			// Half the time a member that no outcome has; else not an object at all.
			if rng.IntN(2) == 0 {
				return withMember(v, freshWord(rng), freshWord(rng))
			}
		}
		return freshWord(rng)
	case []any:
		if n := len(v); n > 0 && rng.IntN(2) == 0 {
			return append([]any{}, v[:n-1]...)
		}
		return append(append([]any{}, v...), freshWord(rng))
	case bool:
		if !s.unordered {
			return !v
		}
	case ojson.Number:
		if f, ok := v.Float64(); ok && !s.unordered && f > -1e9 && f < 1e9 {
			return ojson.Float(f + float64(1+rng.IntN(9)))
		}
	case string:
		// A word that is right elsewhere is the hardest to detect.
		if pool := c.pool[s.key]; len(pool) > 1 && !s.unordered {
			if w := pool[rng.IntN(len(pool))]; w != v {
				return w
			}
		}
	}
	return freshWord(rng)
}

func withMember(o *ojson.Object, key string, v ojson.Value) *ojson.Object {
	out := o.Clone()
	out.Set(key, v)
	return out
}

func withItem(list []any, i int, v ojson.Value) []any {
	out := append([]any{}, list...)
	out[i] = v
	return out
}

// freshWord returns text that occurs nowhere else.
func freshWord(rng *rand.Rand) string { return letters(rng, 12) }

// letters returns a pronounceable made-up word.
func letters(rng *rand.Rand, n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	b := make([]byte, n)
	for i := range b {
		from := consonants
		if i%2 == 1 {
			from = vowels
		}
		b[i] = from[rng.IntN(len(from))]
	}
	return string(b)
}
