// Generated documents, their spellings and their changes.

package kb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

type generator struct{ *rand.Rand }

func (g *generator) object(depth int) *ojson.Object {
	o := &ojson.Object{}
	for range g.IntN(6) {
		o.Set(g.name(), g.value(depth+1))
	}
	return o
}

// name never returns a member that the identity leaves out.
func (g *generator) name() string {
	return []string{"sources", "é", "€", "😀", "\ufb33", "a\nb", "", "kbhash", "10", "9", "Z"}[g.IntN(11)] + g.text()
}

func (g *generator) text() string {
	var b strings.Builder
	for range g.IntN(6) {
		switch g.IntN(6) {
		case 0:
			b.WriteRune(rune(g.IntN(0x20)))
		case 1:
			b.WriteRune(rune(0x10000 + g.IntN(0x1000)))
		case 2:
			b.WriteRune([]rune("\"\\/\u007f\u2028\u2029\ufffd\ue000\uffff")[g.IntN(9)])
		default:
			b.WriteRune(rune(0x20 + g.IntN(0x300)))
		}
	}
	return b.String()
}

func (g *generator) value(depth int) ojson.Value {
	k := g.IntN(8)
	if depth > 4 {
		k = g.IntN(5)
	}
	switch k {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return g.text()
	case 3, 4:
		return ojson.Float(g.number())
	case 5:
		a := []any{}
		for range g.IntN(5) {
			a = append(a, g.value(depth+1))
		}
		return a
	}
	return g.object(depth)
}

func (g *generator) number() float64 {
	switch g.IntN(4) {
	case 0:
		return float64(g.IntN(2000) - 1000)
	case 1:
		return float64(g.Int64N(1<<54)) / 1000
	case 2:
		return g.NormFloat64() * math.Pow(10, float64(g.IntN(60)-30))
	}
	for {
		if f := math.Float64frombits(g.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

// spell writes v; wild spellings permute members and vary white space, numbers and escapes.
func (g *generator) spell(v ojson.Value, wild bool) []byte {
	var b []byte
	space := func() {
		for wild && g.IntN(3) == 0 {
			b = append(b, " \t\r\n"[g.IntN(4)])
		}
	}
	var write func(v ojson.Value)
	write = func(v ojson.Value) {
		space()
		switch v := v.(type) {
		case string:
			b = g.spellText(b, v, wild)
		case ojson.Number:
			b = append(b, g.spellNumber(v, wild)...)
		case []any:
			b = append(b, '[')
			for i, e := range v {
				if i > 0 {
					b = append(b, ',')
				}
				write(e)
			}
			space()
			b = append(b, ']')
		case *ojson.Object:
			b = append(b, '{')
			order := make([]int, v.Len())
			for i := range order {
				order[i] = i
			}
			if wild {
				g.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			}
			for i, at := range order {
				if i > 0 {
					b = append(b, ',')
				}
				space()
				key := v.Keys()[at]
				b = g.spellText(b, key, wild)
				space()
				b = append(b, ':')
				e, _ := v.Get(key)
				write(e)
			}
			space()
			b = append(b, '}')
		default:
			b = append(b, ojson.Compact(v)...)
		}
		space()
	}
	write(v)
	return b
}

func (g *generator) spellText(b []byte, s string, wild bool) []byte {
	if !wild {
		return ojson.AppendString(b, s)
	}
	b = append(b, '"')
	for _, r := range s {
		if g.IntN(3) > 0 && r != '"' && r != '\\' && r >= 0x20 {
			b = append(b, string(r)...)
			continue
		}
		if r == '/' {
			b = append(b, `\/`...)
			continue
		}
		format := `\u%04x`
		if g.IntN(2) == 0 {
			format = `\u%04X`
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b = fmt.Appendf(b, format, unit)
		}
	}
	return append(b, '"')
}

func (g *generator) spellNumber(n ojson.Number, wild bool) string {
	f, _ := n.Float64()
	if !wild {
		return string(n)
	}
	switch g.IntN(5) {
	case 0:
		return strconv.FormatFloat(f, 'e', 17+g.IntN(8), 64)
	case 1:
		return strings.ToUpper(strconv.FormatFloat(f, 'e', -1, 64))
	case 2:
		if a := math.Abs(f); a < 1e25 && a > 1e-25 {
			return strconv.FormatFloat(f, 'f', 60, 64)
		}
	case 3:
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return strconv.FormatFloat(f, 'f', 1+g.IntN(4), 64)
		}
	}
	return string(n)
}

// change changes the meaning of a document somewhere.
func (g *generator) change(o *ojson.Object) {
	for {
		key := o.Keys()[g.IntN(o.Len())]
		v, _ := o.Get(key)
		switch g.IntN(4) {
		case 0: // go down
			if child, ok := v.(*ojson.Object); ok && child.Len() > 0 {
				g.change(child)
				return
			}
			continue
		case 1:
			o.Delete(key)
		case 2:
			o.Set(key+"'", v)
		default:
			o.Set(key, g.other(v))
		}
		return
	}
}

// other returns a value that is not v.
func (g *generator) other(v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return !v
	case string:
		return v + "x"
	case ojson.Number:
		f, _ := v.Float64()
		if g.IntN(2) == 0 {
			return string(v) // text is not a number
		}
		return ojson.Float(math.Nextafter(f, -f-1)) // the smallest change there is
	case []any:
		return append([]any{nil}, v...)
	}
	return []any{v}
}
