// kbHash against the facts of RFC 8785, and against generated documents.

package kb

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

func canonicalOf(t *testing.T, text string) string {
	t.Helper()
	v, err := ojson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := canonical(v)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(out)
}

// TestNumbersOfTheStandard has the doubles of RFC 8785 appendix B by their bits.
func TestNumbersOfTheStandard(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		for _, spelled := range []string{strconv.FormatFloat(f, 'e', 25, 64), strconv.FormatFloat(f, 'g', -1, 64)} {
			if f == 0 {
				spelled = []string{"0", "-0", "0.000", "-0e5"}[rand.N(4)]
			}
			if got := canonicalOf(t, spelled); got != want {
				t.Errorf("%016x (%s) is written %s, not %s", bits, spelled, got, want)
			}
		}
	}
}

// TestTextOfTheStandard has the examples of RFC 8785 §3.2.2 and §3.2.3.
func TestTextOfTheStandard(t *testing.T) {
	in := `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	want := "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e333333333333332c31652b33302c" +
		"342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d"
	if got := hex.EncodeToString([]byte(canonicalOf(t, in))); got != want {
		t.Errorf("%s", canonicalOf(t, in))
	}
	sorted := canonicalOf(t,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`)
	var order []string
	for _, name := range []string{"Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew"} {
		order = append(order, name)
		if !strings.Contains(sorted, name) {
			t.Fatalf("%s is lost", name)
		}
	}
	if !slices.IsSortedFunc(order,
		func(a, b string) int { return strings.Index(sorted, a) - strings.Index(sorted, b) }) {
		t.Errorf("members are not in the order of their UTF-16 units: %s", sorted)
	}
	for in, want := range map[string]string{
		`{"":{"":1}}`:                          `{"":{"":1}}`,
		`[]`:                                   `[]`,
		`{}`:                                   `{}`,
		` null `:                               `null`,
		`"\u0000\u001f\u007f\u2028\b\f\n\r\t"`: "\"\\u0000\\u001f\u007f\u2028\\b\\f\\n\\r\\t\"",
		`"\ud83d\ude00"`:                       `"😀"`,
		`[[],[[]]]`:                            `[[],[[]]]`,
		`{"b":1,"a":{"d":1,"c":2}}`:            `{"a":{"c":2,"d":1},"b":1}`,
		`[56,{"d":true,"10":null,"1":[]}]`:     `[56,{"1":[],"10":null,"d":true}]`,
	} {
		if got := canonicalOf(t, in); got != want {
			t.Errorf("%s became %q", in, got)
		}
	}
}

