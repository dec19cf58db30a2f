// What a protected branch accepts: the policy of a range, and what violates it (docs/ci.md#the-policy).

package attribution

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RangePolicy says what a range may contain. The zero value allows only the work of accepted turns and the merges
// that join it.
type RangePolicy struct {
	People    []string // patterns of files that people may commit
	Gates     []string // gates that each run with work in the range must have passed
	Approvals int      // by so many people, for each such run
	Signed    bool     // only approvals with a valid signature count
}

// ParseRangePolicy reads a policy. It refuses unknown members, because a rule that is not understood would not be
// enforced. Code: invalid_argument.
func ParseRangePolicy(data []byte) (*RangePolicy, error) {
	no := func(format string, args ...any) (*RangePolicy, error) {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "policy",
			Message: "The policy cannot be used: " + fmt.Sprintf(format, args...),
			Hint:    "docs/ci.md has its members",
		}
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return no("%v.", err)
	}
	p := &RangePolicy{}
	texts := func(name string, to *[]string) string {
		list := o.Array(name)
		for _, v := range list {
			s, _ := v.(string)
			*to = append(*to, s)
		}
		if list == nil || slices.Contains(*to, "") {
			return name + " is a list of texts."
		}
		return ""
	}
	for name := range o.All() {
		problem := ""
		switch name {
		case "$schema":
		case "schema_version":
			if o.String(name) != "1.0" {
				problem = "schema_version is \"1.0\"."
			}
		case "people":
			problem = texts(name, &p.People)
		case "gates":
			problem = texts(name, &p.Gates)
		case "approvals":
			a := o.Object(name)
			if a == nil {
				return no("approvals is an object.")
			}
			for k, v := range a.All() {
				n, isInt := a.Int(k)
				yes, isBool := v.(bool)
				switch {
				case k == "at_least" && isInt && n >= 0:
					p.Approvals = n
				case k == "signed" && isBool:
					p.Signed = yes
				default:
					return no("approvals has at_least, a whole number from 0, and signed, true or false; "+
						"it has %q with the value %.40s.", k, ojson.Compact(v))
				}
			}
		default:
			problem = fmt.Sprintf("it has the member %q, which this version does not know.", name)
		}
		if problem != "" {
			return no("%s", problem)
		}
	}
	return p, nil
}

// Approval is an approval of a run by a person, or by something in a person's place.
type Approval struct {
	Gate, Name, Email string
	Signed            bool // with a valid signature
	Counts            bool // given by a person, with nothing wrong
	Unlisted          bool // the base of the range does not list the person, so it does not count
}

// RunFacts are what a policy needs to know of a run.
type RunFacts struct {
	Run       string
	Gates     map[string]string // status by gate
	Approvals []Approval
	Problems  []string         // of its approvals: findings that are errors
	Listed    *approval.Listed // people and keys that the base of the range lists, nil where it was not read
	Rules     []*config.Config // by which the run was judged, where the policy names gates
}

// RangeFinding is a violation by a range.
type RangeFinding struct {
	Code    string // unaccounted, person, gate, approvals, approval_invalid
	Commit  string // "" when it is about a run
	Run     string
	File    string // the first of the commit's files concerned
	Message string
}

