// The comparator: does an actual outcome satisfy a fixture's expectation (docs/conformance.md#checking).

package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// maxComparisons bounds the work of one Compare. Fixtures need a few hundred; two arrays crafted for
// element-by-element comparison in any order could otherwise occupy a verifier for hours.
const maxComparisons = 10_000_000

// hintKey is the member of an expectation, at any depth, that is for people and that the comparator ignores.
const hintKey = "warnings_allowed"

// Mismatch is the first difference Compare found.
type Mismatch struct {
	Path string // $, $.state.status, $.errors[0]
	Want string // what the expectation asks for, abridged
	Got  string // what was found, abridged
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", m.Path, m.Want, m.Got)
}

// Compare reports whether actual satisfies expected; nil means it does (docs/conformance.md#checking). Both are
// ojson values.
//
//   - An object whose member assert is a string is an assertion:
//     nonempty_string, id_prefix (value), present, unordered_array (items). An
//     assertion with another name is never satisfied.
//   - An array is matched by an array of the same length, item by item.
//   - Any other object is a minimal pattern: every member but warnings_allowed
//     must match the member of the same name; further members are ignored. It
//     can also be compared with an array, whose members are its indices and length.
//   - Everything else must be the same value of the same type. A missing member
//     is not null.
//
// The reference assigns the items of an unordered_array greedily. Compare uses a maximum matching: it accepts what
// greedy accepts, and what greedy misses only because of the order of items.
func Compare(expected, actual ojson.Value) *Mismatch {
	c := &comparison{budget: maxComparisons}
	return c.match("$", expected, actual, true)
}

// comparison is a Compare in progress. While quiet, only the answer counts and no message is built: thousands of
// items of unordered arrays may be tried.
type comparison struct {
	budget int
	quiet  bool
}

// silent is every mismatch while quiet; it is never read.
var silent Mismatch

// spent reports whether the comparison has used up its steps.
func (c *comparison) spent() bool { return c.budget < 0 }

func tooMuch(path string) *Mismatch {
	return &Mismatch{text.Clip(path,
		400), "a comparison of bounded size", "more than " + strconv.Itoa(maxComparisons) + " steps"}
}

// match compares actual with expected; there is false for a missing member.
func (c *comparison) match(path string, expected, actual ojson.Value, there bool) *Mismatch {
	if c.budget--; c.spent() {
		return tooMuch(path)
	}
	switch want := expected.(type) {
	case *ojson.Object:
		if isString(want.Value("assert")) {
			return c.assertion(path, want, actual, there)
		}
		return c.pattern(path, want, actual, there)
	case []any:
		got, ok := actual.([]any)
		if !there || !ok || len(got) != len(want) {
			return c.differ(path, count{len(want), ""}, actual, there)
		}
		for i := range want {
			if m := c.match(c.item(path, i), want[i], got[i], true); m != nil {
				return m
			}
		}
		return nil
	}
	if !there || !sameValue(expected, actual) {
		return c.differ(path, expected, actual, there)
	}
	return nil
}

func (c *comparison) item(path string, i int) string {
	if c.quiet {
		return ""
	}
	return path + "[" + strconv.Itoa(i) + "]"
}

func (c *comparison) pattern(path string, want *ojson.Object, actual ojson.Value, there bool) *Mismatch {
	get, ok := members(actual)
	if !there || !ok {
		return c.differ(path, phrase("an object"), actual, there)
	}
	for k, v := range want.All() {
		if k == hintKey {
			continue
		}
		got, has := get(k)
		sub := ""
		if !c.quiet {
			sub = path + "." + k
		}
		if m := c.match(sub, v, got, has); m != nil {
			return m
		}
	}
	return nil
}

// members returns a lookup function for the members of an object or an array, false for anything else.
func members(v ojson.Value) (func(string) (ojson.Value, bool), bool) {
	switch v := v.(type) {
	case *ojson.Object:
		return v.Get, v != nil
	case []any:
		return func(key string) (ojson.Value, bool) {
			if key == "length" {
				return ojson.Int(len(v)), true
			}
			i, err := strconv.Atoi(key)
			// Only the canonical spelling names an element: not 01, +1 or -0.
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != key {
				return nil, false
			}
			return v[i], true
		}, true
	}
	return nil, false
}

