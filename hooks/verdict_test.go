// Reading answers (docs/hooks.md#what-a-hook-answers).

package hooks

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestParseAnswer(t *testing.T) {
	for in, want := range map[string]string{
		`{"verdict":"allow"}`:                                "allow null []",
		" \n\t{\"verdict\":\"warn\",\"other\":1}\r\n\ufeff ": "warn null []",
		`{"verdict":"block","message":"m"}`:                  `block "m" []`,
		`{"verdict":"block","message":""}`:                   "block null []",
		`{"verdict":"block","message":0}`:                    "block null []",
		`{"verdict":"block","message":-0.0}`:                 "block null []",
		`{"verdict":"block","message":false}`:                "block null []",
		`{"verdict":"block","message":1}`:                    "block 1 []",
		`{"verdict":"block","message":[]}`:                   "block [] []",
		`{"verdict":"block","verdict":"allow"}`:              "allow null []",
		`{"verdict":"allow","annotations":{"key":"a"}}`:      "allow null []",
		`{"verdict":"allow","annotations":[{"key":"a-_9","value":"","x":1},{"key":"","value":"v"},{"key":"A","value":"v"},{"value":"v"},{"key":"k"},null,"s"]}`: `allow null [{"key":"a-_9","value":""}]`,
		"":                             "",
		"null":                         "",
		"[]":                           "",
		`"allow"`:                      "",
		`{}`:                           "",
		`{"verdict":"Allow"}`:          "",
		`{"verdict":["allow"]}`:        "",
		`{"verdict":"allow"} x`:        "",
		"log\n{\"verdict\":\"allow\"}": "",
		"{\"verdict\":\"allow\"}\n{}":  "",
		`{"verdict":"allow",}`:         "",
		strings.Repeat("[", 100000):    "",
	} {
		a, ok := parseAnswer([]byte(in), nil)
		got := ""
		if ok {
			got = a.verdict + " " + string(ojson.Compact(a.message)) + " " + string(ojson.Compact(a.annotations))
		}
		if got != want {
			t.Errorf("%.200s: %s, want %s", in, got, want)
		}
	}
}

func TestParseAnswerBounds(t *testing.T) {
	long := strings.Repeat("😀", 3000)
	items := strings.Repeat(`{"key":"k","value":"`+long+`"},`, 20)
	a, ok := parseAnswer([]byte(`{"verdict":"warn","message":"`+long+`","annotations":[7,`+items+`7]}`), nil)
	if !ok || a.message != strings.Repeat("😀", 2048) || len(a.annotations) != 15 ||
		a.annotations[0].String("value") != strings.Repeat("😀", 500) {
		t.Errorf("%v, %d annotations", ok, len(a.annotations))
	}
	a, ok = parseAnswer([]byte(`{"verdict":"warn","message":["`+long+`"]}`), nil)
	if m, isText := a.message.(string); !ok || !isText || !strings.HasPrefix(m, `["😀`) || len(m) > 3*maxMessage {
		t.Errorf("%v, %T", ok, a.message)
	}
	a, _ = parseAnswer([]byte(`{"verdict":"warn","message":{"a":["key secret-value"]}}`), secrets{"secret-value"})
	if got := string(ojson.Compact(a.message)); got != `{"a":["key ***"]}` {
		t.Error(got)
	}
}

// TestAnswerProperty: any object with a verdict among other members is read; what is kept obeys the bounds.
func TestAnswerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := ojson.NewObject("verdict",
			rapid.SampledFrom([]any{"allow", "warn", "block", "deny", nil, ojson.Int(1), true}).Draw(t, "verdict"))
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9_-]{0,5}`))
		if rapid.Bool().Draw(t, "has message") {
			o.Set("message", text.Draw(t, "message"))
		}
		var items []any
		kept := 0
		for i := range rapid.IntRange(0, 20).Draw(t, "items") {
			key, value := text.Draw(t, "key"), text.Draw(t, "value")
			items = append(items, ojson.NewObject("key", key, "value", value))
			if i < maxAnnotations && isKey(key) {
				kept++
			}
		}
		o.Set("annotations", items)
		o.Set(rapid.StringMatching(`x[a-z]{0,8}`).Draw(t, "other"), text.Draw(t, "other value"))
		a, ok := parseAnswer(append([]byte("\n "), ojson.Pretty(o)...), nil)
		verdict := o.String("verdict")
		if want := verdict == "allow" || verdict == "warn" || verdict == "block"; ok != want {
			t.Fatalf("read: %v, verdict %v", ok, verdict)
		}
		if !ok {
			return
		}
		if a.verdict != verdict || len(a.annotations) != kept ||
			messageText(a.message) != cut(o.String("message"), maxMessage) {
			t.Fatalf("%+v", a)
		}
	})
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 5, "abc"},
		{"abc", 2, "ab"},
		{"a😀b", 2, "a"},
		{"a😀b", 3, "a😀"},
		{"é\xff", 5, "é\ufffd"},
		{"", 0, ""},
		{"a", 0, ""},
		{strings.Repeat("€", 9), 4, "€€€€"},
	} {
		if got := cut(tc.in, tc.n); got != tc.want {
			t.Errorf("cut(%q, %d) = %q", tc.in, tc.n, got)
		}
	}
}

// FuzzVerdict: no answer, however strange, gets past the bounds.
func FuzzVerdict(f *testing.F) {
	f.Add([]byte(`{"verdict":"allow"}`))
	f.Add([]byte(`{"verdict":"block","message":{"a":[1,"\ud800"]},"annotations":[{"key":"k","value":"\udc00"}]}`))
	f.Add([]byte("\ufeff{\"verdict\":\"warn\",\"message\":1e999}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, ok := parseAnswer(data, secrets{"secretvalue"})
		if !ok {
			return
		}
		if a.verdict != VerdictAllow && a.verdict != VerdictWarn && a.verdict != VerdictBlock {
			t.Fatalf("verdict %q", a.verdict)
		}
		e := Entry{Message: a.message, Annotations: a.annotations}
		row := ojson.Compact(e.Row())
		if len(messageText(a.message)) > 6*maxMessage || len(a.annotations) > maxAnnotations {
			t.Fatalf("%d bytes of message, %d annotations", len(messageText(a.message)), len(a.annotations))
		}
		if !utf8.Valid(row) || strings.Contains(string(row), "secretvalue") {
			t.Fatalf("%s", row)
		}
		if _, err := ojson.DecodeObject(row); err != nil {
			t.Fatalf("%v: %s", err, row)
		}
	})
}
