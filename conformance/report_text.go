// The report of a verification for people, line by line (docs/conformance.md#the-report).

package conformance

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Ink formats the text report: emphasis, and Safe for an adapter's words, which must not reach a terminal
// unescaped.
type Ink struct{ Bold, Good, Bad, Faint, Safe func(string) string }

// WriteText prints the report.
func (r *Report) WriteText(w io.Writer, ink Ink) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	known := func(d *Deviation) {
		if d != nil {
			line("      %s", ink.Faint("known deviation of "+ink.Safe(d.Implementation+" "+d.Version+": "+d.Reason)))
		}
	}
	complaint := func(f Finding) {
		if last := lastComplaint(f.Actual); last != "" {
			line("      %s", ink.Faint("standard error: "+ink.Safe(last)))
		}
	}
	line("")
	line("  %s", ink.Bold("AgentXchain Protocol Conformance"))
	line("  %s", ink.Faint(strings.Repeat("─", 44)))
	target := r.TargetRoot
	if r.Remote != "" {
		target = r.Remote
	}
	line("  Target: %s", ink.Safe(target))
	line("  Implementation: %s", ink.Safe(r.Implementation))
	line("  Tier requested: %d", r.Tier)
	line("  Profile: %s", r.Profile)
	line("")
	line("  Overall: %s", ink.verdict(string(r.Overall), strings.ToUpper(string(r.Overall))))
	for _, t := range r.Tiers {
		more := ""
		if n := t.Count.NotImplemented; n > 0 {
			more = fmt.Sprintf(", %d not implemented", n)
		}
		line("  tier_%d: %s (%d/%d passed%s)", t.Tier, ink.verdict(t.Status, t.Status), t.Count.Passed, t.Count.run(),
			more)
		for _, f := range t.NotImplemented {
			line("    %s %s: %s", ink.Faint("○"), ink.Safe(plain(f.ID)), ink.Safe(f.Message))
		}
		for _, f := range t.Failures {
			line("    %s %s: %s", ink.Bad("✗"), ink.Safe(plain(f.ID)), ink.Safe(f.Message))
			known(f.Known)
		}
		if n := len(t.Errors); n > 1 && n == t.Count.run() && sameMessage(t.Errors) {
			line("    %s all %d: %s", ink.Bad("✗"), n, ink.Safe(t.Errors[0].Message)) // probably no adapter
			complaint(t.Errors[0])
			continue
		}
		for _, f := range t.Errors {
			line("    %s %s: %s", ink.Bad("✗"), ink.Safe(plain(f.ID)), ink.Safe(f.Message))
			complaint(f)
			known(f.Known)
		}
	}
	if r.Known > 0 {
		line("  known deviations: %d", r.Known)
	}
	if c := r.Challenges; c != nil {
		verdict := "pass"
		if len(c.Failed) > 0 {
			verdict = "fail"
		}
		line("  challenges: %s (%d/%d passed)", ink.verdict(verdict, verdict), c.Run-len(c.Failed), c.Run)
		for _, f := range c.Failed {
			line("    %s %s [%s]: %s", ink.Bad("✗"), ink.Safe(plain(f.ID)), f.Kind, ink.Safe(f.Message))
		}
	}
	for _, s := range r.Warnings {
		line("  %s %s", ink.Faint("warning:"), ink.Safe(s))
	}
	line("")
	_, err := io.WriteString(w, b.String())
	return err
}

func (i Ink) verdict(status, text string) string {
	switch status {
	case "pass":
		return i.Good(text)
	case "skipped":
		return i.Faint(text)
	}
	return i.Bad(text)
}

// lastComplaint returns the last line on standard error of an adapter without a usable answer: for an uncaught
// exception it says what happened. "" for none.
func lastComplaint(actual ojson.Value) string {
	o, _ := actual.(*ojson.Object)
	said := strings.TrimSpace(o.String("stderr"))
	return text.Brief(said[strings.LastIndexByte(said, '\n')+1:], 200)
}

// sameMessage reports whether all findings have the same message.
func sameMessage(list []Finding) bool {
	return !slices.ContainsFunc(list, func(f Finding) bool { return f.Message != list[0].Message })
}
