// Tests of copies: equal to the result of a round trip through bytes, and independent.

package run

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// fill sets every field of a struct to some value, unknown members included.
func fill(t *rapid.T, v reflect.Value, depth int) {
	word := func() string { return rapid.SampledFrom([]string{"", "a", "b c", "é"}).Draw(t, "word") }
	object := func() *ojson.Object {
		return ojson.NewObject("x", word(),
			"list", []any{ojson.NewObject("y", ojson.Int(rapid.IntRange(0, 9).Draw(t, "n"))), "z"})
	}
	switch p := v.Addr().Interface().(type) {
	case *ojson.Extra:
		if rapid.Bool().Draw(t, "extra") {
			p.Set("x_object", object())
			p.Set("x_list", []any{"a", object()})
			p.Set("x_text", word())
		}
		return
	case **ojson.Object:
		if rapid.Bool().Draw(t, "object") {
			*p = object()
		}
		return
	case *ojson.Map[string]:
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			p.Set("k"+word(), word())
		}
		return
	case *ojson.Map[int]:
		p.Set(word(), 3)
		return
	case *ojson.Map[[]string]:
		p.Set(word(), []string{word()})
		return
	case *ojson.Map[*ojson.Object]:
		p.Set("k"+word(), object())
		return
	case *ojson.Map[*Turn]:
		for range rapid.IntRange(0, 2).Draw(t, "turns") {
			turn := &Turn{}
			fill(t, reflect.ValueOf(turn).Elem(), depth+1)
			p.Set("turn_"+word(), turn)
		}
		return
	case *[]any:
		*p = []any{ojson.Int(1), []any{ojson.Int(3), ojson.Int(5)}}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(t, v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "pointer") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth+1)
		}
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "length"), 2)
		for i := range s.Len() {
			if s.Index(i).Kind() == reflect.Pointer {
				s.Index(i).Set(reflect.New(s.Index(i).Type().Elem()))
				fill(t, s.Index(i).Elem(), depth+1)
			} else {
				fill(t, s.Index(i), depth+1)
			}
		}
		v.Set(s)
	case reflect.String:
		v.SetString(word())
	case reflect.Int:
		v.SetInt(int64(rapid.IntRange(0, 99).Draw(t, "int")))
	case reflect.Float64:
		v.SetFloat(float64(rapid.IntRange(0, 99).Draw(t, "float")) / 4)
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	default:
		t.Fatalf("a field of kind %s: teach fill about it", v.Kind())
	}
}

// shared names mutable data that both values reach.
func shared(a, b reflect.Value) string {
	seen := make(map[uintptr]bool)
	collect(a, seen, nil)
	found := ""
	collect(b, nil, func(p uintptr, t reflect.Type) {
		if seen[p] {
			found = t.String()
		}
	})
	return found
}

func collect(v reflect.Value, into map[uintptr]bool, each func(uintptr, reflect.Type)) {
	note := func(p uintptr) {
		if into != nil {
			into[p] = true
		} else {
			each(p, v.Type())
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			note(v.Pointer())
			collect(v.Elem(), into, each)
		}
	case reflect.Interface:
		if !v.IsNil() {
			collect(v.Elem(), into, each)
		}
	case reflect.Map:
		if !v.IsNil() {
			note(v.Pointer())
			for it := v.MapRange(); it.Next(); {
				collect(it.Value(), into, each)
			}
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			note(v.Pointer())
			for i := range v.Len() {
				collect(v.Index(i), into, each)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type().PkgPath() == reflect.TypeFor[ojson.Extra]().PkgPath() &&
				(name == "keys" || name == "order") {
				continue // names of members are never changed in place
			}
			collect(v.Field(i), into, each)
		}
	}
}

func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, x := &State{}, &Index{}
		fill(t, reflect.ValueOf(s).Elem(), 0)
		fill(t, reflect.ValueOf(x).Elem(), 0)

		c := s.Clone()
		back := &State{}
		ojson.Unmarshal(ojson.Marshal(s).Clone(), back)
		if a, b, d := s.Encode(), c.Encode(), back.Encode(); !bytes.Equal(a, b) || !bytes.Equal(b, d) {
			t.Fatalf("state\n%s\nclone\n%s\nround trip\n%s", a, b, d)
		}
		if what := shared(reflect.ValueOf(s), reflect.ValueOf(c)); what != "" {
			t.Fatalf("a state and its clone share a %s", what)
		}
		y := x.Clone()
		if a, b := x.Encode(), y.Encode(); !bytes.Equal(a, b) {
			t.Fatalf("index\n%s\nclone\n%s", a, b)
		}
		if what := shared(reflect.ValueOf(x), reflect.ValueOf(y)); what != "" {
			t.Fatalf("an index and its clone share a %s", what)
		}
	})
	if (*State)(nil).Clone() != nil || (*Index)(nil).Clone() != nil {
		t.Error("a copy of nothing")
	}
}