func (c *comparison) assertion(path string, want *ojson.Object, actual ojson.Value, there bool) *Mismatch {
	text, isText := actual.(string)
	switch name := want.String("assert"); name {
	case "present":
		if there {
			return nil
		}
		return c.differ(path, phrase("the member to be there"), actual, there)
	case "nonempty_string":
		if there && isText && !blank(text) {
			return nil
		}
		return c.differ(path, phrase("a string that is not blank"), actual, there)
	case "id_prefix":
		v, _ := want.Get("value")
		if prefix, ok := v.(string); ok && there && isText && strings.HasPrefix(text, prefix) {
			return nil
		}
		return c.differ(path, phrase("a string starting with "+show(v)), actual, there)
	case "unordered_array":
		items, ok := want.Value("items").([]any)
		if !ok {
			return c.differ(path, phrase("an unordered_array assertion with items"), want, true)
		}
		got, ok := actual.([]any)
		if !there || !ok || len(got) != len(items) {
			return c.differ(path, count{len(items), " in any order"}, actual, there)
		}
		return c.unordered(path, items, got)
	default:
		return c.differ(path, phrase("the assertion "+show(name)), phrase("no such assertion"), true)
	}
}

// unordered assigns each item its own element.
func (c *comparison) unordered(path string, items, got []any) *Mismatch {
	quiet := c.quiet
	c.quiet = true
	defer func() { c.quiet = quiet }()
	owner := make([]int, len(got)) // element -> item, -1 while free
	for i := range owner {
		owner[i] = -1
	}
	// Greedy first: it is enough for nearly every fixture.
	left := make([]int, 0, len(items))
	for i, item := range items {
		taken := false
		for j := range got {
			if c.spent() {
				break
			}
			if owner[j] < 0 && c.match(path, item, got[j], true) == nil {
				owner[j], taken = i, true
				break
			}
		}
		if c.spent() {
			return tooMuch(path)
		}
		if !taken {
			left = append(left, i)
		}
	}
	for _, i := range left {
		if !c.augment(path, items, got, owner, i) {
			c.quiet = quiet
			return c.differ(path, phrase("an element of its own for item "+strconv.Itoa(i)+" "+show(items[i])),
				any(got), true)
		}
	}
	return nil
}

// augment finds an element for item i by moving others along an alternating path (breadth first, so that a long
// path needs no stack).
func (c *comparison) augment(path string, items, got []any, owner []int, i int) bool {
	from := make([]int, len(got)) // element -> item that reached it
	seen := make([]bool, len(got))
	queue := []int{i}
	for len(queue) > 0 {
		item := queue[0]
		queue = queue[1:]
		for j := range got {
			if c.spent() {
				return false
			}
			if seen[j] || c.match(path, items[item], got[j], true) != nil {
				continue
			}
			seen[j], from[j] = true, item
			if owner[j] >= 0 {
				queue = append(queue, owner[j])
				continue
			}
			// Walk back: every item on the way gives its element to the next.
			for {
				item := from[j]
				prev := -1
				for k := range owner {
					if owner[k] == item && k != j {
						prev = k
						break
					}
				}
				owner[j] = item
				if item == i || prev < 0 {
					return true
				}
				j = prev
			}
		}
	}
	return false
}

// sameValue reports whether two scalars are identical: no coercion, numbers as doubles, and zero differs from minus
// zero.
func sameValue(a, b ojson.Value) bool {
	x, ok := a.(ojson.Number)
	if !ok {
		return ojson.Equal(a, b)
	}
	y, ok := b.(ojson.Number)
	if !ok {
		return false
	}
	f, g := double(x), double(y)
	return f == g && math.Signbit(f) == math.Signbit(g)
}

// double reads a number as ECMAScript does: out of range it is infinite.
func double(n ojson.Number) float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

func isString(v ojson.Value) bool { _, ok := v.(string); return ok }

// blank reports whether a string is empty once trimmed as in ECMAScript, where the byte order mark is white space.
func blank(s string) bool { return strings.TrimFunc(s, blankRune) == "" }

func blankRune(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}

// phrase describes an expected or actual value in words; any other value is shown as it is. count is an array of a
// length.
type (
	phrase string
	count  struct {
		n     int
		order string
	}
)

func (c *comparison) differ(path string, want, actual any, there bool) *Mismatch {
	if c.quiet {
		return &silent
	}
	m := &Mismatch{Path: text.Clip(path, 400), Got: "nothing: the member is missing"}
	switch want := want.(type) {
	case phrase:
		m.Want = string(want)
	case count:
		m.Want = fmt.Sprintf("an array of %d%s", want.n, want.order)
	default:
		m.Want = show(want)
	}
	if got, ok := actual.(phrase); ok {
		m.Got = string(got)
	} else if there {
		m.Got = show(actual)
	}
	return m
}

// show formats a value for a message: one line, short.
func show(v ojson.Value) string {
	const most = 160
	switch v := v.(type) {
	case *ojson.Object:
		if v.Len() > 12 {
			return fmt.Sprintf("an object of %d members", v.Len())
		}
	case []any:
		if len(v) > 24 {
			return fmt.Sprintf("an array of %d", len(v))
		}
	case string:
		if len(v) > 4*most {
			v = v[:4*most] // the cut below is at a character boundary
			return text.Clip(string(ojson.Compact(v)), most)
		}
	}
	return text.Clip(string(ojson.Compact(v)), most)
}
