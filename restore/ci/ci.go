// A report as test results for a build: passed, failed or still pending.

package ci

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

// Outcomes of a Case.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped" // not decided yet
	Broken  = "error"   // could not be checked
)

// Case is one check. Texts are on one line and free of control characters.
type Case struct {
	Name    string
	Outcome string
	Message string // the reason for the outcome
	Seconds float64
	File    string // the file concerned, or ""
}

// Suite is a group of cases.
type Suite struct {
	Name, Class string
	Cases       []Case
}

// Suites returns the cases of a report made by account.Build or account.Failure. The first suite is about the
// artifact itself, so that a report that could not be made does not count as an empty success.
func Suites(report *ojson.Object) []Suite {
	s := Suite{Name: "Verification", Class: "agentxchain.verification"}
	switch report.String("overall") {
	case "pass":
		s.Cases = []Case{{Name: "the artifact verifies", Outcome: Passed}}
	case "fail":
		list := report.Object("verification").Strings("errors")
		if len(list) == 0 {
			list = []string{report.String("message")}
		}
		for i, e := range list {
			if i == maxFindings {
				s.Cases = append(s.Cases, Case{
					Name:    "further findings",
					Outcome: Failed,
					Message: fmt.Sprintf("%d findings are not listed", len(list)-i),
				})
				break
			}
			where, message, ok := strings.Cut(e, ": ")
			if !ok {
				where, message = "artifact", e
			}
			s.Cases = append(s.Cases, Case{Name: line(where), Outcome: Failed, Message: line(message)})
		}
	default:
		s.Cases = []Case{{Name: "the report", Outcome: Broken, Message: line(report.String("message"))}}
	}
	suites := []Suite{s}
	subject := report.Object("subject")
	switch subject.String("kind") {
	case account.KindRun:
		suites = append(suites, runSuites("", subject.Object("run"))...)
	case account.KindCoordinator:
		suites = append(suites, coordinatorSuites(subject)...)
	}
	return suites
}

const maxFindings = 100

// line makes a value of the report harmless.
func line(v any) string { return account.Plain(v) }

func runSuites(prefix string, r *ojson.Object) []Suite {
	class := func(s string) string { return strings.Trim("agentxchain."+prefix, ".") + "." + s }
	title := func(s string) string { return strings.TrimSpace(prefix + " " + s) }
	suites := []Suite{}
	if r.Has("status") {
		c := Case{Name: "run " + orUnknown(r.String("run_id")), Outcome: Passed}
		switch status := r.String("status"); status {
		case "blocked", "failed":
			c.Outcome, c.Message = Failed, status
			if why := blockedOn(r); why != "" {
				c.Message += ": " + why
			}
		}
		suites = append(suites, Suite{Name: title("Run"), Class: class("run"), Cases: []Case{c}})
	}
	gates := Suite{Name: title("Gates"), Class: class("gates")}
	for _, g := range r.Objects("gate_summary") {
		c := Case{Name: line(g.String("gate_id"))}
		c.Outcome = gateOutcome(g.String("status"))
		if c.Outcome != Passed {
			c.Message = line(g.String("status"))
			if f := lastFailure(r, g.String("gate_id")); f != nil {
				c.Message += ": " + line(strings.Join(f.Strings("reasons"), "; "))
				if files := f.Strings("missing_files"); len(files) > 0 {
					c.File = line(files[0])
				}
			}
		}
		gates.Cases = append(gates.Cases, c)
	}
	turns := Suite{Name: title("Turns"), Class: class("turns")}
	for _, t := range r.Objects("turns") {
		c := Case{Name: line(t.String("turn_id") + " (" + t.String("role") + ")"), Outcome: Passed}
		if ms, ok := t.Float("duration_ms"); ok && ms > 0 {
			c.Seconds = ms / 1000
		}
		if status := t.String("status"); status != "completed" && status != "accepted" {
			c.Outcome, c.Message = Failed, line(status+": "+t.String("summary"))
		}
		turns.Cases = append(turns.Cases, c)
	}
	return append(suites, gates, turns)
}

func gateOutcome(status string) string {
	switch status {
	case "passed", "pass", "satisfied", "approved":
		return Passed
	case "failed", "blocked", "rejected":
		return Failed
	}
	return Skipped
}

// lastFailure returns the last time a gate stayed shut.
func lastFailure(r *ojson.Object, gate string) *ojson.Object {
	var last *ojson.Object
	for _, f := range r.Objects("gate_failures") {
		if f.String("gate_id") == gate {
			last = f
		}
	}
	return last
}

// blockedOn says in words why a run is blocked; "" if it is not. blocked_reason may be an object of any form.
func blockedOn(r *ojson.Object) string {
	if s := r.Object("recovery_summary").String("detail"); s != "" {
		return line(s)
	}
	for _, k := range [...]string{"blocked_on", "blocked_reason"} {
		switch v := r.Value(k).(type) {
		case string:
			if v != "" {
				return line(v)
			}
		case *ojson.Object:
			if s := v.Object("recovery").String("detail"); s != "" {
				return line(s)
			}
			return line(v)
		}
	}
	return ""
}

func orUnknown(s string) string {
	if s = line(s); s == "" {
		return "unknown"
	}
	return s
}

func coordinatorSuites(subject *ojson.Object) []Suite {
	r := subject.Object("run")
	c := Case{Name: "initiative " + orUnknown(r.String("super_run_id")), Outcome: Passed}
	if r.String("status") == "blocked" {
		c.Outcome, c.Message = Failed, strings.TrimSuffix("blocked: "+blockedOn(r), ": ")
	}
	barriers := Suite{Name: "Barriers", Class: "agentxchain.barriers"}
	for _, b := range subject.Objects("barrier_summary") {
		x := Case{Name: line(b.String("barrier_id")), Outcome: gateOutcome(b.String("status"))}
		if x.Outcome != Passed {
			x.Message = line(b.String("status"))
		}
		barriers.Cases = append(barriers.Cases, x)
	}
	repos := Suite{Name: "Repositories", Class: "agentxchain.repositories"}
	var inner []Suite
	for _, repo := range subject.Objects("repos") {
		x := Case{Name: line(repo.String("repo_id")), Outcome: Passed}
		switch {
		case !repo.Bool("ok"):
			x.Outcome, x.Message = Broken, "failed export: "+line(repo.String("error"))
		case repo.String("status") == "blocked", repo.String("status") == "failed":
			x.Outcome, x.Message = Failed, strings.TrimSuffix(repo.String("status")+": "+blockedOn(repo), ": ")
		}
		repos.Cases = append(repos.Cases, x)
		if repo.Bool("ok") {
			body := repo.Clone()
			body.Delete("status") // already shown above
			inner = append(inner, runSuites(line(repo.String("repo_id")), body)...)
		}
	}
	return append([]Suite{{
		Name:  "Initiative",
		Class: "agentxchain.initiative",
		Cases: []Case{c},
	}, barriers, repos}, inner...)
}

// InOrder reports whether every case could be checked and none failed.
func InOrder(suites []Suite) bool {
	for _, s := range suites {
		for _, c := range s.Cases {
			if c.Outcome == Failed || c.Outcome == Broken {
				return false
			}
		}
	}
	return true
}
