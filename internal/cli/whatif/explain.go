// explain: the chain of rules that led to a verdict.

package whatif

import (
	"context"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

type explainOptions struct {
	Of  string
	Run string
	All bool
}

func NewExplainCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "explain",
		Category:  shared.CategoryLook,
		ArgsUsage: "TURN|GATE|OP|CODE",
		Usage:     "show which rules led to a verdict, and where they are written",
		Description: "Decides the recorded operation again and lists every rule that matters: what the rule said, " +
			"its section in docs/spec, the line of the configuration it depends on, and the digest of the " +
			"evidence. CODE is the code of a refusal in this run, or of the last command that was refused, or a " +
			"rule by which a guard refused a commit or push.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "look in this `RUN`; the current one by default"},
			&ucli.BoolFlag{
				Name:  "all",
				Usage: "show every rule that was asked, also those that do not affect the verdict",
			},
		},
		Action: func(c *ucli.Context) error {
			return runExplain(c.Context, f, &explainOptions{
				Of:  c.Args().First(),
				Run: c.String("run"),
				All: c.Bool("all"),
			})
		},
	}
}

func runExplain(ctx context.Context, f *term.Factory, o *explainOptions) error {
	e, err := explanation(ctx, f, o)
	if err != nil {
		// A code and a rule of the guards can always be explained.
		if code := codeMeaning(o.Of); code != nil {
			tellName(f, "code", o.Of, code.Meaning, code.Do, protocol.SpecOfCode(o.Of),
				"Nothing is recorded of it here: a command that refuses before it asks the rules leaves no judgement.")
			return nil
		}
		if meaning := githooks.Refuses(o.Of); meaning != "" {
			tellName(f, "guard_rule", o.Of, meaning,
				"What the refusal names as the way out: it depends on the file and the branch.", "docs/git-hooks.md#rules", "")
			return nil
		}
		return err
	}
	f.Out.Page(ctx)
	answer, code := e.Object(), codeMeaning(o.Of)
	if code != nil {
		answer.Set("do", code.Do)
	}
	f.Out.Emit(answer, func(p *term.Printer) {
		for i, c := range e.Chains {
			if i > 0 {
				p.Println()
			}
			gate := ""
			if e.Kind == "gate" {
				gate = e.Of
			}
			printChain(p, c, gate, o.All)
		}
		if e.Skipped > 0 {
			p.Printf("%s cannot be applied again: another tool's, or of a rule set this version does not replay.\n",
				term.Counted(e.Skipped, "operation"))
		}
		if code != nil {
			p.Println()
			printDo(p, code.Do)
		}
	})
	return nil
}

// tellName explains a name about which no judgement is recorded; unrecorded says why not, "" for a command that never
// records one.
func tellName(f *term.Factory, kind, of, meaning, do, spec, unrecorded string) {
	f.Out.Emit(ojson.NewObject("kind", kind, "of", of, "meaning", meaning, "do", do, "spec", spec,
		"chains", []*ojson.Object{}), func(p *term.Printer) {
		p.Printf("%s: %s\n", p.Bold(of), meaning)
		p.Printf("  %s\n", p.Dim(spec))
		if unrecorded != "" {
			p.Printf("%s\n", unrecorded)
		}
		printDo(p, do)
	})
}

// printDo prints what to do about it.
func printDo(p *term.Printer, do string) {
	p.Field("What to do", "%s", strings.ReplaceAll(do, "`", ""))
}

func explanation(ctx context.Context, f *term.Factory, o *explainOptions) (*lookback.Explanation, error) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	return lookback.Explain(ctx, r, o.Run, o.Of)
}

// codeMeaning looks a code up in the table of exit statuses.
func codeMeaning(code string) *term.ExitCode {
	for _, row := range term.ExitTable() {
		for i := range row.Codes {
			if row.Codes[i].Code == code {
				return &row.Codes[i]
			}
		}
	}
	return nil
}

