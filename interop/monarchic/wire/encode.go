// Writing: structs into JSON values.

package wire

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Encode returns the JSON form of src, a struct or enum or a pointer to one: members in the order
// they were read, the others in declared order (docs/monarchic.md). Free-form maps of closed
// objects get sorted keys.
func Encode(src any) ojson.Value {
	rv := reflect.ValueOf(src)
	if rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return nil
		}
		return encode(rv.Elem(), false)
	}
	p := reflect.New(rv.Type()).Elem()
	p.Set(rv)
	return encode(p, false)
}

// Canonical returns the canonical bytes of v: two-space indent, one LF at the end.
func Canonical(v any) []byte { return ojson.Pretty(Encode(v)) }

func encode(rv reflect.Value, open bool) ojson.Value {
	t := rv.Type()
	switch {
	case t == anyType:
		return free(ojson.Of(rv.Interface()), open)
	case t == objectType:
		if rv.IsNil() {
			return &ojson.Object{}
		}
		return free(rv.Interface(), open)
	}
	if set := SetOf(t); set != nil {
		if open {
			return set.value(rv.String())
		}
		return rv.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return nil
		}
		return encode(rv.Elem(), open)
	case reflect.String:
		return rv.String()
	case reflect.Bool:
		return rv.Bool()
	case reflect.Float64:
		return number(rv.Float())
	case reflect.Slice:
		a := make([]any, rv.Len())
		for i := range a {
			a[i] = encode(rv.Index(i), open)
		}
		return a
	case reflect.Struct:
		return encodeObject(rv)
	}
	if rv.CanUint() {
		return ojson.Number(strconv.FormatUint(rv.Uint(), 10))
	}
	return ojson.Number(strconv.FormatInt(rv.Int(), 10))
}

func number(f float64) ojson.Value {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return ojson.Float(f)
}

// free returns a free-form value as it is written: sorted keys in closed objects.
func free(v ojson.Value, open bool) ojson.Value {
	if open {
		return v
	}
	switch v := v.(type) {
	case []any:
		a := make([]any, len(v))
		for i, e := range v {
			a[i] = free(e, open)
		}
		return a
	case *ojson.Object:
		o := &ojson.Object{}
		for _, k := range slices.Sorted(slices.Values(v.Keys())) {
			o.Set(k, free(v.Value(k), open))
		}
		return o
	}
	return v
}

func encodeObject(rv reflect.Value) ojson.Value {
	l := layoutOf(rv.Type())
	o := &ojson.Object{}
	if !l.open {
		for _, m := range l.members {
			if fv := rv.Field(m.index); !absent(fv, m.mode) {
				o.Set(m.name, closedValue(fv, m))
			}
		}
		return o
	}
	extra := rv.Addr().Interface().(opener).opened()
	for _, key := range extra.order {
		if v, ok := extra.unknown[key]; ok {
			o.Set(key, v)
		} else if i, ok := l.byName[key]; ok {
			if v, ok := reread(rv.Field(l.members[i].index), l.members[i], extra.known[key]); ok {
				o.Set(key, v)
			}
		}
	}
	for _, m := range l.members {
		fv := rv.Field(m.index)
		if o.Has(m.name) || absent(fv, m.mode) || extra.seen && fv.IsZero() {
			continue
		}
		o.Set(m.name, encode(fv, true))
	}
	if extra.bare && o.Len() == 1 && l.bare >= 0 && o.Has(l.members[l.bare].name) {
		return o.String(l.members[l.bare].name)
	}
	return o
}

// reread returns how a member that was read as was is written now: in its old spelling as long as
// that still means the same.
func reread(fv reflect.Value, m member, was ojson.Value) (ojson.Value, bool) {
	if fv.IsZero() {
		if was == nil || was == false || was == "" || zeroNumber(was) {
			return was, true
		}
		if m.mode == "omit" {
			return nil, false // it was removed since
		}
	}
	if s, ok := was.(string); ok {
		if set := SetOf(fv.Type()); set != nil && !set.Has(s) && s == fv.String() {
			return was, true
		}
	}
	now := encode(fv, true)
	switch now.(type) {
	case string, ojson.Number:
		if ojson.Equal(now, was) {
			return was, true
		}
	}
	return now, true
}

func zeroNumber(v ojson.Value) bool {
	n, ok := v.(ojson.Number)
	if !ok {
		return false
	}
	f, ok := n.Float64()
	return ok && f == 0
}

func closedValue(fv reflect.Value, m member) ojson.Value {
	if m.preset != "" && fv.IsZero() {
		return m.preset
	}
	return encode(fv, false)
}

func absent(fv reflect.Value, mode string) bool {
	switch mode {
	case "omit":
		return fv.IsZero()
	case "empty":
		if fv.Kind() == reflect.Slice {
			return fv.Len() == 0
		}
		o, ok := fv.Interface().(*ojson.Object)
		return fv.IsZero() || ok && o.Len() == 0
	}
	return false
}
