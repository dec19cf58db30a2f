// Typed access to the members of a configuration that collects findings instead of failing.

package config

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// decoder fills cfg section by section; every section method reports all
// its findings and leaves what it could not read at the zero value.
type decoder struct {
	cfg      *Config
	problems wire.Problems
	legacy   bool
}

func (d *decoder) add(code, field, value, format string, args ...any) {
	d.problems = append(d.problems, wire.Problem{
		Code:    code,
		Field:   field,
		Value:   value,
		Message: fmt.Sprintf(format, args...),
	})
}

// top returns an optional top-level object; null and absent give nil.
func (d *decoder) top(key, code string) *ojson.Object {
	s := section{d: d, o: d.cfg.Raw, code: code, nullable: []string{key}}
	return s.object(key).o
}

// section is one object of the document with its path and rule family.
// A section whose o is nil reads as empty.
type section struct {
	d        *decoder
	o        *ojson.Object
	path     string
	code     string
	nullable []string // members whose null means absent
}

func (d *decoder) section(o *ojson.Object, path, code string, nullable ...string) section {
	return section{d, o, path, code, nullable}
}

func (s section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

func (s section) value(key string) (ojson.Value, bool) {
	v, ok := s.o.Get(key)
	if ok && v == nil && slices.Contains(s.nullable, key) {
		return nil, false
	}
	return v, ok
}

// fail reports that the member is not as required.
func (s section) fail(key, want string, v ojson.Value) {
	s.d.add(s.code, s.at(key), valueText(v), "%s must be %s, not %s", s.at(key), want, ojson.Shown(v))
}

// failHidden is like fail for members that may hold a secret: it does not repeat the value.
func (s section) failHidden(key, want string) {
	s.d.add(s.code, s.at(key), "", "%s must be %s", s.at(key), want)
}

func (s section) missing(key, want string) {
	s.d.add(s.code, s.at(key), "", "%s is missing: it must be %s", s.at(key), want)
}

// text reads a string that is not blank.
func (s section) text(key string, required bool) string {
	const want = "a non-blank string"
	v, ok := s.value(key)
	if !ok {
		if required {
			s.missing(key, want)
		}
		return ""
	}
	if t, ok := v.(string); ok && wire.Trim(t) != "" {
		return t
	}
	s.fail(key, want, v)
	return ""
}

// enum reads one of a set of words; def when absent or wrong.
func (s section) enum(key string, required bool, def string, allowed ...string) string {
	v, ok := s.value(key)
	if !ok {
		if required {
			s.missing(key, oneOf(allowed))
		}
		return def
	}
	if t, ok := v.(string); ok && slices.Contains(allowed, t) {
		return t
	}
	s.fail(key, oneOf(allowed), v)
	return def
}

// boolean reads a flag; def when absent or wrong.
func (s section) boolean(key string, def bool) bool {
	v, ok := s.value(key)
	if !ok {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		s.fail(key, "true or false", v)
		return def
	}
	return b
}

// integer reads a whole number in lo..hi; nil when absent or wrong. hi
// math.MaxInt means no upper limit.
func (s section) integer(key string, lo, hi int) *int {
	v, ok := s.value(key)
	if !ok {
		return nil
	}
	if n, ok := v.(ojson.Number); ok {
		if i, ok := n.Int64(); ok && i >= int64(lo) && i <= int64(hi) {
			out := int(i)
			return &out
		}
	}
	s.fail(key, wantInteger(lo, hi), v)
	return nil
}

// number reads a finite number that ok accepts; nil when absent or wrong.
func (s section) number(key, want string, accept func(float64) bool) *float64 {
	v, ok := s.value(key)
	if !ok {
		return nil
	}
	if n, ok := v.(ojson.Number); ok {
		if f, ok := n.Float64(); ok && accept(f) {
			return &f
		}
	}
	s.fail(key, want, v)
	return nil
}

// object reads a nested object; the section's o is nil when absent or wrong.
func (s section) object(key string, nullable ...string) section {
	out := section{d: s.d, path: s.at(key), code: s.code, nullable: nullable}
	v, ok := s.value(key)
	if !ok {
		return out
	}
	if out.o, ok = v.(*ojson.Object); !ok {
		s.fail(key, "an object", v)
	}
	return out
}

// array reads an array; false when absent or wrong.
func (s section) array(key string) ([]any, bool) {
	v, ok := s.value(key)
	if !ok {
		return nil, false
	}
	a, ok := v.([]any)
	if !ok {
		s.fail(key, "an array", v)
	}
	return a, ok
}

// texts reads an array of non-blank strings and reports each invalid item.
func (s section) texts(key string) []string {
	a, _ := s.array(key)
	var out []string
	for i, v := range a {
		if t, ok := v.(string); ok && wire.Trim(t) != "" {
			out = append(out, t)
		} else {
			s.fail(fmt.Sprintf("%s[%d]", key, i), "a non-blank string", v)
		}
	}
	return out
}

// textMap checks an object whose values are strings. The values may be
// credentials and are never repeated.
func (s section) textMap(key string) {
	for k, v := range s.object(key).o.All() {
		if _, ok := v.(string); !ok {
			s.failHidden(key+"."+k, "a string")
		}
	}
}

// items yields sections for the objects in the array a of the member key, and reports items of another type.
func (s section) items(key string, a []any, nullable ...string) iter.Seq[section] {
	return func(yield func(section) bool) {
		for i, v := range a {
			item := fmt.Sprintf("%s[%d]", key, i)
			if o, ok := v.(*ojson.Object); !ok {
				s.fail(item, "an object", v)
			} else if !yield(section{s.d, o, s.at(item), s.code, nullable}) {
				return
			}
		}
	}
}

// only refuses members that are not listed.
func (s section) only(allowed ...string) {
	for _, k := range s.o.Keys() {
		if !slices.Contains(allowed, k) {
			s.d.add(ProblemUnknownField, s.at(k), k, "%s is not a known field; %s takes only %s", s.at(k), s.path,
				strings.Join(allowed, ", "))
		}
	}
}

// entries yields the members of a section that must be objects. A member of another type is reported and yielded
// with a nil object: its name is still declared, so references to it are not reported a second time.
func (s section) entries(nullable ...string) iter.Seq[configEntry] {
	return func(yield func(configEntry) bool) {
		for k, v := range s.o.All() {
			o, ok := v.(*ojson.Object)
			if !ok {
				s.fail(k, "an object", v)
			}
			if !yield(configEntry{k, section{s.d, o, s.at(k), s.code, nullable}}) {
				return
			}
		}
	}
}

type configEntry struct {
	key string
	section
}

// valid reports whether the entry is an object; its other members are judged only then.
func (e configEntry) valid() bool { return e.o != nil }

func oneOf(words []string) string {
	if len(words) == 1 {
		return strconv.Quote(words[0])
	}
	return "one of " + strings.Join(words, ", ")
}

func wantInteger(lo, hi int) string {
	if hi == math.MaxInt {
		return fmt.Sprintf("an integer of at least %d", lo)
	}
	return fmt.Sprintf("an integer from %d to %d", lo, hi)
}

// valueText returns the Problem.Value for v: scalars as text, containers as "".
func valueText(v ojson.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case ojson.Number:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
