// The values of a document, and the object that preserves the order of its members.

package ojson

import (
	"iter"
	"math"
	"slices"
	"strconv"
)

// A Value is one of nil, bool, Number, string, []any or *Object.
//
// Strings hold WTF-8: a lone surrogate escape (which JavaScript writers emit
// when they cut text at a UTF-16 boundary) is kept as its three-byte form and
// written back as the same escape.
type Value = any

// Number is a JSON number in the spelling it was read with.
type Number string

// Int returns a Number for n.
func Int(n int) Number { return Number(strconv.Itoa(n)) }

// Float returns a Number spelled the way ECMAScript prints a double.
func Float(f float64) Number {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return "0"
	}
	abs := math.Abs(f)
	if abs >= 1e-6 && abs < 1e21 {
		return Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	// ECMAScript writes 1e-7, Go writes 1e-07.
	if n := len(s); n >= 4 && s[n-2] == '0' && (s[n-3] == '-' || s[n-3] == '+') {
		s = s[:n-2] + s[n-1:]
	}
	return Number(s)
}

// Float64 returns the number as a double; false when it is out of range.
func (n Number) Float64() (float64, bool) {
	f, err := strconv.ParseFloat(string(n), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// Int64 returns the number when it is an integer in any notation (1, 1.0, 1e0).
func (n Number) Int64() (int64, bool) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, true
	}
	f, ok := n.Float64()
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Object is a JSON object that remembers the order of its members. The zero
// value is an empty object ready for use; a nil *Object reads as empty.
type Object struct{ anyMap }

type anyMap = Map[any]

// OrNull returns s as a value, null for the empty string.
func OrNull(s string) Value {
	if s == "" {
		return nil
	}
	return s
}

// NewObject builds an object from alternating keys and values.
func NewObject(pairs ...any) *Object {
	o := withRoom(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// withRoom returns an empty object with room for n members.
func withRoom(n int) *Object {
	return &Object{anyMap{names: names{keys: make([]string, 0, n)}, vals: make([]any, 0, n)}}
}

// Len returns the number of members.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// Keys returns the member names in order. The caller must not modify it.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// Get returns the value of key, and whether the member exists. Like the methods of names, it is not inlined; nor
// are the others that most packages call in many places.
//
//go:noinline
func (o *Object) Get(key string) (Value, bool) {
	if o == nil {
		return nil, false
	}
	return o.anyMap.Get(key)
}

// Value returns the value of key, nil if it is missing.
//
//go:noinline
func (o *Object) Value(key string) Value { v, _ := o.Get(key); return v }

// Has reports whether the member exists, null included.
func (o *Object) Has(key string) bool { _, ok := o.Get(key); return ok }

// Set replaces the value of key in place, or appends a new member. Go ints,
// floats, []string and []*Object are converted to their Value forms.
//
//go:noinline
func (o *Object) Set(key string, v any) {
	o.anyMap.Set(key, Of(v))
}

// Delete removes a member; a missing member is not an error.
func (o *Object) Delete(key string) {
	if o != nil {
		o.anyMap.Delete(key)
	}
}

// All iterates the members in order.
func (o *Object) All() iter.Seq2[string, Value] {
	if o == nil {
		o = &Object{}
	}
	return o.anyMap.All()
}

// String returns the member when it is a string, else "".
func (o *Object) String(key string) string {
	s, _ := o.Value(key).(string)
	return s
}

// Bool returns the member when it is literally true.
func (o *Object) Bool(key string) bool {
	b, _ := o.Value(key).(bool)
	return b
}

// Int returns the member when it is an integer number.
func (o *Object) Int(key string) (int, bool) {
	n, ok := o.Value(key).(Number)
	if !ok {
		return 0, false
	}
	i, ok := n.Int64()
	return int(i), ok
}

// Float returns the member when it is a number.
func (o *Object) Float(key string) (float64, bool) {
	n, ok := o.Value(key).(Number)
	if !ok {
		return 0, false
	}
	return n.Float64()
}

// Object returns the member when it is an object, else nil.
func (o *Object) Object(key string) *Object {
	c, _ := o.Value(key).(*Object)
	return c
}

// Array returns the member when it is an array, else nil.
func (o *Object) Array(key string) []any {
	a, _ := o.Value(key).([]any)
	return a
}

// Strings returns the string items of an array member, skipping other items.
func (o *Object) Strings(key string) []string {
	var out []string
	for _, v := range o.Array(key) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Objects returns the object items of an array member, skipping other items.
func (o *Object) Objects(key string) []*Object {
	var out []*Object
	for _, v := range o.Array(key) {
		if c, ok := v.(*Object); ok {
			out = append(out, c)
		}
	}
	return out
}

// Clone returns a deep copy.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	return &Object{o.anyMap.Clone(CloneValue)}
}

// CloneValue returns a deep copy of v.
func CloneValue(v Value) Value {
	switch v := v.(type) {
	case *Object:
		return v.Clone()
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = CloneValue(v[i])
		}
		return c
	}
	return v
}

// Of converts the Go values that callers build records from into Values:
// ints, floats, string slices, object slices and nil pointers. Other values
// pass through unchanged.
func Of(v any) Value {
	switch v := v.(type) {
	case int:
		return Int(v)
	case int64:
		return Number(strconv.FormatInt(v, 10))
	case float64:
		return Float(v)
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case *Object:
		if v == nil {
			return nil
		}
		return v
	case []string:
		a := make([]any, len(v))
		for i, s := range v {
			a[i] = s
		}
		return a
	case []*Object:
		a := make([]any, len(v))
		for i, s := range v {
			a[i] = s
		}
		return a
	}
	return v
}

// List returns the objects of a list, in its order. It is empty, not nil, for an empty list: an array
// of an answer is never null.
func List[T any](list []T, object func(T) *Object) []*Object {
	out := make([]*Object, len(list))
	for i, e := range list {
		out[i] = object(e)
	}
	return out
}

// Equal reports whether a and b are the same JSON value: object member order
// does not matter, number spelling does not matter, types do.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case *Object:
		bo, ok := b.(*Object)
		if !ok || a.Len() != bo.Len() {
			return false
		}
		for k, v := range a.All() {
			w, ok := bo.Get(k)
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		ba, ok := b.([]any)
		return ok && slices.EqualFunc(a, ba, Equal)
	case Number:
		bn, ok := b.(Number)
		if !ok {
			return false
		}
		if a == bn {
			return true
		}
		x, okx := a.Float64()
		y, oky := bn.Float64()
		return okx && oky && x == y
	}
	switch b.(type) {
	case *Object, []any, Number:
		return false
	}
	return a == b
}
