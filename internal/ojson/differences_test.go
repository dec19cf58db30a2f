// Tests that differences name only what differs, and enough to turn one document into the other.

package ojson

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{}`, `{}`, ``},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":3,"c":2}}`, `/a/b 1 3`},
		{`{"a":[1,2,3]}`, `{"a":[1,2,3,4]}`, `/a/3 - 4`},
		{`{"a":[1,2,3]}`, `{"a":[2,3]}`, `/a/0 1 -`},
		{`{"a":[{"x":1},{"y":1}]}`, `{"a":[{"x":1},{"y":2}]}`, `/a/1/y 1 2`},
		{`{"a":null}`, `{"b":null}`, "/b - null\n/a null -"},
		{`{"a":{"x":1}}`, `{"a":[1]}`, `/a {"x":1} [1]`},
		{`{".planning/A~.md":1}`, `{".planning/A~.md":2}`, `/.planning~1A~0.md 1 2`},
	} {
		var lines []string
		for _, d := range Differences(decoded(t, c.before), decoded(t, c.after)) {
			side := func(there bool, v Value) string {
				if !there {
					return "-"
				}
				return string(Compact(v))
			}
			lines = append(lines, d.At+" "+side(d.Had, d.Before)+" "+side(d.Has, d.After))
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

// TestDifferencesAreOfTheTwo looks up each place in both documents, and requires that there are none exactly when
// the two are equal.
func TestDifferencesAreOfTheTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawnDocument(t, 3), drawnDocument(t, 3)
		list := Differences(a, b)
		if (len(list) == 0) != Equal(a, b) {
			t.Fatalf("%d differences of %s and %s", len(list), Compact(a), Compact(b))
		}
		for _, d := range list {
			if d.Had && !Equal(d.Before, standsAt(a, d.At)) || d.Has && !Equal(d.After, standsAt(b, d.At)) {
				t.Fatalf("%s is not what stands there in %s and %s", d.At, Compact(a), Compact(b))
			}
		}
	})
}

func decoded(t *testing.T, s string) *Object {
	o, err := DecodeObject([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func standsAt(v Value, pointer string) Value {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch x := v.(type) {
		case *Object:
			v, _ = x.Get(name)
		case []any:
			i, _ := strconv.Atoi(name)
			v = x[i]
		}
	}
	return v
}

func drawnDocument(t *rapid.T, depth int) *Object {
	o := &Object{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		o.Set(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), drawnValue(t, depth))
	}
	return o
}

func drawnValue(t *rapid.T, depth int) Value {
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return drawnDocument(t, depth-1)
	case kind == 1 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			list = append(list, drawnValue(t, depth-1))
		}
		return list
	case kind == 2:
		return nil
	}
	return Int(rapid.IntRange(0, 2).Draw(t, "number"))
}
