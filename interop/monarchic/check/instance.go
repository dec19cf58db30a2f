// Documents in the form that the schema library accepts.

package check

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// instance turns v into maps, slices and Go numbers, as far as the places look at it: parts that no
// schema describes are left empty, so that a free-form object of any size costs nothing and appears
// in no message. Integers stay exact up to 64 bits.
func (st *store) instance(places []place, v ojson.Value) any {
	switch v := v.(type) {
	case *ojson.Object:
		if len(places) == 0 {
			return map[string]any{}
		}
		flat := st.allFlat(places)
		m := make(map[string]any, v.Len())
		for k, e := range v.All() {
			m[k] = st.instance(member(flat, k), e)
		}
		return m
	case []any:
		flat := st.allFlat(places)
		below := items(flat)
		if len(below) == 0 && !slices.ContainsFunc(flat, func(p place) bool { return p.MinItems != nil }) {
			return []any{}
		}
		a := make([]any, len(v))
		for i, e := range v {
			a[i] = st.instance(below, e)
		}
		return a
	case ojson.Number:
		n, _ := number(v)
		return n
	}
	return v
}

// isOdd reports whether a document contains something that no other program could read: a number
// beyond a double or a lone surrogate; oddities finds it.
func isOdd(v ojson.Value) bool {
	switch v := v.(type) {
	case *ojson.Object:
		for k, e := range v.All() {
			if loneSurrogate(k) || isOdd(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, isOdd)
	case ojson.Number:
		_, odd := number(v)
		return odd
	case string:
		return loneSurrogate(v)
	}
	return false
}

// number reads a number; odd when it is larger than a double.
func number(n ojson.Number) (value any, odd bool) {
	s := string(n)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, false
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f), true
	}
	if f == math.MinInt64 && s != "-9223372036854775808" && !strings.ContainsAny(s, ".eE") {
		f = math.Nextafter(f, math.Inf(-1)) // below the least 64-bit integer, to which it was rounded
	}
	return f, false
}

// loneSurrogate finds a lone surrogate, which ojson keeps as the three bytes ED A0..BF xx.
func loneSurrogate(s string) bool {
	for {
		i := strings.IndexByte(s, 0xED)
		if i < 0 || i+1 >= len(s) {
			return false
		}
		if s[i+1] >= 0xA0 {
			return true
		}
		s = s[i+1:]
	}
}

// oddities reports what made instance call a document odd.
func (j *judge) oddities(v ojson.Value, at string) {
	switch v := v.(type) {
	case *ojson.Object:
		for k, e := range v.All() {
			if loneSurrogate(k) {
				j.surrogate(ojson.Member(at, k))
			}
			j.oddities(e, ojson.Member(at, k))
		}
	case []any:
		for i, e := range v {
			j.oddities(e, ojson.Item(at, i))
		}
	case ojson.Number:
		if _, odd := number(v); odd {
			j.fail(at, "number.range", "the number is larger than any program can take")
		}
	case string:
		if loneSurrogate(v) {
			j.surrogate(at)
		}
	}
}

func (j *judge) surrogate(at string) {
	j.fail(at, "text.surrogate", "half of a surrogate pair stands alone, which is not a character")
}
