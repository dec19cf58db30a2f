// Workflow commands of GitHub Actions: annotations, outputs of a step.

package ci

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

// maxDecisions is how many decisions are annotated: a step shows only a few annotations.
const maxDecisions = 20

// annotations collects commands with the runner's escapes: a value ends at a line end, a property also at a comma
// or colon, and a percent sign starts an escape.
type annotations struct{ b bytes.Buffer }

func (a *annotations) add(level, title, file, message string) {
	var props []string
	if file != "" {
		props = append(props, "file="+property(file))
	}
	props = append(props, "title="+property(title))
	fmt.Fprintf(&a.b, "::%s %s::%s\n", level, strings.Join(props, ","), data(message))
}

func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// GitHub writes a report as annotations.
func GitHub(report *ojson.Object) []byte {
	a := &annotations{}
	subject := report.Object("subject")
	r := subject.Object("run")
	const title = "AgentXchain Governance"
	id := orUnknown(r.String("run_id") + r.String("super_run_id"))
	switch overall := report.String("overall"); overall {
	case "pass":
		a.add("notice", title, "", fmt.Sprintf("Run %s — PASS (%s phase)", id, orUnknown(r.String("phase"))))
	case "fail":
		a.add("error", title, "", "FAIL: "+line(report.String("message")))
	default:
		message := line(report.String("message"))
		if message == "" {
			message = "to be looked at"
		}
		a.add("error", title, "", orUnknown(overall)+": "+message)
	}
	suites := Suites(report)
	for _, c := range suites[0].Cases {
		if c.Outcome == Failed {
			a.add("error", "Artifact", "", c.Name+": "+c.Message)
		}
	}
	if why := blockedOn(r); why != "" {
		a.add("error", "Blocked", "", why)
	}
	for _, s := range suites[1:] {
		kind := s.Class[strings.LastIndexByte(s.Class, '.')+1:]
		for _, c := range s.Cases {
			switch {
			case kind == "gates" && c.Outcome == Passed:
				a.add("notice", "Gate "+c.Name, "", "satisfied")
			case kind == "gates" && c.Outcome == Failed:
				a.add("error", "Gate "+c.Name, c.File, c.Message)
			case kind == "gates":
				a.add("warning", "Gate "+c.Name, c.File, c.Message)
			case kind == "turns" && c.Outcome == Failed:
				a.add("warning", "Turn "+c.Name, "", c.Message)
			case kind == "repositories" && c.Outcome != Passed:
				a.add("error", "Repository "+c.Name, "", c.Message)
			case kind == "barriers" && c.Outcome != Passed:
				a.add("warning", "Barrier "+c.Name, "", c.Message)
			}
		}
	}
	for i, d := range decisions(subject) {
		if i == maxDecisions {
			break
		}
		a.add("notice", "Decision "+line(d.String("id")), "", line(d.String("statement")))
	}
	return a.b.Bytes()
}

func decisions(subject *ojson.Object) []*ojson.Object {
	if subject.String("kind") == account.KindCoordinator {
		return subject.Objects("decision_digest")
	}
	return subject.Object("run").Objects("decisions")
}

// Outputs returns the lines for the file that GITHUB_OUTPUT names. No value contains a line end.
func Outputs(report *ojson.Object) []byte {
	subject := report.Object("subject")
	r := subject.Object("run")
	turns := len(r.Array("turns"))
	for _, repo := range subject.Objects("repos") {
		turns += len(repo.Array("turns"))
	}
	status := line(r.String("status"))
	var b bytes.Buffer
	for _, kv := range [...][2]string{
		{"run_status", status},
		{"run_id", line(r.String("run_id") + r.String("super_run_id"))},
		{"phase", line(r.String("phase"))},
		{"blocked", fmt.Sprint(blockedOn(r) != "" || status == "blocked")},
		{"turn_count", fmt.Sprint(turns)},
		{"decision_count", fmt.Sprint(len(decisions(subject)))},
	} {
		fmt.Fprintf(&b, "%s=%s\n", kv[0], kv[1])
	}
	return b.Bytes()
}

// Annotations writes the failures in a caller's own suites.
func Annotations(suites []Suite) []byte {
	a := &annotations{}
	for _, s := range suites {
		for _, c := range s.Cases {
			if c.Outcome == Failed || c.Outcome == Broken {
				a.add("error", s.Name, c.File, c.Name+": "+c.Message)
			}
		}
	}
	return a.b.Bytes()
}
