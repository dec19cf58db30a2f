// The output of verify range: text, JSON, Markdown, and the reports of build servers.

package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
	"github.com/git-agentxchain/git-agentxchain/restore/ci"
)

func (v *rangeVerdict) show(f *term.Factory, format string) error {
	var data []byte
	switch format {
	case "json", "text":
		f.Out.Emit(v.object(), v.print)
		return nil
	case "markdown":
		data = []byte(v.markdown())
	case "junit-xml":
		data = ci.JUnit(v.suites())
	case "sarif":
		data = ci.SARIF("git-agentxchain", v.suites())
	case "gitlab":
		data = ci.GitLab(v.suites())
	case "github-actions":
		if err := appendTo("GITHUB_STEP_SUMMARY", f.Env.Getenv("GITHUB_STEP_SUMMARY"),
			[]byte(v.markdown())); err != nil {
			return err
		}
		data = ci.Annotations(v.suites())
	}
	if _, err := f.Out.Raw().Write(data); err != nil {
		return term.Errorf("io_failed", "cannot write the report: %w", err)
	}
	return nil
}

// count returns the number of commits of each kind.
func (v *rangeVerdict) count() map[attribution.CommitKind]int {
	out := make(map[attribution.CommitKind]int)
	for _, c := range v.Commits {
		out[c.Kind]++
	}
	return out
}

// object returns the verdict for --json.
func (v *rangeVerdict) object() *ojson.Object {
	commits := []*ojson.Object{}
	for _, c := range v.Commits {
		turns, files := []*ojson.Object{}, []*ojson.Object{}
		for _, t := range c.Turns {
			turns = append(turns, ojson.NewObject("turn_id", t.ID, "run_id", t.Run, "role", t.Role, "phase", t.Phase,
				"gate", ojson.OrNull(v.gates[t])))
		}
		for _, x := range c.Files {
			o := ojson.NewObject("path", x.Path, "by", ojson.OrNull(x.How))
			if x.Why != "" {
				o.Set("reason", x.Why)
			}
			files = append(files, o)
		}
		o := ojson.NewObject("commit", string(c.OID), "subject", c.Subject, "author", c.Author,
			"kind", string(c.Kind), "turns", turns, "files", files)
		if c.Why != "" {
			o.Set("reason", c.Why)
		}
		if len(c.Protected) > 0 {
			o.Set("protected", c.Protected)
		}
		commits = append(commits, o)
	}
	runs, findings := []*ojson.Object{}, []*ojson.Object{}
	for _, r := range v.runs {
		gates := &ojson.Object{}
		for _, k := range slices.Sorted(maps.Keys(r.Gates)) {
			gates.Set(k, r.Gates[k])
		}
		approvals := ojson.List(r.Approvals, func(a attribution.Approval) *ojson.Object {
			return ojson.NewObject("gate", ojson.OrNull(a.Gate), "name", a.Name,
				"email", a.Email, "signed", a.Signed, "counts", a.Counts)
		})
		runs = append(runs, ojson.NewObject("run_id", r.Run, "gates", gates, "approvals", approvals))
	}
	for _, x := range v.findings {
		findings = append(findings,
			ojson.NewObject("code", x.Code, "commit", ojson.OrNull(x.Commit), "run_id", ojson.OrNull(x.Run),
				"file", ojson.OrNull(x.File), "message", x.Message))
	}
	n := v.count()
	return ojson.NewObject("stands", len(v.findings) == 0, "base", string(v.Base), "head", string(v.Head),
		"counts", ojson.NewObject("commits", len(v.Commits), "turn", n[attribution.CommitTurn],
			"approval", n[attribution.CommitApproval], "person", n[attribution.CommitPerson],
			"merge", n[attribution.CommitMerge], "unaccounted", n[attribution.CommitUnaccounted]),
		"commits", commits, "runs", runs, "findings", findings)
}

func (v *rangeVerdict) summary() string {
	n := v.count()
	return fmt.Sprintf("%s: %d of turns, %s, %d of people, %s, %d unaccounted", term.Counted(len(v.Commits), "commit"),
		n[attribution.CommitTurn], term.Counted(n[attribution.CommitApproval], "approval"),
		n[attribution.CommitPerson],
		term.Counted(n[attribution.CommitMerge], "merge"), n[attribution.CommitUnaccounted])
}

