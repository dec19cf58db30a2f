package text_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// forms are all functions of this package that make text visible.
var forms = map[string]func(string) string{
	"Visible": text.Visible,
	"Lines":   text.Lines,
	"OneLine": text.OneLine,
	"Brief":   func(s string) string { return text.Brief(s, 1<<20) },
	"JSON": func(s string) string {
		doc, _ := json.Marshal(s) // escapes C0, U+2028 and U+2029 by itself
		return string(text.JSON(doc))
	},
	"Writer": func(s string) string {
		var b bytes.Buffer
		w := text.Writer{To: &b}
		for i := range len(s) {
			_, _ = w.Write([]byte{s[i]})
		}
		return b.String()
	},
}

// carried returns texts with a rune of the table: between letters, alone, repeated, after a symbol, at the ends.
func carried(r rune) []string {
	c := string(r)
	return []string{"a" + c + "b", c, c + c + c, c + "a", "a" + c, "漢" + c + "字", "☃" + c + c, "سلا" + c + c + "م",
		"1" + c + "a"}
}

func TestNoRuneOfTheTablePasses(t *testing.T) {
	n := 0
	for r, what := range text.HostileRunes() {
		n++
		if !text.Hostile(r) {
			t.Fatalf("%U (%s) is in the table and not hostile", r, what)
		}
		for name, show := range forms {
			for _, in := range carried(r) {
				out := show(in)
				// One selector or joiner may stay, after what it belongs to.
				most := 0
				if r == 0xfe0e || r == 0xfe0f {
					most = 1
				}
				if r == '\n' || r == '\t' {
					most = strings.Count(in, string(r))
				}
				if got := strings.Count(out, string(r)); got > most {
					t.Errorf("%s(%q) = %q: %U (%s) stands there %d times, want %d at most", name, in, out, r, what,
						got, most)
				}
				if out == "" && name != "OneLine" && name != "Brief" && name != "Writer" {
					t.Errorf("%s(%q) is empty: what is hidden must be shown", name, in)
				}
			}
		}
	}
	if n < 4000 {
		t.Errorf("the table gave %d runes", n)
	}
}

// TestTableHasWhatUnicodeHides compares the table with Unicode's own properties.
func TestTableHasWhatUnicodeHides(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		hidden := unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Join_Control,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
			unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
		// Characters of the category Cf with a visible shape are harmless.
		hidden = hidden || unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		if hidden && !text.Hostile(r) {
			t.Errorf("%U is hidden and not in the table", r)
		}
		if text.Hostile(r) && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !hidden {
			t.Errorf("%U is visible and in the table", r)
		}
	}
}

func TestHowARuneIsShown(t *testing.T) {
	for in, want := range map[string]string{
		"plain ✓ 漢字\n\ttab": "plain ✓ 漢字\n\ttab",
		"a\x1b[2Jb\r":       "a^[[2Jb^M",
		"\x00\x7f\u009b":    `^@\u007f\u009b`,
		"\u061c\u200e\u200f\u202a\u202e\u2066\u2069": `\u061c\u200e\u200f\u202a\u202e\u2066\u2069`,
		"\ufeff\u2060\ufff9\u2028\u00ad":             `\ufeff\u2060\ufff9\u2028\u00ad`,
		"\U000e0041\U000e0100\U0010fffd":             `\U000e0041\U000e0100\U0010fffd`,
		"a\xffb\xe2\x80":                             "a\ufffdb\ufffd\ufffd",
		// Ordinary writing stays as it is.
		"می\u200cخواهم":             "می\u200cخواهم",             // Persian, with a non-joiner
		"क्\u200dष":                 "क्\u200dष",                 // Hindi, with a joiner
		"👩\u200d🔧 ❤\ufe0f 3\ufe0f⃣": "👩\u200d🔧 ❤\ufe0f 3\ufe0f⃣", // emoji
		"🏳\ufe0f\u200d🌈":            "🏳\ufe0f\u200d🌈",
		// The same runes where they have no meaning.
		"a\u200cb 1\ufe0f \u200d": `a\u200cb 1\ufe0f \u200d`,
		"❤\ufe0f\ufe0f":           "❤\ufe0f" + `\ufe0f`,
		"م\u200c\u200dم":          `م\u200c\u200dم`,
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := text.Lines("a\r\nb\rc\u2028d\u0085e"), "a\nb\nc\nd\ne"; got != want {
		t.Errorf("Lines: %q, want %q", got, want)
	}
	if got, want := text.OneLine(" a\n\n b\t\x1bc\u2029\u0085"), "a b ^[c"; got != want {
		t.Errorf("OneLine: %q, want %q", got, want)
	}
}

func TestJSONSaysTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringOf(
			rapid.SampledFrom([]rune("a\"\\\n\u202e\u200d\U000e0041\U0010ffff👩❤\ufe0f")),
		))).Draw(rt, "strings")
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		_ = e.Encode(in)
		out := text.JSON(b.Bytes())
		var back, want []string
		if err := json.Unmarshal(out, &back); err != nil {
			rt.Fatalf("%q: %v", out, err)
		}
		_ = json.Unmarshal(b.Bytes(), &want)
		if strings.Join(back, "|") != strings.Join(want, "|") {
			rt.Errorf("%q became %q", want, back)
		}
	})
}

func TestVisibleIsItsOwnResult(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return string(b)
		})).Draw(rt, "text")
		out := text.Visible(in)
		if !utf8.ValidString(out) || text.Visible(out) != out {
			rt.Errorf("Visible(%q) = %q, and again %q", in, out, text.Visible(out))
		}
	})
}

func TestCuts(t *testing.T) {
	for _, tc := range []struct {
		got, want string
	}{
		{text.Cut("aé漢", 3), "aé"},
		{text.Cut("aé漢", 2), "a"},
		{text.Cut("aé漢", 0), ""},
		{text.Cut("aé漢", 6), "aé漢"},
		{text.Clip("aé漢", 5), "aé…"},
		{text.Clip("aé漢", 6), "aé漢"},
		{text.CutRunes("aé漢", 2), "aé"},
		{text.CutRunes("aé漢", 3), "aé漢"},
		{text.ClipRunes("aé漢", 1), "a…"},
		{text.Count(1, "way", "ways") + text.Count(0, "way", "ways"), "1 way0 ways"},
		{text.CutUnits("a😀b", 2), "a"},
		{text.CutUnits("a😀b", 3), "a😀"},
		{text.Truncate("漢字漢字", 4), "漢…"},
		{text.Truncate("abcdef", 4), "abc…"},
		{text.Pad("漢", 4) + "|", "漢  |"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
	for s, want := range map[string]int{"abc": 3, "漢字": 4, "e\u0301": 1, "👍": 2, "\t": 0, "ｱ": 1, "Ａ": 2} {
		if got := text.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func BenchmarkVisible(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": strings.Repeat("a plain line of ordinary text\n", 1000),
		"cjk":   strings.Repeat("漢字かな交じり文の行\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for range b.N {
				text.Visible(s)
			}
		})
	}
}

func TestBrief(t *testing.T) {
	for in, want := range map[string]string{"": "", " a\n\tb ": "a b", "abcdefgh": "abcde...", "äöü": "äö..."} {
		if got := text.Brief(in, 5); got != want {
			t.Errorf("Brief(%q) = %q, want %q", in, got, want)
		}
	}
}
