// Differences between two documents, member by member.

package ojson

import (
	"slices"
)

// Difference is one place where two documents differ.
type Difference struct {
	At            string // JSON pointer
	Before, After Value
	Had, Has      bool // whether the place exists before, and after
}

// Object returns the difference as {at, before, after}: a side that lacks the place has no member.
func (d Difference) Object() *Object {
	o := NewObject("at", d.At)
	if d.Had {
		o.Set("before", d.Before)
	}
	if d.Has {
		o.Set("after", d.After)
	}
	return o
}

// Differences lists where b differs from a, as deep as possible. What is in only one of the two is one difference,
// with everything below it. A nil document is an empty one.
func Differences(a, b *Object) []Difference { return memberDifferences("", a, b) }

func valueDifferences(at string, a, b Value) []Difference {
	switch x := a.(type) {
	case *Object:
		if y, ok := b.(*Object); ok {
			return memberDifferences(at, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return entryDifferences(at, x, y)
		}
	}
	if Equal(a, b) {
		return nil
	}
	return []Difference{{at, a, b, true, true}}
}

func memberDifferences(at string, a, b *Object) []Difference {
	var out []Difference
	for _, k := range UnionKeys(a, b) {
		was, had := a.Get(k)
		now, has := b.Get(k)
		path := Member(at, k)
		if had && has {
			out = append(out, valueDifferences(path, was, now)...)
		} else {
			out = append(out, Difference{path, was, now, had, has})
		}
	}
	return out
}

// UnionKeys returns the members of b, then those that only a has.
func UnionKeys(a, b *Object) []string {
	keys := slices.Clone(b.Keys())
	for _, k := range a.Keys() {
		if !b.Has(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// entryDifferences leaves out the common beginning and end of two lists.
func entryDifferences(at string, a, b []any) []Difference {
	start := 0
	for start < min(len(a), len(b)) && Equal(a[start], b[start]) {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && Equal(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
	}
	place := func(i int) string { return Item(at, i) }
	var out []Difference
	both := 0
	if endA-start == endB-start {
		both = endA - start // compare entries at the same index
	}
	for i := start; i < start+both; i++ {
		out = append(out, valueDifferences(place(i), a[i], b[i])...)
	}
	for i := start + both; i < endA; i++ {
		out = append(out, Difference{At: place(i), Before: a[i], Had: true})
	}
	for i := start + both; i < endB; i++ {
		out = append(out, Difference{At: place(i), After: b[i], Has: true})
	}
	return out
}
