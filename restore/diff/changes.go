// Changes between two sides: texts, numbers, lists, maps (docs/reports.md#diff).

package diff

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// field is a member of a side with its label for people.
type field struct{ key, label string }

// Changed yields the differences in a comparison, each with its label for people: {left, right} and, for numbers,
// delta.
func Changed(d *ojson.Object) iter.Seq2[string, *ojson.Object] {
	return func(yield func(string, *ojson.Object) bool) {
		for _, group := range [...]string{"scalar_changes", "numeric_changes", "list_changes"} {
			for _, v := range d.Object(group).All() {
				if o, ok := v.(*ojson.Object); ok && o.Bool("changed") && !yield(o.String("label"), o) {
					return
				}
			}
		}
		for _, group := range [...]string{"gate_changes", "repo_status_changes", "repo_export_changes",
			"event_type_changes"} {
			for _, o := range d.Objects(group) {
				label := cmp.Or(o.String("label"), "Gate") + " " + o.String("key") + o.String("gate_id")
				if o.Bool("changed") && !yield(label, o) {
					return
				}
			}
		}
	}
}

// labelDuration is the label of the one change that is a number of milliseconds.
const labelDuration = "Duration"

// Shown returns one side of a change, or the difference, as people read it, "" for nothing.
func Shown(label string, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = Shown("", x)
		}
		return strings.Join(words, ", ")
	case ojson.Number:
		if ms, ok := v.Float64(); ok && label == labelDuration {
			sign := ""
			if ms < 0 {
				sign = "-"
			}
			return sign + timeline.Lasting(time.Duration(math.Abs(ms))*time.Millisecond)
		}
	}
	return string(ojson.Compact(v))
}

// scalars compares members one by one: {key: {label, left, right, changed}}.
func scalars(left, right *ojson.Object, fields []field) *ojson.Object {
	out := &ojson.Object{}
	for _, f := range fields {
		l, r := left.Value(f.key), right.Value(f.key)
		out.Set(f.key, ojson.NewObject("label", f.label, "left", l, "right", r, "changed", !ojson.Equal(l, r)))
	}
	return out
}

// numbers is scalars with the difference, null if there is none.
func numbers(left, right *ojson.Object, fields []field) *ojson.Object {
	out := scalars(left, right, fields)
	for _, f := range fields {
		out.Object(f.key).Set("delta", delta(left.Value(f.key), right.Value(f.key)))
	}
	return out
}

func delta(left, right any) any {
	l, okL := number(left)
	r, okR := number(right)
	if !okL || !okR {
		return nil
	}
	return ojson.Float(math.Round((r-l)*1e9) / 1e9)
}

// lists compares lists as sets, and their order.
func lists(left, right *ojson.Object, fields []field) *ojson.Object {
	out := &ojson.Object{}
	for _, f := range fields {
		l, r := left.Strings(f.key), right.Strings(f.key)
		out.Set(f.key, ojson.NewObject("label", f.label, "left", l, "right", r, "added", Without(r, l),
			"removed", Without(l, r), "changed", !slices.Equal(l, r)))
	}
	return out
}

// entries compares the members of two maps with values of one kind.
func entries(left, right *ojson.Object, label string, withDelta bool) []*ojson.Object {
	out := []*ojson.Object{}
	for _, k := range names(slices.Concat(left.Keys(), right.Keys())) {
		l, r := left.Value(k), right.Value(k)
		o := ojson.NewObject("label", label, "key", k, "left", l, "right", r, "changed", !ojson.Equal(l, r))
		if withDelta {
			o.Set("delta", delta(l, r))
		}
		out = append(out, o)
	}
	return out
}

// Without returns the items of list that are not in other.
func Without(list, other []string) []string {
	out := []string{}
	has := make(map[string]bool, len(other))
	for _, s := range other {
		has[s] = true
	}
	for _, s := range list {
		if !has[s] {
			out = append(out, s)
		}
	}
	return out
}

// names returns distinct names in the order of an artifact.
func names(list []string) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, restore.Collate)
	return slices.Compact(list)
}

// changedIn returns what has changed in groups of members and rows.
func changedIn(groups ...any) (out []*ojson.Object) {
	one := func(v any) {
		if o, ok := v.(*ojson.Object); ok && o.Bool("changed") {
			out = append(out, o)
		}
	}
	for _, g := range groups {
		switch g := g.(type) {
		case *ojson.Object:
			for _, v := range g.All() {
				one(v)
			}
		case []*ojson.Object:
			for _, v := range g {
				one(v)
			}
		}
	}
	return out
}

func number(v any) (float64, bool) {
	n, ok := v.(ojson.Number)
	if !ok {
		return 0, false
	}
	f, ok := n.Float64()
	return f, ok && !math.IsInf(f, 0)
}

// numeric returns a numeric member, or null.
func numeric(o *ojson.Object, key string) any {
	if v := o.Value(key); v != nil {
		if _, ok := number(v); ok {
			return v
		}
	}
	return nil
}
