package ojson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Extra, as a field of a struct, receives the members that no other field names and remembers the order in which
// all members were read. Marshal restores both, so a document written by another implementation survives our
// rewrite.
type Extra struct {
	order   []string
	unknown map[string]Value
}

// Get returns an unknown member.
func (e *Extra) Get(key string) (Value, bool) { v, ok := e.unknown[key]; return v, ok }

// Value returns the value of an unknown member, nil if it is missing.
func (e *Extra) Value(key string) Value { return e.unknown[key] }

// Set adds or replaces an unknown member.
func (e *Extra) Set(key string, v any) {
	if e.unknown == nil {
		e.unknown = make(map[string]Value)
	}
	if _, ok := e.unknown[key]; !ok && !slices.Contains(e.order, key) {
		e.order = append(slices.Clip(e.order), key)
	}
	e.unknown[key] = Of(v)
}

// Delete removes an unknown member.
func (e *Extra) Delete(key string) { delete(e.unknown, key) }

// Clone returns an independent copy; value copies each unknown member, nil
// means CloneValue.
func (e *Extra) Clone(value func(Value) Value) Extra {
	c := Extra{order: slices.Clip(e.order)} // it is never changed in place
	if value == nil {
		value = CloneValue
	}
	if e.unknown != nil {
		c.unknown = make(map[string]Value, len(e.unknown))
		for k, v := range e.unknown {
			c.unknown[k] = value(v)
		}
	}
	return c
}

// Keys returns the names of the unknown members in document order.
func (e *Extra) Keys() []string {
	var out []string
	for _, k := range e.order {
		if _, ok := e.unknown[k]; ok {
			out = append(out, k)
		}
	}
	return out
}

// FieldError is one member whose value has the wrong type.
type FieldError struct {
	Path string // a.b[2].c
	Want string // "a string"
	Got  string // "a number"
}

func (e FieldError) Error() string {
	return fmt.Sprintf("%s must be %s, not %s", e.Path, e.Want, e.Got)
}

// slots is a Map of any type, for which the codec knows values by reflection only.
type slots interface {
	Keys() []string
	reset()
	slot(key string) any // a pointer to the value of key, which is created if missing
}

func decodeMap(m slots, v Value, path string, errs *[]FieldError) {
	o, ok := v.(*Object)
	if !ok {
		if v != nil {
			*errs = append(*errs, FieldError{path, "an object", TypeName(v)})
		}
		return
	}
	m.reset()
	for k, e := range o.All() {
		decodeInto(e, reflect.ValueOf(m.slot(k)).Elem(), path+"."+k, errs)
	}
}

func encodeMap(m slots) *Object {
	o := &Object{}
	for _, k := range m.Keys() {
		o.Set(k, encodeValue(reflect.ValueOf(m.slot(k)).Elem()))
	}
	return o
}

// Unmarshal fills the struct that dst points to from o and returns every member of the wrong type; those members
// keep their zero value.
//
// Field types: string, bool, int, float64, pointers to these and to structs (nil is null), slices, Map, structs,
// Value (any JSON), *Object. The fields of an embedded struct are members of the object itself.
func Unmarshal(o *Object, dst any) []FieldError {
	var errs []FieldError
	decodeStruct(o, reflect.ValueOf(dst).Elem(), "", &errs)
	return errs
}

// Marshal returns src (a struct or a pointer to one) as an object: members in
// the order they were read, new members after them in field order. Fields
// tagged omitempty are left out when zero.
func Marshal(src any) *Object {
	rv := reflect.ValueOf(src)
	if rv.Kind() != reflect.Pointer {
		p := reflect.New(rv.Type())
		p.Elem().Set(rv)
		rv = p
	}
	return encodeStruct(rv.Elem())
}

type field struct {
	index     []int
	name      string
	omitEmpty bool
}

type layout struct {
	fields []field
	byName map[string]int
	extra  int // field index of Extra, or -1
}

var (
	layouts   sync.Map // reflect.Type -> *layout
	extraType = reflect.TypeFor[Extra]()
	anyType   = reflect.TypeFor[any]()
	objType   = reflect.TypeFor[*Object]()
	slotsType = reflect.TypeFor[slots]()
)

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{extra: -1, byName: make(map[string]int)}
	l.add(t, nil)
	layouts.Store(t, l)
	return l
}

