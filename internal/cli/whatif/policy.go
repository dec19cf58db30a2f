// policy test: cases beside the configuration, checked against the engine.

package whatif

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/ci"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

type policyTestOptions struct {
	Files  []string
	Record string // turn or operation to make a case of
	Name   string
	Run    string
	Format string
	Other  lookback.OtherConfig
}

func NewPolicyCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "policy", Category: shared.CategoryProve, Usage: "run test cases for the rules of agentxchain.json",
		Subcommands: []*ucli.Command{{
			Name: "test", ArgsUsage: "[FILE...]", Usage: "run the cases in " + lookback.PolicyTestsDir,
			Description: "A case is a JSON or YAML document: a situation, a turn's result, and the expected " +
				"verdict (docs/whatif.md). Every case is decided under the agentxchain.json of the work tree. Exit " +
				"status 1 if a case fails.",
			Flags: append(otherConfigFlags()[:2],
				&ucli.StringFlag{
					Name:  "record",
					Usage: "write a case from what was decided on `TURN` (or an operation) instead",
				},
				&ucli.StringFlag{Name: "name", Usage: "the `NAME` of the recorded case and its file"},
				&ucli.StringFlag{Name: "run", Usage: "record from this `RUN`; the current one by default"},
				term.NewChoiceFlag("format", "write `FORMAT`", "text", "text", "json", "junit-xml")),
			Action: func(c *ucli.Context) error {
				o := &policyTestOptions{
					Files:  c.Args().Slice(),
					Record: c.String("record"),
					Name:   c.String("name"),
					Run:    c.String("run"),
					Format: c.String("format"),
				}
				if o.Record != "" && len(o.Files) > 0 {
					return term.UsageErrorf("--record takes no files")
				}
				if o.Name != "" && !caseName(o.Name) {
					return term.UsageErrorf("--name takes letters, digits, dots, dashes and underscores, not %q",
						term.OneLine(o.Name))
				}
				if f.JSON() && o.Format == "junit-xml" {
					return term.UsageErrorf("--json and --format junit-xml cannot be used together")
				}
				if o.Format == "json" {
					f.Global.JSON = true
				}
				other, err := otherConfigFrom(f, c)
				if err != nil {
					return err
				}
				o.Other = *other
				return runPolicyTest(c.Context, f, o)
			},
		}},
	}
}

// caseName reports whether a case may have that name: letters, digits, "_", and after the first
// also "." and "-"; 100 at most.
func caseName(s string) bool {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return s != "" && len(s) <= 100 && strings.Contains(first, s[:1]) && strings.Trim(s, first+".-") == ""
}

func runPolicyTest(ctx context.Context, f *term.Factory, o *policyTestOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if o.Record != "" {
		return recordCase(ctx, f, r, o)
	}
	files, err := caseFiles(f, r, o.Files)
	if err != nil {
		return err
	}
	results, err := PolicyTests(ctx, r, &o.Other, files)
	if err != nil {
		return err
	}
	suite, list, failed := CaseSuite(results)
	if o.Format == "junit-xml" {
		if _, err := f.Out.Raw().Write(ci.JUnit([]ci.Suite{suite})); err != nil {
			return term.Errorf("io_failed", "cannot write the report: %w", err)
		}
	} else {
		f.Out.Emit(ojson.NewObject("cases", list, "passed", len(results)-failed, "failed", failed),
			func(p *term.Printer) {
				printCases(p, results, failed)
			})
	}
	if failed > 0 {
		return term.ErrFindings()
	}
	return nil
}

// PolicyTests runs cases under the configuration of the work tree, or another.
func PolicyTests(ctx context.Context, r *runner.Runner, other *lookback.OtherConfig,
	files []string) ([]*lookback.CaseResult, error) {
	data, err := os.ReadFile(filepath.Join(r.Record().Dir(), wire.ConfigPath))
	if err != nil {
		return nil, term.Errorf("unreadable_file", "%s cannot be read: %w", wire.ConfigPath, err)
	}
	cfg, _, err := other.Over(data)
	if err != nil {
		return nil, err
	}
	return lookback.PolicyTests(ctx, r, cfg, files)
}

// caseFiles makes the named files project-relative; nil when none are named.
func caseFiles(f *term.Factory, r *runner.Runner, names []string) ([]string, error) {
	var out []string
	for _, n := range names {
		path, err := f.Path(n)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(r.Record().Dir(), path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, term.Errorf("invalid_argument", "%s is not in the project", term.OneLine(n))
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out, nil
}

func CaseSuite(results []*lookback.CaseResult) (suite ci.Suite, list []*ojson.Object, failed int) {
	suite = ci.Suite{Name: "Policy tests", Class: "agentxchain.policy"}
	list = []*ojson.Object{}
	for _, c := range results {
		one := ci.Case{Name: term.OneLine(c.Name), Outcome: ci.Passed, File: term.OneLine(c.File)}
		o := ojson.NewObject("file", c.File, "name", c.Name, "passed", c.Passed(),
			"problems", append([]string{}, c.Problems...), "error", ojson.OrNull(c.Err))
		switch {
		case c.Err != "":
			one.Outcome, one.Message = ci.Broken, term.OneLine(c.Err)
			failed++
		case len(c.Problems) > 0:
			one.Outcome, one.Message = ci.Failed, term.OneLine(strings.Join(c.Problems, "; "))
			failed++
		}
		if c.Chain != nil {
			o.Set("chain", c.Chain.Object())
		}
		suite.Cases = append(suite.Cases, one)
		list = append(list, o)
	}
	return suite, list, failed
}

func printCases(p *term.Printer, results []*lookback.CaseResult, failed int) {
	if len(results) == 0 {
		p.Printf("There are no cases below %s; git agentxchain policy test --record TURN makes one.\n",
			lookback.PolicyTestsDir)
		return
	}
	for _, c := range results {
		if c.Passed() {
			p.Printf("%s %s\n", p.Green("ok    "), term.OneLine(c.Name))
			continue
		}
		p.Printf("%s %s %s\n", p.Red("failed"), term.OneLine(c.Name), p.Dim(term.OneLine(c.File)))
		if c.Err != "" {
			p.Printf("       - %s\n", term.OneLine(c.Err))
		}
		for _, s := range c.Problems {
			p.Printf("       - %s\n", term.OneLine(s))
		}
	}
	p.Printf("%s, %d failed.\n", term.Counted(len(results), "case"), failed)
}

func recordCase(ctx context.Context, f *term.Factory, r *runner.Runner, o *policyTestOptions) error {
	if o.Name == "" && !caseName(o.Record) {
		return term.UsageErrorf("%q cannot be a file name; give the case one with --name", term.OneLine(o.Record))
	}
	file, c, texts, err := lookback.RecordCase(ctx, r, o.Run, o.Record, o.Name)
	if err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("file", file, "name", c.Name, "expect", ojson.Marshal(&c.Expect), "redacted", texts),
		func(p *term.Printer) {
			p.Printf("%s expects what was decided: %s", p.Bold(term.OneLine(file)), c.Expect.Outcome)
			if c.Expect.Code != "" {
				p.Printf(" (%s by %s)", term.OneLine(c.Expect.Code), term.OneLine(c.Expect.Rule))
			}
			p.Printf(".\n")
			if texts > 0 {
				p.Printf("What looks like a secret was taken out of %s.\n", term.Counted(texts, "text"))
			}
			p.Field("Next", "git agentxchain policy test")
		})
	return nil
}
