// Schemas made from Go types that internal/ojson encodes.

package schematest

import (
	"reflect"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// OfType describes what ojson.Marshal writes for a struct: the members in its json tags, those without omitempty
// required. Named structs in it become definitions; unknown members are allowed.
func OfType(t reflect.Type) *ojson.Object {
	m := &typeMaker{defs: &ojson.Object{}}
	out := m.members(t)
	if m.defs.Len() > 0 {
		out.Set("$defs", m.defs)
	}
	return out
}

type typeMaker struct{ defs *ojson.Object }

func (m *typeMaker) members(t reflect.Type) *ojson.Object {
	members, required := &ojson.Object{}, []string{}
	m.add(t, members, &required)
	out := ojson.NewObject("type", "object", "properties", members)
	if len(required) > 0 {
		out.Set("required", required)
	}
	return out
}

func (m *typeMaker) add(t reflect.Type, members *ojson.Object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("json")
		if !ok && f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[ojson.Extra]() {
			m.add(f.Type, members, required)
		}
		if !ok || tag == "-" {
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		members.Set(name, m.of(f.Type))
		if opts != "omitempty" {
			*required = append(*required, name)
		}
	}
}

func (m *typeMaker) of(t reflect.Type) *ojson.Object {
	switch {
	case t == reflect.TypeFor[*ojson.Object]():
		return ojson.NewObject("type", []string{"object", "null"})
	case t.Kind() == reflect.Interface:
		return &ojson.Object{}
	case t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Map["):
		get, _ := reflect.PointerTo(t).MethodByName("Get")
		return ojson.NewObject("type", "object", "additionalProperties", m.of(present(get.Type.Out(0))))
	case t.Kind() == reflect.Struct:
		if !m.defs.Has(t.Name()) {
			m.defs.Set(t.Name(), &ojson.Object{}) // the type may be recursive
			m.defs.Set(t.Name(), m.members(t))
		}
		return ojson.NewObject("$ref", "#/$defs/"+t.Name())
	}
	switch t.Kind() {
	case reflect.Pointer:
		of := m.of(t.Elem())
		if of.Has("type") {
			of.Set("type", append([]string{of.String("type")}, "null"))
			return of
		}
		return ojson.NewObject("anyOf", []*ojson.Object{of, ojson.NewObject("type", "null")})
	case reflect.Slice:
		return ojson.NewObject("type", "array", "items", m.of(present(t.Elem())))
	case reflect.Bool:
		return ojson.NewObject("type", "boolean")
	case reflect.Int, reflect.Int64:
		return ojson.NewObject("type", "integer")
	case reflect.Float64:
		return ojson.NewObject("type", "number")
	case reflect.String:
		return ojson.NewObject("type", "string")
	}
	panic("schematest: " + t.String() + " is of a kind that internal/ojson does not encode")
}

// present returns the type of an entry, which is never null.
func present(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && t != reflect.TypeFor[*ojson.Object]() {
		return t.Elem()
	}
	return t
}