// Judge checks a range against the policy. runs are the facts of each run with work in it.
func (p *RangePolicy) Judge(r *Range, runs []*RunFacts) []RangeFinding {
	var out []RangeFinding
	for _, c := range r.Commits {
		var files []string
		for _, f := range c.Files {
			if f.How == "" && !p.leaves(f.Path) {
				files = append(files, f.Path)
			}
		}
		first := ""
		if len(files) > 0 {
			first = files[0]
		}
		switch {
		case c.Kind == CommitPerson && len(files) > 0:
			out = append(out, RangeFinding{
				Code:    "person",
				Commit:  string(c.OID),
				File:    first,
				Message: fmt.Sprintf("%s changes %s, which is not the work of a turn", c.Author, some(files)),
			})
		case c.Kind == CommitUnaccounted &&
			(len(files) > 0 || len(c.Turns) == 0 && len(c.Parents) < 2 || len(c.Files) == 0):
			out = append(out, RangeFinding{Code: "unaccounted", Commit: string(c.OID), File: first, Message: c.Why})
		}
	}
	for _, run := range runs {
		for _, gate := range p.Gates {
			if why := run.lacks(gate); why != "" {
				out = append(out, RangeFinding{
					Code:    "gate",
					Run:     run.Run,
					Message: fmt.Sprintf("gate %s of run %s %s", gate, run.Run, why),
				})
			}
		}
		people, unlisted := run.people("", p.Signed), ""
		if slices.ContainsFunc(run.Approvals, func(a Approval) bool { return a.Unlisted }) {
			unlisted = "; those of others, or with other keys, than the base of the range lists do not count"
		}
		if people < p.Approvals {
			kind := "approvals"
			if p.Signed {
				kind = "signed approvals"
			}
			out = append(out, RangeFinding{
				Code: "approvals",
				Run:  run.Run,
				Message: fmt.Sprintf("run %s has %s of %d people, and the policy wants %d%s", run.Run, kind, people,
					p.Approvals, unlisted),
			})
		}
		for _, problem := range run.Problems {
			out = append(out, RangeFinding{Code: "approval_invalid", Run: run.Run, Message: problem})
		}
	}
	return out
}

// lacks says why the gate does not count as passed, "" when it does. The run's rules are its own, so it must also
// have been passed under those of the base.
func (r *RunFacts) lacks(gate string) string {
	status := r.Gates[gate]
	switch {
	case status == "":
		return "is not there"
	case status != "passed":
		return "is " + status
	case r.Listed == nil:
		return ""
	}
	if n, need := r.people(gate, false), r.Listed.Need(gate); n < need {
		return fmt.Sprintf("was passed by %d of the %d people whom the base of the range asks", n, need)
	}
	if slices.ContainsFunc(r.Rules, func(c *config.Config) bool { return r.Listed.Weaker(gate, c) }) {
		return "asked for less in this run than it does in the base of the range"
	}
	return ""
}

// people counts those who approved the gate; any gate for "".
func (r *RunFacts) people(gate string, signed bool) int {
	var people []string
	for _, a := range r.Approvals {
		who := strings.ToLower(a.Email)
		if a.Counts && (a.Signed || !signed) && (gate == "" || a.Gate == gate) && !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	return len(people)
}

// leaves reports whether the policy allows people to commit a file. A pattern with wildcards never covers files on
// which governance depends.
func (p *RangePolicy) leaves(path string) bool {
	for _, pattern := range p.People {
		if pattern == path {
			return true
		}
		if wire.MatchPath(pattern, path) && !rests(path) {
			return true
		}
	}
	return false
}

// rests reports whether governance depends on a file of some project of the repository.
func rests(path string) bool {
	for _, own := range append(wire.SignerFiles(), wire.ConfigPath) {
		if path == own || strings.HasSuffix(path, "/"+own) {
			return true
		}
	}
	return strings.HasPrefix(path, ".agentxchain/") || strings.Contains(path, "/.agentxchain/")
}

// RunGates returns the status of the gates of the turn's run.
func RunGates(t *Turn) (map[string]string, error) {
	state, err := t.Record.State(nil)
	if err != nil {
		return nil, err
	}
	return maps.Collect(state.PhaseGateStatus.All()), nil
}

// maxRuleOps bounds how many operations of a run are searched for its rules.
const maxRuleOps = 100_000

// RunRules returns the rules by which the turn's run was judged, newest first.
func RunRules(ctx context.Context, repo *git.Repository, t *Turn) ([]*config.Config, error) {
	uses, err := t.Record.Configs(maxRuleOps)
	if err != nil {
		return nil, err
	}
	var out []*config.Config
	for _, u := range uses {
		_, data, err := repo.Objects().Read(ctx, u.Content)
		if err != nil {
			return nil, err
		}
		out = append(out, config.DecodeGoverning(data))
	}
	return out, nil
}

// ExitGate returns the gate at the end of the turn's phase, or "".
func ExitGate(t *Turn) (string, error) {
	data, _, err := t.Record.Config()
	if err != nil || data == nil {
		return "", err
	}
	if c := config.DecodeGoverning(data); c != nil {
		if route := c.Route(t.Phase); route != nil {
			return route.ExitGate, nil
		}
	}
	return "", nil
}