// chainName names what was decided: the operation, its turn and role.
func chainName(c *verdict.Chain) string {
	name := c.Kind
	if c.Turn != "" {
		name += " " + c.Turn
	}
	if c.Role != "" {
		name += " (" + c.Role + ")"
	}
	return term.OneLine(name)
}

// printChain prints one decision as a tree. With a gate it shows only what concerns that gate;
// without all, it leaves out rules that passed and look at nothing.
func printChain(p *term.Printer, c *verdict.Chain, gate string, all bool) {
	p.Printf("%s: %s", p.Bold(chainName(c)), verdictStyle(p, c.Outcome)(c.Outcome))
	if c.Code != "" {
		p.Printf(" [%s]", term.OneLine(c.Code))
	}
	p.Println()
	var about []string
	for _, s := range []string{shared.ShortOp(c.Op), c.At, c.Actor} {
		if s != "" {
			about = append(about, term.OneLine(s))
		}
	}
	if c.Phase != "" {
		phase := "phase " + term.OneLine(c.Phase)
		if c.Next != c.Phase {
			phase += " to " + term.OneLine(c.Next)
		}
		about = append(about, phase)
	}
	if c.Status != "" {
		about = append(about, "run "+term.OneLine(c.Status))
	}
	p.Printf("%s\n", p.Dim(strings.Join(about, ", ")))
	if c.Message != "" {
		p.Printf("%s\n", term.OneLine(c.Message))
	}
	printSteps(p, shownSteps(c.Steps, gate, all), "", gate, all)
}

// shownSteps returns the steps worth a line.
func shownSteps(steps []*verdict.Step, gate string, all bool) []*verdict.Step {
	if all {
		return steps
	}
	var out []*verdict.Step
	for _, s := range steps {
		switch {
		case gate != "" && !bearsOn(s, gate):
		case s.Verdict != verdict.Pass, s.Config != "", len(s.Evidence) > 0, len(s.Steps) > 0, len(steps) == 1:
			out = append(out, s)
		}
	}
	return out
}

// bearsOn reports whether a step, or one inside it, is about the gate.
func bearsOn(s *verdict.Step, gate string) bool {
	c := verdict.Chain{Steps: []*verdict.Step{s}}
	return lookback.JudgesGate(&c, gate)
}

func printSteps(p *term.Printer, steps []*verdict.Step, indent, gate string, all bool) {
	for i, s := range steps {
		branch, next := "├─ ", "│  "
		if i == len(steps)-1 {
			branch, next = "└─ ", "   "
		}
		name := s.Rule
		if s.Subject != "" {
			name += " " + s.Subject
		}
		p.Printf("%s%s%s %s\n", indent, branch, verdictStyle(p, s.Verdict)(term.Pad(s.Verdict, 7)),
			p.Bold(term.OneLine(name)))
		below := indent + next + strings.Repeat(" ", 8)
		if len(s.Steps) > 0 {
			below = indent + next + "│" + strings.Repeat(" ", 7)
		}
		if s.Why != "" && len(s.Steps) == 0 {
			p.Printf("%s%s\n", below, term.OneLine(s.Why))
		}
		var at []string
		if s.Config != "" {
			where := "agentxchain.json"
			if s.Line > 0 {
				where += ":" + strconv.Itoa(s.Line)
			}
			at = append(at, where+" "+s.Config)
		}
		if s.Spec != "" {
			at = append(at, s.Spec)
		}
		if len(at) > 0 {
			p.Printf("%s%s\n", below, p.Dim(term.OneLine(strings.Join(at, ", "))))
		}
		for _, e := range s.Evidence {
			digest := "not there"
			if e.SHA256 != "" {
				digest = "sha256:" + e.SHA256
			}
			p.Printf("%s%s\n", below, p.Dim(term.OneLine(e.Path+" "+digest)))
		}
		in := s.Steps
		if gate == "" || s.Rule != verdict.RuleGate {
			in = shownSteps(s.Steps, gate, all)
		}
		if s.Rule == verdict.RuleGate {
			printSteps(p, in, indent+next, "", all)
		} else {
			printSteps(p, in, indent+next, gate, all)
		}
	}
}
