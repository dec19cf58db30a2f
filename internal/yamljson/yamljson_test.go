package yamljson

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestConvert(t *testing.T) {
	for in, want := range map[string]string{
		"a: 1\nb: x y\n":                            "{\"a\":1,\n\"b\":\"x y\"}",
		"a:\n\n  b: ~\n  c:\n":                      "{\"a\":\n\n{\"b\":null,\n\"c\":null}}",
		"{a: [1, 2.50, 1e3, -0], b: True}":          `{"a":[1,2.50,1e3,-0],"b":true}`,
		"a: 12345678901234567890.12345678901234567": `{"a":12345678901234567890.12345678901234567}`,
		"d: 2026-01-02\nt: 12:30:45\nv: 1.2.3":      "{\"d\":\"2026-01-02\",\n\"t\":\"12:30:45\",\n\"v\":\"1.2.3\"}",
		`{a: "no", 'b': 'it''s', "c": "\u00e9\n"}`:  `{"a":"no","b":"it's","c":"é\n"}`,
		"no: 1\n010: 2\n~x: 3":                      "{\"no\":1,\n\"010\":2,\n\"~x\":3}",
		"a: |\n  # T\n\n  x: y\nb: >-\n  c\n  d\n":  "{\"a\":\"# T\\n\\nx: y\\n\",\n\n\n\n\"b\":\"c d\"}",
		"a: &x {b: 1}\nc: [*x, *x]\n":               "{\"a\":{\"b\":1},\n\"c\":[{\"b\":1},{\"b\":1}]}",
		"# c\n---\na: 1 # d\n...\n":                 "\n\n{\"a\":1}",
		"- - a\n  - b\n- c: d\n  e: f\n":            "[[\"a\",\n\"b\"],\n{\"c\":\"d\",\n\"e\":\"f\"}]",
		"a: x\n  y\r\nb: 1\r\n":                     "{\"a\":\"x y\",\n\n\"b\":1}",
		"\ufeff{}":                                  "{}",
	} {
		got, err := Convert([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: %v\n got %q\nwant %q", in, err, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		bomb += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 9) + "*a" + from + "]\n"
	}
	for in, want := range map[string]string{
		"a: 1\nb: no\n":                        `line 2: no is text in YAML 1.2 and false in YAML 1.1; write false, or "no"`,
		"a: On":                                `write true, or "On"`,
		"a: 010":                               "line 1: 010 is not a number in JSON; write it in decimal, or in quotes for text",
		"a: 0x1f":                              "0x1f is not a number in JSON",
		"a: 1_000":                             "1_000 is not a number in JSON",
		"a: .inf":                              ".inf is not a number in JSON",
		"a: 1\nb: 2\n\na: 3\n":                 `line 4: "a" is there twice, first in line 1; take one out`,
		"a: {b: 1, \"b\": 2}":                  `"b" is there twice`,
		"a: !!str 5":                           "line 1: the tag !!str is not taken",
		"a: &x {b: 1}\nc:\n  <<: *x\n":         "line 3: merge keys are not taken",
		"a: *x":                                "unknown anchor 'x' referenced",
		"a: &x [*x]":                           "line 1: the value named &x contains itself",
		"? [a, b]\n: c":                        "line 1: the name of a member is text",
		"a: 1\n---\nb: 2\n":                    "line 2: a file holds one document, this is a second one",
		"":                                     "the document is empty",
		"# nothing\n":                          "the document is empty",
		"a: 1\nb: [1, 2":                       "line 1: did not find expected ',' or ']'",
		"a: 1\nb: b: c":                        "line 2: mapping values are not allowed in this context",
		"x: 1\n\ta: 1":                         "line 2: found a tab character that violates indentation",
		"a: \"x\ny: 2":                         "line 2: found unexpected end of stream",
		"a: 1\nb: \x01":                        "control characters are not allowed",
		"a: \xff":                              "invalid leading UTF-8 octet",
		bomb:                                   "line 7: the aliases make more than 16777216 bytes",
		strings.Repeat("[", 20000):             "exceeded max depth of 10000",
		strings.Repeat("- ", 300) + "x":        "line 1: it is nested deeper than 200 levels",
		"a: |\n" + strings.Repeat(" x\n", 1e6): "3000005 bytes are more than a YAML document may have (1048576)",
	} {
		got, err := Convert([]byte(in))
		var e *Error
		if !errors.As(err, &e) || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %q, error %v, want %q", in, got, err, want)
		}
	}
}

// FuzzConvert checks that the result is JSON; and that JSON, which is YAML, converts to the same on the same lines.
func FuzzConvert(f *testing.F) {
	for _, s := range []string{"a: 1\nb: [x, {y: z}]\n", "a: |+\n  x\n\n\nb: >\n c\n  d\n", "a: &x \"q\\t\"\nc: *x\n",
		"- 'x''y'\n- - 1e3\n",
		"a:\r\n- b\r\n", "{\"a\": [1.50, true, null,\n\"x\\n\\u00e9\"],\n \"b\": {\"/\": -1e-3}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := Convert(data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 0 || e.Msg == "" || text != nil {
				t.Fatalf("%q with %T %v", text, err, err)
			}
			return
		}
		got, err := ojson.DecodeLimited(text, ojson.Limits{Depth: 2*maxDepth + 2})
		if err != nil {
			t.Fatalf("%q is not JSON: %v", text, err)
		}
		if want, err := ojson.Decode(data); err == nil &&
			(!ojson.Equal(got, want) || !maps.Equal(ojson.Lines(text), ojson.Lines(data))) {
			t.Fatalf("%q became %q", data, text)
		}
	})
}