// add adds the fields of t, which is at index path at of the struct. The members of an embedded struct without a
// tag belong to the enclosing object.
func (l *layout) add(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == extraType {
			if len(at) == 0 {
				l.extra = i
			}
			continue
		}
		path := append(slices.Clip(at), i)
		tag, ok := f.Tag.Lookup("json")
		if !ok && f.Anonymous && f.Type.Kind() == reflect.Struct {
			l.add(f.Type, path)
			continue
		}
		if !ok || tag == "-" {
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		l.byName[name] = len(l.fields)
		l.fields = append(l.fields, field{path, name, opts == "omitempty"})
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func decodeStruct(o *Object, rv reflect.Value, path string, errs *[]FieldError) {
	l := layoutOf(rv.Type())
	var extra *Extra
	if l.extra >= 0 {
		extra = rv.Field(l.extra).Addr().Interface().(*Extra)
		*extra = Extra{order: slices.Clip(o.Keys())}
	}
	for k, v := range o.All() {
		if i, ok := l.byName[k]; ok {
			decodeInto(v, rv.FieldByIndex(l.fields[i].index), join(path, k), errs)
		} else if extra != nil {
			if extra.unknown == nil {
				extra.unknown = make(map[string]Value)
			}
			extra.unknown[k] = v
		}
	}
}

func decodeInto(v Value, rv reflect.Value, path string, errs *[]FieldError) {
	bad := func(want string) { *errs = append(*errs, FieldError{path, want, TypeName(v)}) }
	t := rv.Type()
	switch {
	case t == anyType:
		if v != nil {
			rv.Set(reflect.ValueOf(v))
		}
		return
	case t == objType:
		if o, ok := v.(*Object); ok {
			rv.Set(reflect.ValueOf(o))
		} else if v != nil {
			bad("an object")
		}
		return
	case reflect.PointerTo(t).Implements(slotsType):
		decodeMap(rv.Addr().Interface().(slots), v, path, errs)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v == nil {
			rv.SetZero()
			return
		}
		p := reflect.New(t.Elem())
		n := len(*errs)
		decodeInto(v, p.Elem(), path, errs)
		if len(*errs) == n || t.Elem().Kind() == reflect.Struct {
			rv.Set(p)
		}
	case reflect.String:
		if s, ok := v.(string); ok {
			rv.SetString(s)
		} else {
			bad("a string")
		}
	case reflect.Bool:
		if b, ok := v.(bool); ok {
			rv.SetBool(b)
		} else {
			bad("a boolean")
		}
	case reflect.Int, reflect.Int64:
		if n, ok := v.(Number); ok {
			if i, ok := n.Int64(); ok {
				rv.SetInt(i)
				return
			}
		}
		bad("an integer")
	case reflect.Float64:
		if n, ok := v.(Number); ok {
			if f, ok := n.Float64(); ok {
				rv.SetFloat(f)
				return
			}
		}
		bad("a number")
	case reflect.Slice:
		a, ok := v.([]any)
		if !ok {
			if v != nil {
				bad("an array")
			}
			return
		}
		s := reflect.MakeSlice(t, len(a), len(a))
		for i, e := range a {
			decodeInto(e, s.Index(i), fmt.Sprintf("%s[%d]", path, i), errs)
		}
		rv.Set(s)
	case reflect.Struct:
		o, ok := v.(*Object)
		if !ok {
			bad("an object")
			return
		}
		decodeStruct(o, rv, path, errs)
	default:
		panic("ojson: cannot decode into " + t.String())
	}
}

func encodeStruct(rv reflect.Value) *Object {
	l := layoutOf(rv.Type())
	o := withRoom(len(l.fields))
	put := func(f field) {
		fv := rv.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(fv) {
			return
		}
		o.Set(f.name, encodeValue(fv))
	}
	if l.extra >= 0 {
		extra := rv.Field(l.extra).Addr().Interface().(*Extra)
		for _, k := range extra.order {
			if i, ok := l.byName[k]; ok {
				put(l.fields[i])
			} else if v, ok := extra.unknown[k]; ok {
				o.Set(k, v)
			}
		}
	}
	for _, f := range l.fields {
		if !o.Has(f.name) {
			put(f)
		}
	}
	return o
}

func isEmpty(rv reflect.Value) bool {
	switch rv.Kind() {
	case reflect.Slice:
		return rv.Len() == 0
	case reflect.Struct:
		if rv.CanAddr() {
			if m, ok := rv.Addr().Interface().(slots); ok {
				return len(m.Keys()) == 0
			}
		}
	}
	return rv.IsZero()
}

func encodeValue(rv reflect.Value) Value {
	t := rv.Type()
	switch {
	case t == anyType:
		return Of(rv.Interface())
	case t == objType:
		return Of(rv.Interface())
	case rv.CanAddr() && reflect.PointerTo(t).Implements(slotsType):
		return encodeMap(rv.Addr().Interface().(slots))
	}
	switch t.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return nil
		}
		return encodeValue(rv.Elem())
	case reflect.String:
		return rv.String()
	case reflect.Bool:
		return rv.Bool()
	case reflect.Int, reflect.Int64:
		return Of(rv.Int())
	case reflect.Float64:
		return Float(rv.Float())
	case reflect.Slice:
		a := make([]any, rv.Len())
		for i := range a {
			a[i] = encodeValue(rv.Index(i))
		}
		return a
	case reflect.Struct:
		return encodeStruct(rv)
	}
	panic("ojson: cannot encode " + t.String())
}
