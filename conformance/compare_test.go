// The comparator: its rules one by one, and what must hold for every value.

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func parse(t testing.TB, s string) ojson.Value {
	t.Helper()
	v, err := ojson.Decode([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		expected, actual string
		want             bool
	}{
		{`1`, `1`, true},
		{`1`, `1.0`, true},
		{`1e0`, `1`, true},
		{`1`, `"1"`, false},
		{`0`, `-0`, false},
		{`-0`, `-0.0`, true},
		{`1`, `true`, false},
		{`0`, `false`, false},
		{`""`, `null`, false},
		{`null`, `null`, true},
		{`null`, `0`, false},
		{`"a"`, `"a"`, true},
		{`"a"`, `"a "`, false},
		{`1e400`, `2e400`, true}, // both infinite
		{`9007199254740993`, `9007199254740992`, true},

		{`{}`, `{}`, true},
		{`{}`, `{"a":1}`, true},
		{`{}`, `[]`, true},
		{`{}`, `null`, false},
		{`{}`, `"x"`, false},
		{`{}`, `7`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, true},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":null}`, `{"a":null}`, true},
		{`{"a":{"b":null}}`, `{"a":{}}`, false},
		{`{"0":"x"}`, `["x"]`, true},
		{`{"length":1}`, `["x"]`, true},
		{`{"length":2}`, `["x"]`, false},
		{`{"00":"x"}`, `["x"]`, false},
		{`{"-0":"x"}`, `["x"]`, false},
		{`{"1":"x"}`, `["x"]`, false},
		{`{"length":1}`, `"x"`, false},

		{`{"warnings_allowed":true}`, `{}`, true},
		{`{"warnings_allowed":{"assert":"nothing"}}`, `{}`, true},
		{`{"a":{"warnings_allowed":false,"b":1}}`, `{"a":{"b":1}}`, true},
		{`[{"warnings_allowed":1}]`, `[{}]`, true},

		{`[]`, `[]`, true},
		{`[]`, `["x"]`, false},
		{`["x"]`, `[]`, false},
		{`["x","y"]`, `["x","y"]`, true},
		{`["x","y"]`, `["y","x"]`, false},
		{`[null]`, `[null]`, true},
		{`[]`, `{}`, false},
		{`[{"a":1}]`, `[{"a":1,"b":2}]`, true},

		{`{"assert":"nonempty_string"}`, `"x"`, true},
		{`{"assert":"nonempty_string"}`, `" \t\u00a0\ufeff"`, false},
		{`{"assert":"nonempty_string"}`, `""`, false},
		{`{"assert":"nonempty_string"}`, `7`, false},
		{`{"assert":"nonempty_string"}`, `null`, false},
		{`{"a":{"assert":"nonempty_string"}}`, `{}`, false},
		{`{"assert":"id_prefix","value":"run_"}`, `"run_1"`, true},
		{`{"assert":"id_prefix","value":"run_"}`, `"run_"`, true},
		{`{"assert":"id_prefix","value":"run_"}`, `"arun_"`, false},
		{`{"assert":"id_prefix","value":"run_"}`, `["run_"]`, false},
		{`{"assert":"id_prefix"}`, `"x"`, false},
		{`{"assert":"id_prefix","value":7}`, `"7"`, false},
		{`{"assert":"present"}`, `null`, true},
		{`{"a":{"assert":"present"}}`, `{"a":null}`, true},
		{`{"a":{"assert":"present"}}`, `{}`, false},
		{`{"0":{"assert":"present"}}`, `[null]`, true},
		{`{"assert":"absent"}`, `{}`, false},
		{`{"assert":"absent"}`, `{"assert":"absent"}`, false},
		{`{"assert":7}`, `{"assert":7}`, true}, // not an assertion: its name is not a string
		{`{"assert":7}`, `{}`, false},

		{`{"assert":"unordered_array","items":[1,2]}`, `[2,1]`, true},
		{`{"assert":"unordered_array","items":[1,1]}`, `[1,2]`, false},
		{`{"assert":"unordered_array","items":[1]}`, `[1,1]`, false},
		{`{"assert":"unordered_array","items":[]}`, `[]`, true},
		{`{"assert":"unordered_array","items":[]}`, `{}`, false},
		{`{"assert":"unordered_array"}`, `[]`, false},
		{`{"assert":"unordered_array","items":{"length":0}}`, `[]`, false},
		// Either element fits the first item; taking the first one leaves nothing for the second item.
		{`{"assert":"unordered_array","items":[{"a":1},{"a":1,"b":2}]}`, `[{"a":1,"b":2},{"a":1}]`, true},
		{`{"assert":"unordered_array","items":[{"assert":"present"},"x","y"]}`, `["x","y","z"]`, true},
		{`{"assert":"unordered_array","items":[{"assert":"present"},{"assert":"nonempty_string"},"x"]}`, `["x","y",1]`,
			true},
		{`{"assert":"unordered_array","items":["x","x",{"assert":"present"}]}`, `["x","y","z"]`, false},
	} {
		m := Compare(parse(t, c.expected), parse(t, c.actual))
		if (m == nil) != c.want {
			t.Errorf("Compare(%s, %s) = %v, want match %v", c.expected, c.actual, m, c.want)
		}
	}
}

func TestMismatchNamesThePlace(t *testing.T) {
	for _, c := range []struct{ expected, actual, want string }{
		{`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, `$.a.b[1]: expected 2, got 3`},
		{`{"a":1}`, `{}`, `$.a: expected 1, got nothing: the member is missing`},
		{`[1]`, `[1,2]`, `$: expected an array of 1, got [1,2]`},
	} {
		if m := Compare(parse(t, c.expected), parse(t, c.actual)); m == nil || m.Error() != c.want {
			t.Errorf("%s against %s: %v, want %s", c.actual, c.expected, m, c.want)
		}
	}
}

// TestCompareIsBounded: comparing hostile expectations ends, whatever they match.
func TestCompareIsBounded(t *testing.T) {
	testrepo.Serving(t)
	items := make([]any, 20000)
	got := make([]any, len(items))
	for i := range items {
		items[i], got[i] = ojson.Int(i), ojson.Int(-i-1)
	}
	if Compare(ojson.NewObject("assert", "unordered_array", "items", items), got) == nil {
		t.Error("different numbers matched")
	}
	long := strings.Repeat("é", 1<<16)
	if m := Compare(long, long+"!"); m == nil || len(m.Error()) > 1000 {
		t.Errorf("message of %d bytes", len(m.Error()))
	}
}

func genValue(depth int) *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Just(any(nil)),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.IntRange(-3, 3), func(i int) any { return ojson.Int(i) }),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "run_1"}), func(s string) any { return s }),
	)
	if depth == 0 {
		return scalar
	}
	sub := genValue(depth - 1)
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(sub, 0, 4), func(a []any) any { return a }),
		rapid.Custom(func(t *rapid.T) any {
			o := ojson.NewObject()
			for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "0", "length"}), 0, 4,
				rapid.ID[string]).Draw(t, "keys") {
				o.Set(k, sub.Draw(t, k))
			}
			return o
		}))
}

// TestComparePlain: without assertions a value matches itself and nothing that differs in a member it names.
func TestComparePlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		if m := Compare(v, ojson.CloneValue(v)); m != nil {
			t.Fatalf("%s does not match itself: %v", ojson.Compact(v), m)
		}
		w := genValue(3).Draw(t, "other")
		if Compare(v, w) == nil && Compare(w, v) == nil && !ojson.Equal(v, w) && !holdsEmpty(v) && !holdsEmpty(w) {
			t.Fatalf("%s and %s match each other", ojson.Compact(v), ojson.Compact(w))
		}
	})
}

// holdsEmpty reports whether v contains an object that can be compared with an array.
func holdsEmpty(v ojson.Value) bool {
	switch v := v.(type) {
	case *ojson.Object:
		for k, e := range v.All() {
			if k != "0" && k != "length" && !holdsEmpty(e) {
				return false
			}
		}
		return true
	case []any:
		if slices.ContainsFunc(v, holdsEmpty) {
			return true
		}
	}
	return false
}

// TestUnorderedAcceptsWhatGreedyAccepts compares with the plain greedy rule and
// with trying all assignments.
func TestUnorderedAcceptsWhatGreedyAccepts(t *testing.T) {
	item := rapid.SampledFrom([]any{ojson.Int(1), ojson.Int(2), "a", "b", ojson.NewObject("assert",
		"present"), ojson.NewObject("assert", "nonempty_string")})
	element := rapid.SampledFrom([]any{ojson.Int(1), ojson.Int(2), "a", "b", nil})
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(item, 0, 5).Draw(t, "items")
		got := rapid.SliceOfN(element, len(items), len(items)).Draw(t, "elements")
		matched := Compare(ojson.NewObject("assert", "unordered_array", "items", items), got) == nil
		if want := assignable(items, got, make([]bool, len(got))); matched != want {
			t.Fatalf("items %s, elements %s: matched %v, an assignment exists: %v", ojson.Compact(items),
				ojson.Compact(got), matched, want)
		}
	})
}

func assignable(items, got []any, used []bool) bool {
	if len(items) == 0 {
		return true
	}
	for j := range got {
		if !used[j] && Compare(items[0], got[j]) == nil {
			used[j] = true
			if assignable(items[1:], got, used) {
				return true
			}
			used[j] = false
		}
	}
	return false
}

// TestFlippedExpectationsFail changes one asserted scalar at a time in every fixture that passes: each change must
// be detected.
func TestFlippedExpectationsFail(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel() // hooks of fixtures wait
	fixtures := ownFixtures()
	for name, data := range corpusOrNone(t) {
		fixtures["upstream/"+name] = data
	}
	flips := 0
	for name, data := range fixtures {
		f, err := ReadFixture(data)
		if err != nil {
			t.Fatal(err)
		}
		actual, err := testAdapter().outcome(f)
		if err != nil {
			continue // not supported
		}
		for where, changed := range flipped("$", f.Expected) {
			flips++
			if Compare(changed, actual) == nil {
				t.Errorf("%s still passes with %s flipped", name, where)
			}
		}
	}
	if flips < 100 {
		t.Errorf("only %d flips tried", flips)
	}
}

// flipped yields v with one scalar, or the length of one array, changed.
func flipped(path string, v ojson.Value) map[string]ojson.Value {
	out := make(map[string]ojson.Value)
	switch v := v.(type) {
	case *ojson.Object:
		for k, e := range v.All() {
			if k == hintKey {
				continue
			}
			for where, changed := range flipped(path+"."+k, e) {
				o := v.Clone()
				o.Set(k, changed)
				out[where] = o
			}
		}
	case []any:
		out[path+"+1"] = append(append([]any{}, v...), "one more")
		for i, e := range v {
			for where, changed := range flipped(fmt.Sprintf("%s[%d]", path, i), e) {
				a := append([]any{}, v...)
				a[i] = changed
				out[where] = a
			}
		}
	case string:
		out[path] = v + "~"
	case bool:
		out[path] = !v
	case ojson.Number:
		out[path] = v + "7"
	case nil:
		out[path] = false
	}
	return out
}
