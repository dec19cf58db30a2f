// Members in document order: Map, and what it shares with Object.

package ojson

import (
	"iter"
	"slices"
)

// fewMembers is how many names are searched linearly, which costs less than an index.
const fewMembers = 24

// names holds the names of members in order, with their positions. They are independent of the type of value, and
// their lookups are not inlined: most packages read members in hundreds of places, which doubled their compile
// time.
type names struct {
	keys []string
	at   map[string]int // position of each name; nil for few
}

// Len returns the number of members.
func (n *names) Len() int { return len(n.keys) }

// Keys returns the names of the members in order. The caller must not modify it.
func (n *names) Keys() []string { return n.keys }

// Has reports whether the member exists.
func (n *names) Has(key string) bool { return n.find(key) >= 0 }

// find returns the position of a name, -1 for none.
func (n *names) find(key string) int { return n.among(n.keys, key) }

// among is find with the names that n will have.
//
//go:noinline
func (n *names) among(keys []string, key string) int {
	if n.at == nil {
		return slices.Index(keys, key)
	}
	if i, ok := n.at[key]; ok {
		return i
	}
	return -1
}

// append adds a new name.
func (n *names) append(key string) {
	n.keys = append(n.keys, key)
	n.note(n.keys)
}

// note takes the last of the names into the index.
//
//go:noinline
func (n *names) note(keys []string) {
	switch {
	case n.at != nil:
		n.at[keys[len(keys)-1]] = len(keys) - 1
	case len(keys) > fewMembers:
		n.index(keys)
	}
}

//go:noinline
func (n *names) index(keys []string) {
	n.at = nil
	if len(keys) <= fewMembers {
		return
	}
	n.at = make(map[string]int, len(keys))
	for i, k := range keys {
		n.at[k] = i
	}
}

// remove removes the name at position i without changing the list in place.
//
//go:noinline
func (n *names) remove(i int) {
	n.keys = slices.Delete(slices.Clone(n.keys), i, i+1)
	n.index(n.keys)
}

func (n *names) clone() names {
	c := names{keys: slices.Clip(n.keys)}
	c.index(c.keys)
	return c
}

// Map is a JSON object with values of one type, in document order. The zero value is empty and ready for use.
//
// Every package that uses one compiles its methods for that type: code that does not need V belongs in names and in
// the codec.
type Map[V any] struct {
	names
	vals []V
}

// Get returns the value of key and whether it exists.
func (m *Map[V]) Get(key string) (v V, ok bool) {
	if i := m.find(key); i >= 0 {
		return m.vals[i], true
	}
	return v, false
}

// Value returns the value of key, the zero value if it is missing.
func (m *Map[V]) Value(key string) V { v, _ := m.Get(key); return v }

// Set replaces the value of key in place, or appends it.
func (m *Map[V]) Set(key string, v V) {
	i := m.find(key)
	if i < 0 {
		i = len(m.vals)
		m.vals = append(m.vals, v)
		m.append(key)
	}
	m.vals[i] = v
}

// Delete removes key. A concurrent iteration over the members continues.
func (m *Map[V]) Delete(key string) {
	if i := m.find(key); i >= 0 {
		m.vals = append(append([]V(nil), m.vals[:i]...), m.vals[i+1:]...)
		m.remove(i)
	}
}

// Clone returns a copy; value copies each value, nil means they need no copying. The names are shared: they are
// never changed in place.
func (m *Map[V]) Clone(value func(V) V) Map[V] {
	c := Map[V]{m.names.clone(), append([]V(nil), m.vals...)}
	if value != nil {
		for i, v := range c.vals {
			c.vals[i] = value(v)
		}
	}
	return c
}

// All iterates in document order over the names present when it begins, each with its value when it is reached.
func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i, k := range m.keys {
			var v V
			if i < len(m.keys) && m.keys[i] == k {
				v = m.vals[i]
			} else {
				v, _ = m.Get(k)
			}
			if !yield(k, v) {
				return
			}
		}
	}
}

// reset and slot are for the codec.
func (m *Map[V]) reset() { *m = Map[V]{} }

func (m *Map[V]) slot(key string) any {
	i := m.find(key)
	if i < 0 {
		var v V
		i = len(m.vals)
		m.Set(key, v)
	}
	return &m.vals[i]
}
