// What is found in blocks: shape, identity, lineage.

package kb

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const sum0 = "0000000000000000000000000000000000000000000000000000000000000000"

func good() *ojson.Object {
	o, err := ojson.DecodeObject([]byte(`{"kind":"governed-run","intent":"i","summary":"s",
 "decisions":[{"id":"DEC-1","statement":"x","extra":1}],"artifacts":[{"path":"a/b.go","sha256":"` + sum0 + `"}],
 "verification":{"status":"pass","turns":2,"verified":2},"sources":[{"turnId":"turn_1","sha256":"` + sum0 + `"}]}`))
	if err != nil {
		panic(err)
	}
	return o
}

func TestValidate(t *testing.T) {
	hash, _ := Hash(good())
	set := func(path string, v any) func(*ojson.Object) {
		return func(o *ojson.Object) {
			parts := strings.Split(path, ".")
			for _, p := range parts[:len(parts)-1] {
				if a := o.Objects(p); len(a) > 0 {
					o = a[0]
				} else {
					o = o.Object(p)
				}
			}
			o.Set(parts[len(parts)-1], v)
		}
	}
	for _, c := range []struct {
		name string
		edit func(*ojson.Object)
		want string // "code field" of every finding
	}{
		{"good", func(*ojson.Object) {}, ""},
		{"its own hash", set("kbHash", hash), ""},
		{"its own hash and a label", func(o *ojson.Object) {
			o.Set("kbHash", hash)
			o.Set("kbId", "l")
			o.Set("transport", 1)
		}, ""},
		{"unknown members", func(o *ojson.Object) { o.Set("xNew", []any{nil}) }, ""},
		{"another's hash", set("kbHash", sum0), "hash kbHash"},
		{"a changed block", func(o *ojson.Object) { o.Set("kbHash", hash); o.Set("summary", "other") }, "hash kbHash"},
		{"upper case", set("kbHash", strings.ToUpper(hash)), "hash kbHash"},
		{"a hash that is no text", set("kbHash", 7), "hash kbHash"},
		{"no intent", func(o *ojson.Object) { o.Delete("intent") }, "shape intent"},
		{"intent of another kind", set("intent", 1), "shape intent"},
		{"kind of another kind", set("kind", 1), "shape kind"},
		{"a path outside", set("artifacts.path", "../x"), "shape artifacts[0].path"},
		{"an absolute path", set("artifacts.path", "/x"), "shape artifacts[0].path"},
		{"an unclean path", set("artifacts.path", "a//b"), "shape artifacts[0].path"},
		{"no digest", set("artifacts.sha256", "abc"), "shape artifacts[0].sha256"},
		{"a decision without id", set("decisions.id", ""), "shape decisions[0].id"},
		{"decisions of another kind", set("decisions", "x"), "shape decisions"},
		{"more verified than there is", set("verification.verified", 3), "shape verification"},
		{"sources of another kind", set("sources", ojson.NewObject()), "lineage sources"},
		{"a source that is a number", set("sources", []any{ojson.Int(1)}), "lineage sources[0]"},
		{"an empty source", set("sources", []any{ojson.NewObject()}), "lineage sources[0]"},
		{"a source without digest", set("sources",
			[]any{ojson.NewObject("turnId", "t")}), "lineage sources[0].sha256"},
		{"a source without turn", set("sources", []any{ojson.NewObject("sha256", sum0)}), "lineage sources[0].turnId"},
		{"a turn twice", set("sources", []any{ojson.NewObject("turnId", "t",
			"sha256", sum0), ojson.NewObject("turnId", "t", "sha256", sum0)}), "lineage sources[1]"},
		{"a block twice", set("sources", []any{sum0, ojson.NewObject("kbHash", sum0)}), "lineage sources[1]"},
		{"a source that is no hash", set("sources", []any{"yesterday"}), "lineage sources[0]"},
		{"no list at all", func(o *ojson.Object) { o.Delete("sources") }, "shape sources"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good()
			c.edit(o)
			v, err := Validate(o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range v.Findings {
				got = append(got, f.Code+" "+f.Field)
				if f.Message == "" {
					t.Error("a finding without a word")
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%v", v.Findings)
			}
		})
	}
	// Of a foreign kind of block only identity and lineage are known.
	v, err := Validate(ojson.NewObject("title", "x", "decisions", 7))
	if err != nil || len(v.Findings) > 0 {
		t.Errorf("%+v %v", v, err)
	}
	self := ojson.NewObject("kbHash", sum0, "sources", []any{sum0})
	if v, _ := Validate(self); !slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return strings.Contains(f.Message,
			"itself")
	}) {
		t.Errorf("%v", v.Findings)
	}
}

func TestRelate(t *testing.T) {
	block := func(pairs ...any) *Verdict {
		v, err := Validate(ojson.NewObject(pairs...))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := block("n", 1, "kbId", "one")
	b := block("n", 2, "sources", []any{a.Hash, ojson.NewObject("turnId", "t", "sha256", sum0)})
	c := block("n", 3, "kbId", "one", "sources", []any{ojson.NewObject("kbHash", b.Hash), sum0})
	Relate([]*Verdict{c})
	if len(c.Findings) > 0 {
		t.Errorf("one block alone: %v", c.Findings)
	}
	all := []*Verdict{c, b, a}
	Relate(all)
	if len(a.Findings) != 1 || a.Findings[0].Code != FindingLabel || len(b.Findings) > 0 || len(c.Findings) != 1 ||
		c.Findings[0].Code != FindingUnresolved || !strings.Contains(c.Findings[0].Message, sum0) {
		t.Errorf("%v %v %v", a.Findings, b.Findings, c.Findings)
	}
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte(`{"kind":"governed-run","sources":[{"kbHash":1},"x",{"turnId":[]}],"artifacts":[{}],"kbHash":{}}`))
	f.Add([]byte(`{"a":1e308,"b":-0.0,"c":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		block, err := Parse(data)
		if err != nil {
			return
		}
		text, err := Content(block)
		if err != nil {
			return
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("the canonical form cannot be read: %v\n%q", err, text)
		}
		if second, err := Content(again); err != nil || string(second) != string(text) {
			t.Fatalf("the canonical form has another: %v\n%q\n%q", err, text, second)
		}
		if own := reference(again); string(own) != string(text) {
			t.Fatalf("%q\n%q", own, text)
		}
		v, err := Validate(block)
		if err != nil {
			t.Fatal(err)
		}
		Relate([]*Verdict{v, v})
	})
}
