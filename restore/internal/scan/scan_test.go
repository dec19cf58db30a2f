// Tests of reading, comparing and copying documents, against package ojson and with any splitting of the input.

package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// documents generates values with white space and escapes, as text.
func documents() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r\n  "})
	text := rapid.SampledFrom([]string{`""`, `"a"`, `"é€😀"`, `"\u00e9\n\"\\\/"`, `"\ud83d\ude00"`, `"\ud83d"`,
		`"` + strings.Repeat("lang ", 3400) + `"`, `"` + strings.Repeat(`\n12345`, 2500) + `"`})
	leaf := rapid.OneOf(text, rapid.SampledFrom([]string{"0", "-0", "1", "-1.5e3", "1e400", "9007199254740993", "1.0",
		"true", "false", "null"}))
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		if depth == 0 {
			return leaf
		}
		return rapid.Custom(func(t *rapid.T) string {
			s := func() string { return space.Draw(t, "space") }
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				var items []string
				for range rapid.IntRange(0, 4).Draw(t, "items") {
					items = append(items, s()+value(depth-1).Draw(t, "item")+s())
				}
				return s() + "[" + s() + strings.Join(items, ",") + "]" + s()
			case 1:
				var items []string
				for i := range rapid.SampledFrom([]int{0, 1, 2, 3, 30 / depth}).Draw(t, "members") {
					items = append(items,
						s()+fmt.Sprintf(`"k\u00%02x%d"`, 0x41+i%20, i)+s()+":"+value(depth-1).Draw(t, "member")+s())
				}
				return s() + "{" + s() + strings.Join(items, ",") + "}" + s()
			}
			return s() + leaf.Draw(t, "leaf") + s()
		})
	}
	return value(2)
}

// broken returns a document with a byte changed, dropped or inserted.
func broken(t *rapid.T, doc string) string {
	if len(doc) == 0 {
		return doc
	}
	at := rapid.IntRange(0, len(doc)-1).Draw(t, "at")
	b := rapid.SampledFrom([]byte("{}[]\",:\\ 019-+.eEtfnu\x00\x1f\x80\xc3\xff")).Draw(t, "byte")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		return doc[:at] + string([]byte{b}) + doc[at+1:]
	case 1:
		return doc[:at] + doc[at+1:]
	}
	return doc[:at] + string([]byte{b}) + doc[at:]
}

func readers(t *rapid.T, doc string) *Reader {
	switch rapid.IntRange(0, 2).Draw(t, "reader") {
	case 0:
		return Bytes([]byte(doc), Limits{})
	case 1:
		return New(iotest.OneByteReader(strings.NewReader(doc)), Limits{})
	}
	return New(strings.NewReader(doc), Limits{})
}

func TestAgreesWithDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "doc")
		if rapid.Bool().Draw(t, "broken") {
			doc = broken(t, doc)
		}
		want, werr := ojson.DecodeLimited([]byte(doc), ojson.Limits{Depth: 256})
		r := readers(t, doc)
		err := r.Skip()
		if err == nil {
			err = r.End()
		}
		if (err == nil) != (werr == nil) {
			t.Fatalf("%.500q: %v, the decoder says %v", doc, err, werr)
		}
		if err != nil {
			if !r.Owns(err) {
				t.Fatalf("%v is not about the document", err)
			}
			return
		}
		r = readers(t, doc)
		have, err := r.Value(64 << 20)
		if err != nil || !ojson.Equal(have, want) {
			t.Fatalf("%.500q is read as %.500s: %v", doc, ojson.Compact(have), err)
		}
		var out bytes.Buffer
		if err := Bytes([]byte(doc), Limits{}).Compact(&out); err != nil {
			t.Fatal(err)
		}
		if have, err := ojson.Decode(out.Bytes()); err != nil || !ojson.Equal(have, want) {
			t.Fatalf("%.500q is copied as %s: %v", doc, out.Bytes(), err)
		}
		var seen bytes.Buffer
		r = readers(t, "["+doc+",1]")
		_ = r.enter('[')
		_, _ = r.item()
		r.Capture(&seen)
		r.Mark()
		if err := errors.Join(r.Skip(), r.Stop()); err != nil ||
			strings.TrimSpace(seen.String()) != strings.TrimSpace(doc) {
			t.Fatalf("%.500q is captured as %q: %v", doc, seen.String(), err)
		}
		if marked, ok := r.Marked(); !ok || !bytes.Equal(marked, seen.Bytes()) {
			t.Fatalf("%.500q is marked as %q", doc, marked)
		}
		if !r.Rewind() || r.Skip() != nil {
			t.Fatal("the value cannot be read again")
		}
		if more, err := r.item(); !more || err != nil {
			t.Fatal(more, err)
		}
	})
}

func TestSameAndSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := documents().Draw(t, "a")
		b := a
		switch rapid.IntRange(0, 2).Draw(t, "b is") {
		case 0:
			b = documents().Draw(t, "b")
		case 1:
			b = broken(t, a)
			if _, err := ojson.Decode([]byte(b)); err != nil {
				b = a
			}
		}
		va, _ := ojson.Decode([]byte(a))
		vb, _ := ojson.Decode([]byte(b))
		want := bytes.Equal(ojson.Compact(va), ojson.Compact(vb))
		same, err := Same(readers(t, a), readers(t, b))
		if err != nil {
			t.Fatal(err)
		}
		sa, errA := Sum(readers(t, a))
		sb, errB := Sum(readers(t, b))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if want && !same || same && sa != sb {
			t.Fatalf("%.500q and %q: same %v, digests equal %v, text equal %v", a, b, same, sa == sb, want)
		}
	})
}

