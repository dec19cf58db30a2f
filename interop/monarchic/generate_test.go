// Random values of every type of the protocol, for the round trips.

package monarchic_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// generator makes values that obey every rule of their type.
type generator struct {
	*rand.Rand
	unknown bool // open objects get unknown members
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 9))}
}

// value returns a pointer to a new random value of t.
func (g *generator) value(t reflect.Type) any {
	p := reflect.New(t)
	g.fill(p.Elem(), 0)
	return p.Interface()
}

func (g *generator) text() string {
	samples := []string{"task-1", "Überprüfung", "日本語", "a/b\\c", "line\nbreak\ttab", `"quoted"`, "\u2028", "😀",
		"sha256:abc", " padded ", "\x7f\u0001", "v1"}
	return samples[g.IntN(len(samples))] + strconv.Itoa(g.IntN(1000))
}

func (g *generator) number() float64 {
	switch g.IntN(4) {
	case 0:
		return float64(g.IntN(1000))
	case 1:
		return -g.Float64()
	case 2:
		return g.Float64() * 1e12
	}
	return g.NormFloat64() * math.Pow(10, float64(g.IntN(60)-30))
}

func (g *generator) json(depth int) ojson.Value {
	n := 7
	if depth > 2 {
		n = 4
	}
	switch g.IntN(n) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return ojson.Float(g.number())
	case 3:
		return g.text()
	case 4:
		a := make([]any, g.IntN(4))
		for i := range a {
			a[i] = g.json(depth + 1)
		}
		return a
	}
	return g.object(depth + 1)
}

// object returns a free-form object with sorted keys, which every leg of a trip keeps.
func (g *generator) object(depth int) *ojson.Object {
	keys := make([]string, g.IntN(4))
	for i := range keys {
		keys[i] = g.text()
	}
	slices.Sort(keys)
	o := &ojson.Object{}
	for _, k := range slices.Compact(keys) {
		o.Set(k, g.json(depth))
	}
	return o
}

func (g *generator) fill(rv reflect.Value, depth int) {
	t := rv.Type()
	switch t {
	case reflect.TypeFor[*ojson.Object]():
		rv.Set(reflect.ValueOf(g.object(0)))
		return
	case reflect.TypeFor[ojson.Value]():
		rv.Set(reflect.ValueOf(g.object(0)))
		return
	}
	if set := wire.SetOf(t); set != nil {
		tokens := slices.DeleteFunc(slices.Clone(set.Tokens), func(s string) bool {
			return s == "" || s == "unspecified"
		})
		rv.SetString(tokens[g.IntN(len(tokens))])
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		rv.Set(reflect.New(t.Elem()))
		g.fill(rv.Elem(), depth)
	case reflect.Struct:
		g.members(rv, depth)
	case reflect.Slice:
		n := 1 + g.IntN(3)
		rv.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			g.fill(rv.Index(i), depth)
		}
	case reflect.String:
		rv.SetString(g.text())
	case reflect.Bool:
		rv.SetBool(g.IntN(2) == 0)
	case reflect.Float64:
		rv.SetFloat(g.number())
	case reflect.Int64:
		rv.SetInt(int64(g.Uint64()))
	default:
		rv.SetUint(g.Uint64() >> (64 - t.Bits()))
	}
}

func (g *generator) members(rv reflect.Value, depth int) {
	for _, m := range membersOf(rv.Type()) {
		deep := depth > 3 && m.goType.Kind() == reflect.Pointer
		if m.always || !deep && g.IntN(2) == 0 {
			g.fill(rv.FieldByIndex(m.index), depth+1)
		}
	}
	if open, ok := rv.Addr().Interface().(interface{ SetUnknown(string, any) }); ok && g.unknown && g.IntN(3) == 0 {
		open.SetUnknown("x_"+g.text(), g.json(0))
	}
	g.obey(rv.Addr().Interface())
}

// obey makes v obey the rules that tie members together.
func (g *generator) obey(v any) {
	switch v := v.(type) {
	case *strict.VerificationReceipt:
		switch v.Status {
		case strict.VerificationPassed:
			v.BlockedOutcomes = nil
		case strict.VerificationBlocked, strict.VerificationFailed:
			var b strict.BlockedOutcome
			g.fill(reflect.ValueOf(&b).Elem(), 3)
			v.BlockedOutcomes = append(v.BlockedOutcomes, b)
		}
	case *strict.TaskMessage:
		if v.Kind != strict.KindClarificationResponse {
			v.ReplyTo = nil
		}
	case *strict.AuthContext:
		if v.IssuedAt >>= 1; v.ExpiresAt != nil {
			*v.ExpiresAt = v.IssuedAt
		}
	case *strict.ManualOverrideRecord:
		v.CreatedAtMs >>= 1
		if v.ExpiresAtMs != nil {
			*v.ExpiresAtMs = v.CreatedAtMs + 1
		}
	}
}
