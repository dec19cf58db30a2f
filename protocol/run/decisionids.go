// DecisionIDs: the decision numbers a run has used, as compact ranges
// (docs/compatibility.md#where-we-differ-on-purpose).

package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	// MaxDecisionDigits bounds the digits of a decision id, so that one id cannot blow up an index.
	MaxDecisionDigits = 64
	// MaxSmallDecision is the greatest number kept in ranges: every JSON reader represents integers up to it
	// exactly.
	MaxSmallDecision = 999_999_999_999_999
)

// IsDecisionID reports whether id is DEC- followed by 1 to 64 digits.
func IsDecisionID(id string) bool { return wire.Numbered(id, "DEC-", 1, MaxDecisionDigits) }

// DecisionNumber splits a decision id into its value: n when it is small, else
// its digits without leading zeros. DEC-1 and DEC-001 are the same decision.
func DecisionNumber(id string) (n uint64, huge string, ok bool) {
	if !IsDecisionID(id) {
		return 0, "", false
	}
	digits := strings.TrimLeft(id[len("DEC-"):], "0")
	if digits == "" {
		return 0, "", true
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil && n <= MaxSmallDecision {
		return n, "", true
	}
	return 0, digits, true
}

// DecisionID formats a decision number: DEC-007.
func DecisionID(n uint64) string { return fmt.Sprintf("DEC-%03d", n) }

type idRange struct{ lo, hi uint64 } // inclusive

// DecisionIDs is a set of decision ids. The zero value is empty; a nil
// *DecisionIDs reads as empty. Memory grows with the gaps, not with the count.
type DecisionIDs struct {
	ranges []idRange // ascending, neither overlapping nor adjacent
	huge   []string  // ascending
}

// Has reports whether the id's number is in the set; false for an invalid id.
func (d *DecisionIDs) Has(id string) bool {
	n, huge, ok := DecisionNumber(id)
	if !ok || d == nil {
		return false
	}
	if huge != "" {
		_, found := slices.BinarySearch(d.huge, huge)
		return found
	}
	i := d.search(n)
	return i < len(d.ranges) && d.ranges[i].lo <= n
}

// search returns the first range that ends at or after n.
func (d *DecisionIDs) search(n uint64) int {
	i, _ := slices.BinarySearchFunc(d.ranges, n, func(r idRange, n uint64) int {
		if r.hi < n {
			return -1
		}
		return 1
	})
	return i
}

// Add puts the id's number into the set; an invalid id is ignored.
func (d *DecisionIDs) Add(id string) {
	n, huge, ok := DecisionNumber(id)
	switch {
	case !ok:
	case huge != "":
		if i, found := slices.BinarySearch(d.huge, huge); !found {
			d.huge = slices.Insert(d.huge, i, huge)
		}
	default:
		d.addRange(idRange{n, n})
	}
}

func (d *DecisionIDs) addRange(r idRange) {
	// i: first range that touches r or lies after it; j: first beyond r.
	i := 0
	if r.lo > 0 {
		i = d.search(r.lo - 1)
	}
	j := i
	for j < len(d.ranges) && d.ranges[j].lo <= r.hi+1 {
		r.lo, r.hi = min(r.lo, d.ranges[j].lo), max(r.hi, d.ranges[j].hi)
		j++
	}
	d.ranges = slices.Replace(d.ranges, i, j, r)
}

// Next returns the id one above the greatest number of the set, DEC-001 for an empty one. When an id has used the
// top of the number space, it returns the least free number instead, so that one absurd id does not spoil all later
// ones.
func (d *DecisionIDs) Next() string {
	if d == nil || len(d.ranges) == 0 {
		return DecisionID(1)
	}
	if top := d.ranges[len(d.ranges)-1].hi; top < MaxSmallDecision {
		return DecisionID(top + 1)
	}
	free := uint64(1)
	for _, r := range d.ranges {
		if free < r.lo {
			break
		}
		free = max(free, r.hi+1)
	}
	return DecisionID(free)
}

// Merge adds every id of o.
func (d *DecisionIDs) Merge(o *DecisionIDs) {
	if o == nil {
		return
	}
	for _, r := range o.ranges {
		d.addRange(r)
	}
	for _, h := range o.huge {
		d.Add("DEC-" + h)
	}
}

// Clone returns an independent copy; of nil, an empty set.
func (d *DecisionIDs) Clone() *DecisionIDs {
	if d == nil {
		return &DecisionIDs{}
	}
	return &DecisionIDs{slices.Clone(d.ranges), slices.Clone(d.huge)}
}

// Encode returns the set as JSON: a number for a single id, [first, last] for a
// range, a string of digits for a number beyond 10^15-1; ascending.
func (d *DecisionIDs) Encode() []any {
	out := []any{}
	if d == nil {
		return out
	}
	for _, r := range d.ranges {
		lo, hi := ojson.Of(int64(r.lo)), ojson.Of(int64(r.hi))
		if r.lo == r.hi {
			out = append(out, lo)
		} else {
			out = append(out, []any{lo, hi})
		}
	}
	for _, h := range d.huge {
		out = append(out, h)
	}
	return out
}

// DecodeDecisionIDs reads what Encode returned. It tolerates any order, overlaps and spelling, and skips an item
// that is not a number, pair or string of digits: the set is derived data that a rebuilt index replaces.
func DecodeDecisionIDs(items []any) *DecisionIDs {
	d := &DecisionIDs{}
	small := func(v ojson.Value) (uint64, bool) {
		n, ok := v.(ojson.Number)
		if !ok {
			return 0, false
		}
		i, ok := n.Int64()
		return uint64(i), ok && i >= 0 && i <= MaxSmallDecision
	}
	for _, item := range items {
		switch v := item.(type) {
		case ojson.Number:
			if n, ok := small(v); ok {
				d.addRange(idRange{n, n})
			}
		case []any:
			if len(v) != 2 {
				continue
			}
			lo, okLo := small(v[0])
			hi, okHi := small(v[1])
			if okLo && okHi && lo <= hi {
				d.addRange(idRange{lo, hi})
			}
		case string:
			d.Add("DEC-" + v)
		}
	}
	return d
}
