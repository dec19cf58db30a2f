// Finds the operation at which a verdict changed.

package whatif

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// Standing is a chain's verdict on a gate, a rule, a policy or the code of a refusal.
type Standing struct {
	Judged bool // the chain has a verdict on it
	Good   bool // it did not refuse
	Step   *verdict.Step
}

// Stands looks up a name in a chain: a gate, a rule, a policy or other subject of a rule, or the code of a refusal,
// for which every other outcome is good. A verdict that lacks recorded evidence counts as not judged.
func Stands(c *verdict.Chain, of string, isCode bool) Standing {
	if c == nil {
		return Standing{}
	}
	if isCode {
		return Standing{Judged: true, Good: c.Code != of, Step: c.Decisive()}
	}
	var out Standing
	for l := range c.All() {
		gate := l.Rule == verdict.RuleGate && l.Subject == of
		if !gate && l.Rule != of && (l.Subject != of || gatesOwn(l.Rule)) {
			continue
		}
		if l.Verdict == verdict.Unknown {
			continue
		}
		out = Standing{Judged: true, Good: l.Verdict != verdict.Fail, Step: l.Step}
	}
	return out
}

// gatesOwn reports rules whose subject is a gate but whose verdict is not the gate's.
func gatesOwn(rule string) bool {
	switch rule {
	case verdict.RuleGatePerson, verdict.RulePeople, verdict.RuleApproval, verdict.RuleGateActions,
		verdict.RuleNonProgress:
		return true
	}
	return false
}

// Turned says where a verdict changed, as positions of the searched operations.
type Turned struct {
	Found   bool
	Before  int // the newest position with the old verdict; -1 without one
	After   int // the oldest position with the other verdict
	Probes  int // number of operations judged
	Skipped int // positions in between without a verdict
}

// Bisect finds where the verdict changed between the positions low and high, inclusive. It asks about O(log n)
// positions, plus the neighbours of those without a verdict. When both ends have the same verdict, Found is false.
func Bisect(low, high int, ask func(i int) (Standing, error)) (*Turned, error) {
	out := &Turned{Before: -1, After: -1}
	known := make(map[int]Standing)
	at := func(i int) (Standing, error) {
		if s, ok := known[i]; ok {
			return s, nil
		}
		s, err := ask(i)
		out.Probes++
		known[i] = s
		return s, err
	}
	from, err := at(low)
	for ; err == nil && !from.Judged && low < high; low++ {
		from, err = at(low + 1)
	}
	if err != nil {
		return nil, err
	}
	to, err := at(high)
	for ; err == nil && !to.Judged && low < high; high-- {
		to, err = at(high - 1)
	}
	if err != nil || !from.Judged || !to.Judged {
		return out, err
	}
	out.Before, out.After = low, high
	if from.Good == to.Good {
		return out, nil
	}
	out.Found = true
	for high-low > 1 {
		mid, s, err := near(low, high, at)
		if err != nil {
			return nil, err
		}
		if mid < 0 {
			break // no position in between has a verdict
		}
		if s.Good == from.Good {
			low = mid
		} else {
			high = mid
		}
	}
	out.Before, out.After, out.Skipped = low, high, high-low-1
	return out, nil
}

// near asks about the middle between two positions, then its neighbours outward until one has a verdict; it returns
// -1 when none does.
func near(low, high int, at func(int) (Standing, error)) (int, Standing, error) {
	mid := low + (high-low)/2
	for d := 0; mid-d > low || mid+d < high; d++ {
		for _, i := range []int{mid - d, mid + d} {
			if i <= low || i >= high {
				continue
			}
			s, err := at(i)
			if err != nil || s.Judged {
				return i, s, err
			}
		}
	}
	return -1, Standing{}, nil
}