func TestWhatHasNoIdentity(t *testing.T) {
	for name, text := range map[string]string{
		"a member twice":        `{"a":1,"a":1}`,
		"deep down":             `{"a":[{"b":1,"\u0062":2}]}`,
		"half a pair":           `{"a":"\ud800"}`,
		"the other half":        `{"a":"\udc00x"}`,
		"half a pair as a name": `{"\ud800":1}`,
		"no UTF-8":              "{\"a\":\"\xff\"}",
		"overlong":              "{\"a\":\"\xc0\x80\"}",
		"beyond the doubles":    `{"a":1e400}`,
		"and below":             `{"a":-1e309}`,
		"NaN":                   `{"a":NaN}`,
		"leading zero":          `{"a":01}`,
		"a tail":                `{"a":1}x`,
		"two":                   `{}{}`,
		"a list":                `[]`,
		"text":                  `"x"`,
		"nothing":               ``,
		"a comment":             `{/**/}`,
		"trailing comma":        `{"a":1,}`,
		"too deep":              strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1),
		"bottomless":            strings.Repeat("[", 1<<20),
		"a byte order mark":     "\ufeff{}",
		"a control character":   "{\"a\":\"\n\"}",
	} {
		block, err := Parse([]byte(text))
		if err == nil {
			_, err = Hash(block)
		}
		var e *alx.Error
		if !errors.As(err, &e) || e.Code != alx.CodeInvalidJSON {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func hash(t testing.TB, text string) string {
	t.Helper()
	block, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	sum, err := Hash(block)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return sum
}

func TestWhatIsPartOfTheIdentity(t *testing.T) {
	// The hash of {"a":1} is a fact of SHA-256.
	const known = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
	base := `{"a":1}`
	if got := hash(t, base); got != known {
		t.Errorf("%s", got)
	}
	for _, same := range []string{
		`{"a":1,"kbHash":"x"}`, `{"kbId":"label","a":1}`, `{"a":1.0,"transport":{"hops":3}}`,
		`{"a":1e0,"_transport":null}`,
		`{"ok":true,"correlationId":"c","protocol":{"protocol_version":"1.1"},"a":1}`,
		"\r\n{ \"\\u0061\" : 10E-1\t}",
	} {
		if hash(t, same) != known {
			t.Errorf("%s is another", same)
		}
	}
	for _, other := range []string{
		`{"a":2}`, `{"a":"1"}`, `{"a":[1]}`, `{"A":1}`, `{"a":1,"b":null}`, `{"a":1,"sources":[]}`,
		`{"a":1,"sources":[{"kbHash":"x"}]}`, `{"a":1,"kbhash":"x"}`, `{"a":{"kbId":"x"}}`,
		`{"a":1,"x":{"kbHash":"y"}}`, `{"a":1.0000000000000002}`,
	} {
		if hash(t, other) == known {
			t.Errorf("%s is the same", other)
		}
	}
	if hash(t, `{"s":[1,2]}`) == hash(t, `{"s":[2,1]}`) {
		t.Error("the order of a list makes no difference")
	}
	// RFC 8785 knows only doubles; larger numbers are written as text.
	if hash(t, `{"a":9007199254740992}`) != hash(t, `{"a":9007199254740993}`) ||
		hash(t, `{"a":"9007199254740992"}`) == hash(t, `{"a":"9007199254740993"}`) {
		t.Error("numbers beyond 2^53")
	}
	b := &alx.KnowledgeBlock{Kind: alx.BlockKindRun, KBID: "one", Intent: "i"}
	if err := Seal(b); err != nil {
		t.Fatal(err)
	}
	first := b.KBHash
	b.KBID = "two"
	if err := Seal(b); err != nil || b.KBHash != first || hash(t, string(alx.Encode(b))) != first {
		t.Errorf("the label counts: %s %v", b.KBHash, err)
	}
	if b.Intent = "j"; Seal(b) != nil || b.KBHash == first {
		t.Error("the content does not count")
	}
}

// TestAnySpellingOneHash: documents with permuted members, other white space,
// other spellings of numbers and text hash alike, and any change of meaning
// hashes differently. 100,000 documents with AGENTXCHAIN_LONG_TESTS=1.
func TestAnySpellingOneHash(t *testing.T) {
	testrepo.Thorough(t)
	n := 5000
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		n = 100_000
	}
	seed := [2]uint64{rand.Uint64(), rand.Uint64()}
	g := &generator{rand.New(rand.NewPCG(seed[0], seed[1]))}
	hashes := map[string]string{}
	for i := range n {
		doc := g.object(0)
		doc.Set("n", ojson.Int(i)) // all different
		plain := string(g.spell(doc, false))
		sum := hash(t, plain)
		if wild := string(g.spell(doc, true)); hash(t, wild) != sum {
			t.Fatalf("seed %v, document %d: two spellings, two hashes\n%s\n%s", seed, i, plain, wild)
		}
		if block, _ := Parse([]byte(plain)); block != nil {
			if own := reference(block); !bytes.Equal(own, must(Content(block))) {
				t.Fatalf("seed %v, document %d: our own encoder disagrees\n%s\n%s", seed, i, own, must(Content(block)))
			}
		}
		changed := doc.Clone()
		g.change(changed)
		if text := string(g.spell(changed, true)); hash(t, text) == sum {
			t.Fatalf("seed %v, document %d: a change hashes alike\n%s\n%s", seed, i, plain, text)
		}
		if other, twice := hashes[sum]; twice {
			t.Fatalf("seed %v: two documents, one hash\n%s\n%s", seed, plain, other)
		}
		hashes[sum] = plain
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// reference implements RFC 8785 again, from its text: it checks the library that we use.
func reference(v ojson.Value) []byte {
	switch v := v.(type) {
	case nil:
		return []byte("null")
	case bool:
		return strconv.AppendBool(nil, v)
	case string:
		return referenceText(v)
	case ojson.Number:
		f, _ := v.Float64()
		if f == 0 {
			return []byte("0")
		}
		data, _ := json.Marshal(f) // encoding/json writes ECMAScript's numbers except for the zeros of small exponents
		return bytes.Replace(bytes.Replace(data, []byte("e-0"), []byte("e-"), 1), []byte("e+0"), []byte("e+"), 1)
	case []any:
		var parts [][]byte
		for _, e := range v {
			parts = append(parts, reference(e))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	case *ojson.Object:
		keys := slices.Clone(v.Keys())
		slices.SortFunc(keys, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		var parts [][]byte
		for _, k := range keys {
			e, _ := v.Get(k)
			parts = append(parts, slices.Concat(referenceText(k), []byte(":"), reference(e)))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	}
	panic(fmt.Sprintf("%T", v))
}

func referenceText(s string) []byte {
	b := []byte{'"'}
	for _, r := range s {
		short := strings.IndexRune("\b\t\n\f\r\"\\", r)
		switch {
		case short >= 0:
			b = append(b, '\\', `btnfr"\`[short])
		case r < 0x20:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
