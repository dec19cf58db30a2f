// Reading one object: its members, aliases and defaults.

package wire

import (
	"reflect"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func (d *decoder) object(v ojson.Value, rv reflect.Value, at string) {
	l := layoutOf(rv.Type())
	if s, ok := v.(string); ok && l.bare >= 0 {
		rv.Addr().Interface().(opener).opened().bare = true
		rv.Field(l.members[l.bare].index).SetString(s)
		return
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		d.want(at, "an object", v)
		return
	}
	before := len(d.problems)
	if l.open {
		d.openObject(o, rv, at, l)
	} else {
		d.closedObject(o, rv, at, l)
	}
	if c, ok := rv.Addr().Interface().(Checker); ok && len(d.problems) == before {
		c.Check(func(member, rule, text string) {
			pointer := at
			if member != "" {
				pointer = ojson.Member(at, member)
			}
			d.fault(pointer, rule, text)
		})
	}
}

func (d *decoder) closedObject(o *ojson.Object, rv reflect.Value, at string, l *layout) {
	for key, v := range o.All() {
		i, ok := l.byName[key]
		if !ok {
			d.fault(ojson.Member(at, key), RuleUnknown, "is not a member of this object")
			continue
		}
		m := l.members[i]
		if v == nil && (m.mode == "omit" || m.mode == "null") {
			continue
		}
		d.into(v, rv.Field(m.index), ojson.Member(at, key), false)
	}
	for _, m := range l.members {
		if o.Has(m.name) {
			continue
		}
		field := rv.Field(m.index)
		switch {
		case m.mode == "":
			d.fault(ojson.Member(at, m.name), RuleMissing, "is required")
		case m.preset != "":
			field.SetString(m.preset)
		case m.mode == "default" && field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		}
	}
}

func (d *decoder) openObject(o *ojson.Object, rv reflect.Value, at string, l *layout) {
	extra := rv.Addr().Interface().(opener).opened()
	*extra = Open{seen: true}
	for key, v := range o.All() {
		name := key
		if canonical, ok := l.alias[key]; ok {
			if other, both := o.Get(canonical); both {
				if !ojson.Equal(v, other) {
					d.fault(ojson.Member(at, key), RuleAlias,
						"says something else than "+canonical+", of which it is the other name")
				}
				continue
			}
			if slices.Contains(extra.order, canonical) {
				if !ojson.Equal(v, extra.known[canonical]) {
					d.fault(ojson.Member(at, key), RuleAlias, "is a second name of "+canonical+" and says something else")
				}
				continue
			}
			name = canonical
		}
		i, ok := l.byName[name]
		if !ok {
			extra.order = append(extra.order, key)
			if extra.unknown == nil {
				extra.unknown = make(map[string]ojson.Value)
			}
			extra.unknown[key] = v
			continue
		}
		extra.order = append(extra.order, name)
		if extra.known == nil {
			extra.known = make(map[string]ojson.Value)
		}
		extra.known[name] = v
		m := l.members[i]
		if v == nil && m.mode != "" {
			continue
		}
		d.into(v, rv.Field(m.index), ojson.Member(at, key), true)
	}
}