func (v *rangeVerdict) print(p *term.Printer) {
	for _, c := range v.Commits {
		style := p.Green
		switch c.Kind {
		case attribution.CommitPerson:
			style = p.Yellow
		case attribution.CommitUnaccounted:
			style = p.Red
		}
		p.Printf("%.10s %s %s\n", string(c.OID), style(term.Pad(string(c.Kind), 11)), term.OneLine(c.Subject))
		for _, t := range c.Turns {
			p.Printf("           %s of %s, phase %s%s\n", t.ID, term.OneLine(t.Role), term.OneLine(t.Phase),
				gateText(v.gates[t]))
		}
		if c.Why != "" {
			p.Printf("           %s\n", p.Red(term.OneLine(c.Why)))
		}
		if len(c.Protected) > 0 {
			p.Printf("           %s\n", p.Yellow("changes "+term.OneLine(strings.Join(c.Protected, ", "))))
		}
	}
	if len(v.Commits) > 0 {
		p.Println()
	}
	p.Println(v.summary() + ".")
	if len(v.Commits) == 0 && v.Base != v.Head {
		p.Printf("%.10s has no commit that %.10s does not have.\n", v.Head, v.Base)
	}
	for _, r := range v.runs {
		p.Printf("Run %s: %s\n", r.Run, approvalsText(r))
	}
	if len(v.findings) == 0 {
		p.Println(p.Green("All of it passes."))
		return
	}
	p.Printf("%s\n", p.Red(fmt.Sprintf("It does not pass (%s):", term.Counted(len(v.findings), "finding"))))
	for _, x := range v.findings {
		p.Printf("  %s %s\n", term.Pad(subjectOf(&x), 12), term.OneLine(x.Message))
	}
}

func gateText(gate string) string {
	if gate == "" {
		return ""
	}
	return ", gate " + term.OneLine(gate)
}

func approvalsText(r *attribution.RunFacts) string {
	if len(r.Approvals) == 0 {
		return "no approval"
	}
	var list []string
	for _, a := range r.Approvals {
		how := "not signed"
		switch {
		case a.Unlisted:
			how = "the base of the range does not list them"
		case a.Signed:
			how = "signed"
		case !a.Counts:
			how = "does not count"
		}
		list = append(list, fmt.Sprintf("gate %s by %s (%s)", term.OneLine(a.Gate), term.OneLine(a.Name), how))
	}
	return strings.Join(list, ", ")
}

func subjectOf(x *attribution.RangeFinding) string {
	if x.Commit != "" {
		return x.Commit[:min(10, len(x.Commit))]
	}
	return "run"
}

// suites returns the verdict as a build server reads it: a case for each commit, and one for what
// each run lacks.
func (v *rangeVerdict) suites() []ci.Suite {
	wrong := make(map[string]*attribution.RangeFinding)
	for i := range v.findings {
		if x := &v.findings[i]; x.Commit != "" {
			wrong[x.Commit] = x
		}
	}
	commits := ci.Suite{Name: "Commits", Class: "agentxchain.range"}
	for _, c := range v.Commits {
		x := ci.Case{Name: term.OneLine(fmt.Sprintf("%.10s %s", string(c.OID), c.Subject)), Outcome: ci.Passed}
		if w := wrong[string(c.OID)]; w != nil {
			x.Outcome, x.Message, x.File = ci.Failed, term.OneLine(w.Message), term.OneLine(w.File)
		}
		commits.Cases = append(commits.Cases, x)
	}
	runs := ci.Suite{Name: "Runs", Class: "agentxchain.range.runs"}
	for _, r := range v.runs {
		x := ci.Case{Name: "run " + r.Run, Outcome: ci.Passed}
		for _, w := range v.findings {
			if w.Commit == "" && w.Run == r.Run {
				x.Outcome, x.Message = ci.Failed, strings.TrimPrefix(x.Message+"; "+term.OneLine(w.Message), "; ")
			}
		}
		runs.Cases = append(runs.Cases, x)
	}
	return []ci.Suite{commits, runs}
}

// cell returns a text for a cell of a Markdown table.
func cell(s string) string { return account.MarkdownText(term.OneLine(s)) }

// markdown returns a summary for a review.
func (v *rangeVerdict) markdown() string {
	var b strings.Builder
	verdict := "All of it passes."
	if len(v.findings) > 0 {
		verdict = fmt.Sprintf("It does not pass: %s.", term.Counted(len(v.findings), "finding"))
	}
	fmt.Fprintf(&b, "## Governed commits\n\n%s. **%s**\n\n", v.summary(), verdict)
	if len(v.findings) > 0 {
		b.WriteString("| about | finding |\n|---|---|\n")
		for _, x := range v.findings {
			fmt.Fprintf(&b, "| %s | %s |\n", cell(subjectOf(&x)), cell(x.Message))
		}
		b.WriteByte('\n')
	}
	b.WriteString("| commit | kind | turns | subject |\n|---|---|---|---|\n")
	const most = 500
	for i, c := range v.Commits {
		if i == most {
			fmt.Fprintf(&b, "\n%d more commits are not listed.\n", len(v.Commits)-most)
			break
		}
		var turns []string
		for _, t := range c.Turns {
			turns = append(turns, t.ID+" ("+t.Role+")")
		}
		fmt.Fprintf(&b, "| %.10s | %s | %s | %s |\n", string(c.OID), c.Kind, cell(strings.Join(turns, ", ")),
			cell(c.Subject))
	}
	return b.String()
}
