package trust

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// The digest of what is trusted depends on what it says, not on how it is written.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) ojson.Value
		value = func(depth int) ojson.Value {
			switch n := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case n == 0 || depth == 0:
				return rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "text")
			case n == 1:
				return ojson.NewObject("n", rapid.Int().Draw(t, "number"), "b", rapid.Bool().Draw(t, "bool"), "z", nil)
			case n < 4:
				o := &ojson.Object{}
				for range rapid.IntRange(0, 4).Draw(t, "members") {
					o.Set(rapid.StringMatching(`[a-d]`).Draw(t, "name"), value(depth-1))
				}
				return o
			}
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				list = append(list, value(depth-1))
			}
			return list
		}
		v := ojson.NewObject("v", value(3))
		before := string(ojson.Compact(v))
		plain := string(ojson.Compact(canonical(v)))
		if string(ojson.Compact(v)) != before {
			t.Fatal("the document itself was changed")
		}
		if again := string(ojson.Compact(canonical(canonical(v)))); again != plain {
			t.Fatalf("%s becomes %s", plain, again)
		}
		if other := string(ojson.Compact(canonical(shuffled(t, v)))); other != plain {
			t.Fatalf("%s and %s", plain, other)
		}
		if back, err := ojson.Decode([]byte(plain)); err != nil || string(ojson.Compact(canonical(back))) != plain {
			t.Fatalf("%s does not survive being read: %v", plain, err)
		}
	})
	if a, b := canonical(ojson.NewObject("a", []any{"1", "2"})),
		canonical(ojson.NewObject("a", []any{"2", "1"})); string(ojson.Compact(a)) == string(ojson.Compact(b)) {
		t.Error("the order of a list is part of it")
	}
	if canonical((*ojson.Object)(nil)) != nil {
		t.Error("an absent object is null")
	}
}

// shuffled returns v with the members of its objects in another order.
func shuffled(t *rapid.T, v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case *ojson.Object:
		out := &ojson.Object{}
		for _, k := range rapid.Permutation(slices.Clone(v.Keys())).Draw(t, "order") {
			m, _ := v.Get(k)
			out.Set(k, shuffled(t, m))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = shuffled(t, v[i])
		}
		return out
	}
	return v
}
