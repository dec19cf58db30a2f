// Members in document order: what Object and Map have in common.

package ojson

import (
	"iter"
	"slices"
)

// fewMembers is up to where the names are looked through one by one, which costs less
// than an index of them.
const fewMembers = 24

// members are names with values in order. The zero value has none.
type members[V any] struct {
	keys []string
	vals []V
	at   map[string]int // place of each name; nil for few
}

// find returns the place of a name, -1 for none.
func (m *members[V]) find(key string) int {
	if m.at == nil {
		return slices.Index(m.keys, key)
	}
	if i, ok := m.at[key]; ok {
		return i
	}
	return -1
}

func (m *members[V]) get(key string) (v V, ok bool) {
	if i := m.find(key); i >= 0 {
		return m.vals[i], true
	}
	return v, false
}

// put replaces the value of a name in place, or appends it.
func (m *members[V]) put(key string, v V) {
	if i := m.find(key); i >= 0 {
		m.vals[i] = v
		return
	}
	m.add(key, v)
}

// grow makes room for n more members at once.
func (m *members[V]) grow(n int) {
	m.keys, m.vals = slices.Grow(m.keys, n), slices.Grow(m.vals, n)
}

// add appends a name that is not there yet.
func (m *members[V]) add(key string, v V) {
	m.keys, m.vals = append(m.keys, key), append(m.vals, v)
	switch {
	case m.at != nil:
		m.at[key] = len(m.keys) - 1
	case len(m.keys) > fewMembers:
		m.index()
	}
}

func (m *members[V]) index() {
	m.at = nil
	if len(m.keys) <= fewMembers {
		return
	}
	m.at = make(map[string]int, len(m.keys))
	for i, k := range m.keys {
		m.at[k] = i
	}
}

// remove takes a name out. A walk over the members that is under way goes on.
func (m *members[V]) remove(key string) {
	i := m.find(key)
	if i < 0 {
		return
	}
	m.keys = slices.Delete(slices.Clone(m.keys), i, i+1)
	m.vals = slices.Delete(slices.Clone(m.vals), i, i+1)
	m.index()
}

// clone returns a copy; value copies each value, nil means they need no copying.
func (m *members[V]) clone(value func(V) V) members[V] {
	c := members[V]{keys: slices.Clone(m.keys), vals: slices.Clone(m.vals)}
	if value != nil {
		for i, v := range c.vals {
			c.vals[i] = value(v)
		}
	}
	c.index()
	return c
}

// all iterates over the names there are when it begins, each with the value it has when
// its turn comes.
func (m *members[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i, k := range m.keys {
			var v V
			if i < len(m.keys) && m.keys[i] == k {
				v = m.vals[i]
			} else {
				v, _ = m.get(k)
			}
			if !yield(k, v) {
				return
			}
		}
	}
}
