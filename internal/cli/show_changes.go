// What an operation changed in the state, member by member.

package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// difference is one place at which two documents differ.
type difference struct {
	at            string // JSON pointer
	before, after ojson.Value
	had, has      bool // whether the place is there before, and after
}

// object is the difference for --json: a side that lacks the place has no member.
func (d difference) object() *ojson.Object {
	o := ojson.NewObject("at", d.at)
	if d.had {
		o.Set("before", d.before)
	}
	if d.has {
		o.Set("after", d.after)
	}
	return o
}

// differences lists where b differs from a: only the members that do, however deep they are.
// What is only in one of the two is one difference, with all that is below it.
func differences(at string, a, b ojson.Value) []difference {
	switch x := a.(type) {
	case *ojson.Object:
		if y, ok := b.(*ojson.Object); ok {
			return memberDifferences(at, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return entryDifferences(at, x, y)
		}
	}
	if ojson.Equal(a, b) {
		return nil
	}
	return []difference{{at, a, b, true, true}}
}

func memberDifferences(at string, a, b *ojson.Object) []difference {
	var out []difference
	for _, k := range allKeys(a, b) {
		was, had := a.Get(k)
		now, has := b.Get(k)
		path := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
		if had && has {
			out = append(out, differences(path, was, now)...)
		} else {
			out = append(out, difference{path, was, now, had, has})
		}
	}
	return out
}

// allKeys are the members of b, then those that only a has.
func allKeys(a, b *ojson.Object) []string {
	keys := slices.Clone(b.Keys())
	for _, k := range a.Keys() {
		if !b.Has(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// entryDifferences leaves out what two lists begin and end with in common.
func entryDifferences(at string, a, b []any) []difference {
	start := 0
	for start < min(len(a), len(b)) && ojson.Equal(a[start], b[start]) {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && ojson.Equal(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
	}
	place := func(i int) string { return at + "/" + strconv.Itoa(i) }
	var out []difference
	both := 0
	if endA-start == endB-start {
		both = endA - start // each in its place
	}
	for i := start; i < start+both; i++ {
		out = append(out, differences(place(i), a[i], b[i])...)
	}
	for i := start + both; i < endA; i++ {
		out = append(out, difference{at: place(i), before: a[i], had: true})
	}
	for i := start + both; i < endB; i++ {
		out = append(out, difference{at: place(i), after: b[i], has: true})
	}
	return out
}

// maxBeside is how wide two values can be that stand on one line.
const maxBeside = 56

func (p opPage) differences(list []difference) {
	for _, d := range list {
		at := term.OneLine(d.at)
		switch {
		case !d.had:
			p.oneSided(at, d.after, "+ ", p.Green)
		case !d.has:
			p.oneSided(at, d.before, "- ", p.Red)
		default:
			was, now := p.shown(d.before), p.shown(d.after)
			if term.DisplayWidth(was)+term.DisplayWidth(now) <= maxBeside {
				p.Printf("  %s: %s -> %s\n", at, p.Red(was), p.Green(now))
				continue
			}
			p.Printf("  %s:\n    %s\n    %s\n", at, p.Red("- "+was), p.Green("+ "+now))
		}
	}
}

// oneSided prints what came or went; of an object each member has a line.
func (p opPage) oneSided(at string, v ojson.Value, sign string, style func(string) string) {
	o, ok := v.(*ojson.Object)
	if !ok || o.Len() == 0 {
		p.Printf("  %s\n", style(sign+at+": "+p.shown(v)))
		return
	}
	p.Printf("  %s\n", style(sign+at))
	for k, member := range o.All() {
		p.Printf("      %s\n", style(sign+term.OneLine(k)+": "+p.shown(member)))
	}
}
