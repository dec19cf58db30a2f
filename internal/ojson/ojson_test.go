package ojson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecodeRefusals(t *testing.T) {
	for name, doc := range map[string]string{
		"empty":                "",
		"blank":                " \n",
		"truncated object":     `{"a":1`,
		"truncated array":      `[1`,
		"truncated string":     `"a`,
		"truncated escape":     `"\`,
		"trailing":             `{} x`,
		"two values":           `1 2`,
		"duplicate":            `{"a":1,"a":2}`,
		"nested duplicate":     `[{"a":{"b":1,"b":1}}]`,
		"control character":    "\"a\nb\"",
		"bad escape":           `"\x"`,
		"bad hex":              `"\u12g4"`,
		"leading zero":         `01`,
		"bare minus":           `-`,
		"bare point":           `1.`,
		"bare exponent":        `1e`,
		"plus":                 `+1`,
		"NaN":                  `NaN`,
		"single quotes":        `{'a':1}`,
		"comma at end":         `[1,]`,
		"no value":             `{"a":}`,
		"no colon":             `{"a" 1}`,
		"invalid utf-8":        "\"\xff\"",
		"raw surrogate":        "\"\xed\xa0\x80\"",
		"overlong":             "\"\xc0\xaf\"",
		"bom":                  "\ufeff{}",
		"invalid after escape": "\"\\n\xff\"",
		"huge number":          strings.Repeat("1", 500),
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Decode([]byte(doc))
			if err == nil {
				t.Fatalf("accepted as %#v", v)
			}
			if _, ok := err.(*SyntaxError); !ok {
				t.Fatalf("error type %T", err)
			}
		})
	}
}

func TestDecodeLimits(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	if _, err := Decode([]byte(deep)); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("depth 200: %v", err)
	}
	if _, err := DecodeLimited([]byte(deep), Limits{Depth: 300}); err != nil {
		t.Errorf("depth 200 of 300: %v", err)
	}
	if _, err := DecodeLimited([]byte(`"aaaa"`), Limits{Bytes: 5}); err == nil {
		t.Error("six bytes of five were read")
	}
	v, err := DecodeLimited([]byte(`{"a":1,"a":2}`), Limits{LastWins: true})
	if err != nil || string(Compact(v)) != `{"a":2}` {
		t.Errorf("last wins: %s %v", Compact(v), err)
	}
}

func TestRoundTripKeepsWhatWasRead(t *testing.T) {
	for _, doc := range []string{
		`{"z":1,"a":{"y":[1.0,2e3,-0],"b":null},"":true}`, `"\ud83d"`, `"\ude00\ud83d"`, `"😀 é \u2028"`,
		`{"n":12345678901234567890.000000001}`,
	} {
		v, err := Decode([]byte(doc))
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		want := strings.ReplaceAll(doc, `\u2028`, "\u2028")
		if got := string(Compact(v)); got != want {
			t.Errorf("%s became %s", want, got)
		}
	}
}

// TestFloatIsECMAScript compares with the output of JSON.stringify for these doubles.
func TestFloatIsECMAScript(t *testing.T) {
	tenth, fifth := 0.1, 0.2 // variables: constants would be added exactly
	for want, f := range map[string]float64{
		"0":                     0,
		"1":                     1,
		"0.1":                   0.1,
		"4.75":                  4.75,
		"1e+21":                 1e21,
		"100000000000000000000": 1e20,
		"0.000001":              1e-6,
		"1e-7":                  1e-7,
		"1.5e-9":                1.5e-9,
		"-2.5e+300":             -2.5e300,
		"0.30000000000000004":   tenth + fifth,
	} {
		if got := string(Float(f)); got != want {
			t.Errorf("%v is spelled %s, want %s", f, got, want)
		}
	}
}

func TestInt64InAnySpelling(t *testing.T) {
	for n, want := range map[Number]int64{"1": 1, "1.0": 1, "1e0": 1, "-3": -3, "12e2": 1200} {
		if got, ok := n.Int64(); !ok || got != want {
			t.Errorf("%s is %d %v", n, got, ok)
		}
	}
	for _, n := range []Number{"1.5", "1e400", "9007199254740993.5"} {
		if got, ok := n.Int64(); ok {
			t.Errorf("%s counts as integer %d", n, got)
		}
	}
}

type inner struct {
	Name  string `json:"name"`
	Extra Extra
}

type record struct {
	ID      string      `json:"id"`
	Count   int         `json:"count,omitempty"`
	Ratio   float64     `json:"ratio"`
	Maybe   *string     `json:"maybe"`
	List    []string    `json:"list"`
	Inner   *inner      `json:"inner,omitempty"`
	Turns   Map[*inner] `json:"turns"`
	Raw     *Object     `json:"raw"`
	Any     Value       `json:"any"`
	Ignored string      `json:"-"`
	Extra   Extra
}

func TestCodecKeepsUnknownMembersAndOrder(t *testing.T) {
	doc := `{"x_first":[1],"turns":{"t2":{"later":true,"name":"b"},"t1":{"name":"a"}},"id":"r","maybe":null,"ratio":0.5,"list":["p"],"raw":{"k":1},"any":[null],"inner":{"name":"n","zz":{}},"x_last":1e2}`
	o, err := DecodeObject([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if errs := Unmarshal(o, &r); len(errs) > 0 {
		t.Fatal(errs)
	}
	if r.ID != "r" || r.Turns.Len() != 2 || r.Turns.Keys()[0] != "t2" || r.Inner.Name != "n" {
		t.Fatalf("%+v", r)
	}
	if got := string(Compact(Marshal(&r))); got != doc {
		t.Errorf("\n%s became\n%s", doc, got)
	}
	r.Extra.Delete("x_first")
	r.Extra.Set("new", 3)
	r.Count = 7
	got := string(Compact(Marshal(&r)))
	if strings.Contains(got, "x_first") || !strings.Contains(got, `"new":3`) || !strings.Contains(got, `"count":7`) {
		t.Errorf("after edits: %s", got)
	}
}

func TestCodecReportsWrongTypes(t *testing.T) {
	o, _ := DecodeObject(
		[]byte(`{"id":1,"count":1.5,"ratio":"x","list":{},"turns":{"t":{"name":[]},"u":3},"inner":"s"}`),
	)
	var r record
	errs := Unmarshal(o, &r)
	want := []string{"id", "count", "ratio", "list", "turns.t.name", "turns.u", "inner"}
	if len(errs) != len(want) {
		t.Fatalf("%d errors: %v", len(errs), errs)
	}
	for i, e := range errs {
		if e.Path != want[i] {
			t.Errorf("error %d is about %s, want %s", i, e.Path, want[i])
		}
	}
}

func genValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e12, 1e12), func(f float64) any { return Float(f) }))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(genValue(depth-1), 0, 4), func(a []any) any {
			if a == nil {
				a = []any{}
			}
			return a
		}),
		rapid.Map(rapid.MapOfN(rapid.String(), genValue(depth-1), 0, 4), func(m map[string]any) any {
			o := &Object{}
			for k, v := range m {
				o.Set(k, v)
			}
			return o
		}))
}

func TestEncodeDecodeIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		for _, enc := range [][]byte{Compact(v), Pretty(v)} {
			back, err := Decode(enc)
			if err != nil {
				t.Fatalf("%s: %v", enc, err)
			}
			if !Equal(v, back) {
				t.Fatalf("%s came back as %s", enc, Compact(back))
			}
			if !json.Valid(enc) {
				t.Fatalf("encoding/json does not accept %s", enc)
			}
		}
	})
}

func TestCloneIsDeep(t *testing.T) {
	o, _ := DecodeObject([]byte(`{"a":{"b":[{"c":1}]}}`))
	c := o.Clone()
	c.Object("a").Objects("b")[0].Set("c", 2)
	if got := string(Compact(o)); got != `{"a":{"b":[{"c":1}]}}` {
		t.Errorf("the original became %s", got)
	}
}

// FuzzDecode checks that no input panics; that encoding/json also accepts what is accepted and reads the same; that
// this survives a round trip; and that what is refused is refused there too, or for one of the reasons why we are
// stricter.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d\ude00",null]}`, `"\ud83d"`, "[1e5,-0.0]", "{\"\":{}}", "\"\xff\"",
		`{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	stricter := regexp.MustCompile(`duplicate|twice|UTF-8|surrogate|nested|deep|number|bytes`)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			if json.Valid(data) && !stricter.MatchString(err.Error()) {
				t.Fatalf("refused what encoding/json accepts: %q: %v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what encoding/json refuses: %q", data)
		}
		back, err := Decode(Pretty(v))
		if err != nil || !Equal(v, back) {
			t.Fatalf("%q does not survive: %v", data, err)
		}
		plain := func(data []byte) any {
			var out any
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			if err := d.Decode(&out); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			return out
		}
		if ours, theirs := plain(Compact(v)), plain(data); !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("%q is %#v, and to encoding/json %#v", data, ours, theirs)
		}
	})
}
