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
func (m *members[V]) find(key string) int { return m.among(m.keys, key) }

// among is find with the names that m will have.
func (m *members[V]) among(keys []string, key string) int {
	if m.at == nil {
		return slices.Index(keys, key)
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
	m.note(m.keys)
}

// note takes the last of the names into the index.
func (m *members[V]) note(keys []string) {
	switch {
	case m.at != nil:
		m.at[keys[len(keys)-1]] = len(keys) - 1
	case len(keys) > fewMembers:
		m.index(keys)
	}
}

func (m *members[V]) index(keys []string) {
	m.at = nil
	if len(keys) <= fewMembers {
		return
	}
	m.at = make(map[string]int, len(keys))
	for i, k := range keys {
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
	m.index(m.keys)
}

// clone returns a copy; value copies each value, nil means they need no copying. The names
// are shared: none is ever changed where it stands.
func (m *members[V]) clone(value func(V) V) members[V] {
	c := members[V]{keys: slices.Clip(m.keys), vals: slices.Clone(m.vals)}
	if value != nil {
		for i, v := range c.vals {
			c.vals[i] = value(v)
		}
	}
	c.index(c.keys)
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
