// Reading: JSON values into structs.

package wire

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits of every protocol document: 64 MiB, 100 levels, no repeated member.
const (
	MaxBytes = 64 << 20
	MaxDepth = 100
)

// Limits returns them for a reader of JSON.
func Limits() ojson.Limits { return ojson.Limits{Bytes: MaxBytes, Depth: MaxDepth} }

// Parse reads one JSON document within the limits.
func Parse(data []byte) (ojson.Value, error) {
	v, err := ojson.DecodeLimited(data, Limits())
	if err != nil {
		return nil, Problems{{Rule: RuleSyntax, Text: err.Error()}}
	}
	return v, nil
}

// Decode fills dst, a pointer to a struct or to an enum, from v. The error is
// Problems: every fault of the document. dst is usable only without error.
func Decode(v ojson.Value, dst any) error {
	d := &decoder{}
	d.into(v, reflect.ValueOf(dst).Elem(), "", false)
	return d.problems.err()
}

// From reads v as a T. The error is Problems.
func From[T any](v ojson.Value) (*T, error) {
	dst := new(T)
	if err := Decode(v, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// Checker is a struct with rules beyond the types of its members. Check is called once its own
// members are valid.
type Checker interface {
	Check(report func(member, rule, text string))
}

type decoder struct{ problems Problems }

func (d *decoder) fault(pointer, rule, text string) {
	d.problems.Add(pointer, rule, text)
}

func (d *decoder) want(pointer, want string, v ojson.Value) {
	d.fault(pointer, RuleType, "must be "+want+", not "+ojson.TypeName(v))
}

// into reads v into rv; open says the family of the object that rv is a member of.
func (d *decoder) into(v ojson.Value, rv reflect.Value, at string, open bool) {
	t := rv.Type()
	switch {
	case t == anyType:
		d.free(v, at, open)
		if v != nil {
			rv.Set(reflect.ValueOf(v))
		}
		return
	case t == objectType:
		o, ok := v.(*ojson.Object)
		if !ok {
			d.want(at, "an object", v)
			return
		}
		d.free(o, at, open)
		rv.Set(reflect.ValueOf(o))
		return
	}
	if set := SetOf(t); set != nil {
		d.enum(v, rv, at, open, set)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		d.into(v, p.Elem(), at, open)
		rv.Set(p)
	case reflect.Struct:
		d.object(v, rv, at)
	case reflect.Slice:
		a, ok := v.([]any)
		if !ok {
			d.want(at, "an array", v)
			return
		}
		s := reflect.MakeSlice(t, len(a), len(a))
		for i, e := range a {
			if len(d.problems) >= MaxProblems {
				return
			}
			d.into(e, s.Index(i), ojson.Item(at, i), open)
		}
		rv.Set(s)
	default:
		d.scalar(v, rv, at, open)
	}
}

func (d *decoder) scalar(v ojson.Value, rv reflect.Value, at string, open bool) {
	switch rv.Kind() {
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			d.want(at, "a string", v)
			return
		}
		d.free(s, at, open)
		rv.SetString(s)
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			d.want(at, "a boolean", v)
			return
		}
		rv.SetBool(b)
	case reflect.Float64:
		f, ok := float(v, open)
		if !ok {
			if _, isNumber := v.(ojson.Number); isNumber {
				d.fault(at, RuleNumber, "is out of the range of a number")
			} else {
				d.want(at, "a number", v)
			}
			return
		}
		rv.SetFloat(f)
	default:
		text, ok := digits(v, open)
		if !ok {
			if _, isNumber := v.(ojson.Number); isNumber {
				d.fault(at, RuleInteger, "must be an integer, not "+ojson.Shown(v))
			} else {
				d.want(at, "an integer", v)
			}
			return
		}
		d.integer(text, rv, at)
	}
}

func (d *decoder) integer(text string, rv reflect.Value, at string) {
	bits := rv.Type().Bits()
	if rv.CanUint() {
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			d.fault(at, RuleInteger, "must be an integer from 0 to "+strconv.FormatUint(math.MaxUint64>>(64-bits), 10))
			return
		}
		rv.SetUint(n)
		return
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		d.fault(at, RuleInteger, "must be an integer of "+strconv.Itoa(bits)+" bits")
		return
	}
	rv.SetInt(n)
}

// digits returns the integer that v spells: a literal without fraction or exponent in the strict
// family; any spelling, also as a string, in the portable one.
func digits(v ojson.Value, open bool) (string, bool) {
	switch v := v.(type) {
	case ojson.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			if v == "-0" {
				return "0", open
			}
			return string(v), true
		}
		if n, ok := v.Int64(); ok && open {
			return strconv.FormatInt(n, 10), true
		}
	case string:
		if !open || v == "" || strings.Trim(strings.TrimPrefix(v, "-"), "0123456789") != "" {
			return "", false
		}
		return v, true
	}
	return "", false
}

func float(v ojson.Value, open bool) (float64, bool) {
	switch v := v.(type) {
	case ojson.Number:
		return v.Float64()
	case string:
		switch {
		case !open:
		case v == "NaN":
			return math.NaN(), true
		case v == "Infinity":
			return math.Inf(1), true
		case v == "-Infinity":
			return math.Inf(-1), true
		default:
			if n, err := ojson.Decode([]byte(v)); err == nil {
				if n, ok := n.(ojson.Number); ok {
					return n.Float64()
				}
			}
		}
	}
	return 0, false
}

func (d *decoder) enum(v ojson.Value, rv reflect.Value, at string, open bool, set *Set) {
	if open {
		if token, ok := set.lenient(v); ok {
			rv.SetString(token)
			return
		}
	} else if s, ok := v.(string); ok && set.Has(s) {
		rv.SetString(s)
		return
	}
	switch v.(type) {
	case string, ojson.Number:
		d.fault(at, RuleEnum, "must be one of "+set.List()+", not "+ojson.Shown(v))
	default:
		d.want(at, "a string", v)
	}
}

// free checks what a strict reader refuses inside free-form values: text that is not Unicode and
// numbers that a double cannot hold. Open objects keep both.
func (d *decoder) free(v ojson.Value, at string, open bool) {
	if open {
		return
	}
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			d.fault(at, RuleText, "contains half of a surrogate pair")
		}
	case ojson.Number:
		if _, ok := v.Float64(); !ok {
			d.fault(at, RuleNumber, "is out of the range of a number")
		}
	case []any:
		for i, e := range v {
			d.free(e, ojson.Item(at, i), open)
		}
	case *ojson.Object:
		for k, e := range v.All() {
			if !utf8.ValidString(k) {
				d.fault(at, RuleText, "has a member whose name contains half of a surrogate pair")
				continue
			}
			d.free(e, ojson.Member(at, k), open)
		}
	}
}