func TestEquality(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		equal, same bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true, false},
		{`{"a":1}`, `{"a":1,"b":null}`, false, false},
		{`1`, `1.0`, true, true},
		{`1e2`, `100`, true, true},
		{`0`, `-0`, false, false},
		{`-0.0`, `-0`, true, true},
		{`9007199254740994`, `9007199254740993`, false, false},
		{`12345678901234567000`, `12345678901234567890`, false, true},
		{`12345678901234567890`, `12345678901234567000`, false, false},
		{`1e21`, `1000000000000000000000`, true, true},
		{`1e400`, `2e400`, false, false},
		{`0.1`, `0.10000000000000000001`, true, true},
		{`"\u0041"`, `"A"`, true, true},
		{`"\ud83d\ude00"`, `"😀"`, true, true},
		{`"ab"`, `"a"`, false, false},
		{`[]`, `{}`, false, false},
		{`[1,2]`, `[2,1]`, false, false},
		{`true`, `"true"`, false, false},
		{`null`, `false`, false, false},
	} {
		same, err := Same(Bytes([]byte(c.a), Limits{}), Bytes([]byte(c.b), Limits{}))
		if err != nil || same != c.same {
			t.Errorf("%s and %s side by side: %v %v", c.a, c.b, same, err)
		}
		sa, _ := Sum(Bytes([]byte(c.a), Limits{}))
		sb, _ := Sum(Bytes([]byte(c.b), Limits{}))
		if (sa == sb) != c.equal {
			t.Errorf("%s and %s: equal digests %v", c.a, c.b, sa == sb)
		}
	}
}

func TestLimits(t *testing.T) {
	many := make([]string, 1100)
	for i := range many {
		many[i] = fmt.Sprintf(`"member%d":0`, i)
	}
	for name, c := range map[string]struct {
		doc string
		lim Limits
		ok  bool
	}{
		"deep":          {strings.Repeat("[", 300) + strings.Repeat("]", 300), Limits{}, false},
		"deep enough":   {strings.Repeat("[", 256) + strings.Repeat("]", 256), Limits{}, true},
		"members":       {"{" + strings.Join(many, ",") + "}", Limits{Members: 1000}, false},
		"many members":  {"{" + strings.Join(many, ",") + "}", Limits{}, true},
		"twice in many": {"{" + strings.Join(many, ",") + `,"member7":1}`, Limits{}, false},
		"twice":         {`{"a":1,"\u0061":2}`, Limits{}, false},
		"long name":     {`{"` + strings.Repeat("x", 70000) + `":1}`, Limits{}, false},
		"long number":   {strings.Repeat("1", 401), Limits{}, false},
		"open":          {strings.Repeat(`{"a":`, 200), Limits{}, false},
		"tail":          {`{} x`, Limits{}, false},
		"comma":         {`[1,]`, Limits{}, false},
		"bom":           {"\ufeff{}", Limits{}, false},
		"empty":         {"", Limits{}, false},
		"invalid utf-8": {"\"\xed\xa0\x80\"", Limits{}, false},
	} {
		for _, r := range []*Reader{New(strings.NewReader(c.doc), c.lim), Bytes([]byte(c.doc), c.lim)} {
			err := r.Skip()
			if err == nil {
				err = r.End()
			}
			if (err == nil) != c.ok || err != nil && !r.Owns(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	r := New(strings.NewReader(`"`+strings.Repeat("x", 3<<20)+`"`), Limits{Mark: 1 << 20})
	if _, err := r.Raw(100); err == nil {
		t.Error("a value past the limit was returned")
	}
	r = New(io.MultiReader(strings.NewReader(`[1,`), iotest.ErrReader(errors.New("broken disk"))), Limits{})
	if err := r.Skip(); err == nil || r.Owns(err) || !strings.Contains(err.Error(), "broken disk") {
		t.Errorf("a failing source: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d",{"b":null}]}`, `{"a":1,"a":2}`, `[[[[`, `"\u12`, `-`, "\"\xff\"",
		`1e9999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, werr := ojson.DecodeLimited(data, ojson.Limits{Depth: 256})
		r := New(iotest.HalfReader(bytes.NewReader(data)), Limits{})
		err := r.Skip()
		if err == nil {
			err = r.End()
		}
		if (err == nil) != (werr == nil) {
			t.Fatalf("%.500q: %v, the decoder says %v", data, err, werr)
		}
		if err == nil {
			if same, err := Same(Bytes(data, Limits{}), New(bytes.NewReader(data), Limits{})); !same || err != nil {
				t.Fatalf("%.500q is not the same as itself: %v", data, err)
			}
		}
	})
}

func TestPlainRun(t *testing.T) {
	slow := func(b []byte) int {
		for i, c := range b {
			if c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
				return i
			}
		}
		return len(b)
	}
	for c := range 256 {
		for at := range 20 {
			for _, behind := range []byte{0, '!', 0x1f, 0x20, 0x21, '"', '#', '[', '\\', ']', 0x7f, 0x80, 0xff} {
				b := bytes.Repeat([]byte{'a'}, 21)
				b[at], b[at+1] = byte(c), behind
				if have, want := plainRun(b), slow(b); have != want {
					t.Fatalf("%q: %d, not %d", b, have, want)
				}
			}
		}
	}
}
