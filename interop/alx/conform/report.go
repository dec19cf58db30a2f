// The report: what each rule was judged by, and the verdict.

package conform

import (
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Verdicts of a rule. A rule that could not be judged is not proven, which is not a pass.
// Conditional rules (WG-09, WG-10) hold when events were seen and theirs was not among them, and say so.
const (
	Pass     = "pass"
	Fail     = "fail"
	Unproven = "unproven"
)

// Observation is one thing that a rule looked at.
type Observation struct {
	What     string // "GET /alx/v1: correlationId"
	OK       bool
	Why      string // what is wrong, "" when OK
	Sent     string
	Received string
}

// Rule is one wire-level guarantee with the observations that it was judged by.
type Rule struct {
	ID           string // WG-01
	Requirement  string
	Verdict      string
	Note         string // why it is unproven, or what could not be seen
	Observations []Observation
}

// Failures returns the observations that make the rule red.
func (r *Rule) Failures() []Observation {
	var out []Observation
	for _, o := range r.Observations {
		if !o.OK {
			out = append(out, o)
		}
	}
	return out
}

// Report is the verdict on an endpoint.
type Report struct {
	URL       string
	Version   string // the wire version that the endpoint names, "" for none
	Execution string // the run that was started, "" for none
	Rules     []*Rule
	Exchanges int
	Started   time.Time
	Took      time.Duration
}

// Passed reports whether every rule holds.
func (r *Report) Passed() bool {
	return !slices.ContainsFunc(r.Rules, func(x *Rule) bool { return x.Verdict != Pass })
}

// Object returns the report for programs.
func (r *Report) Object() *ojson.Object {
	counts := map[string]int{}
	rules := []*ojson.Object{}
	for _, x := range r.Rules {
		counts[x.Verdict]++
		seen := []*ojson.Object{}
		for _, o := range x.Observations {
			item := ojson.NewObject("what", o.What, "ok", o.OK)
			if !o.OK {
				item.Set("why", o.Why)
				item.Set("sent", o.Sent)
				item.Set("received", o.Received)
			}
			seen = append(seen, item)
		}
		rule := ojson.NewObject("rule", x.ID, "requirement", x.Requirement, "verdict", x.Verdict)
		if x.Note != "" {
			rule.Set("note", x.Note)
		}
		rule.Set("observations", seen)
		rules = append(rules, rule)
	}
	verdict := Pass
	switch {
	case counts[Fail] > 0:
		verdict = Fail
	case counts[Unproven] > 0:
		verdict = Unproven
	}
	return ojson.NewObject("url", r.URL, "verdict", verdict, "endpointVersion", r.Version, "execution", r.Execution,
		"passed", counts[Pass], "failed", counts[Fail], "unproven", counts[Unproven],
		"exchanges", r.Exchanges, "durationMs", int(r.Took.Milliseconds()), "rules", rules)
}
