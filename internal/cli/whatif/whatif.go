// whatif: the recorded history, judged again under another configuration.

package whatif

import (
	"context"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

type whatifOptions struct {
	Runs  []string
	All   bool
	Other lookback.OtherConfig
}

func NewWhatifCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "whatif",
		Category: shared.CategoryProve,
		Usage:    "judge the recorded history again under another configuration",
		Description: "Judges every recorded operation again under the other configuration, from the recorded state " +
			"before it and with the arguments and evidence it was decided on. Lists what would have been decided " +
			"differently, and what cannot be known because the evidence was never recorded. Writes nothing. Exit " +
			"status: 0 nothing would have been decided differently, 1 something would have, 3 accepted work would " +
			"have been refused.",
		Flags: append(otherConfigFlags(),
			&ucli.StringSliceFlag{Name: "run", Usage: "judge this `RUN` (repeatable); the current one by default"},
			&ucli.BoolFlag{Name: "all", Usage: "judge every recorded run of the repository"}),
		Action: func(c *ucli.Context) error {
			o := &whatifOptions{Runs: c.StringSlice("run"), All: c.Bool("all")}
			if o.All && len(o.Runs) > 0 {
				return term.UsageErrorf("--run and --all cannot be used together")
			}
			other, err := otherConfigFrom(f, c)
			if err != nil {
				return err
			}
			o.Other = *other
			return runWhatif(c.Context, f, o)
		},
	}
}

// otherConfigFlags returns the flags that name the configuration to judge by.
func otherConfigFlags() []ucli.Flag {
	return []ucli.Flag{
		&ucli.StringFlag{
			Name:  "config",
			Usage: "judge by this `FILE` instead of the recorded configuration (agentxchain.json: the one of the work tree)",
		},
		&ucli.StringSliceFlag{
			Name:  "set",
			Usage: "set a member first: `PATH=VALUE`, such as policies.0.params.limit=3 (repeatable; VALUE is JSON, or text)",
		},
		term.NewChoiceFlag("hooks",
			"`WHICH` answers of hooks count: the recorded ones where the hook is still configured, or none",
			"recorded", "recorded", "none"),
	}
}

// maxConfigBytes bounds a configuration that is read as an input.
const maxConfigBytes = 8 << 20

func otherConfigFrom(f *term.Factory, c *ucli.Context) (*lookback.OtherConfig, error) {
	o := &lookback.OtherConfig{NoHooks: c.String("hooks") == "none"}
	if name := c.String("config"); name != "" {
		data, err := shared.ReadInput(f, "the configuration", name, maxConfigBytes)
		if err != nil {
			return nil, err
		}
		o.Document, o.Name = data, term.OneLine(name)
	}
	for _, s := range c.StringSlice("set") {
		path, text, ok := strings.Cut(s, "=")
		if !ok || path == "" {
			return nil, term.UsageErrorf("--set takes PATH=VALUE, not %q", term.OneLine(s))
		}
		var value ojson.Value = text
		if v, err := ojson.Decode([]byte(text)); err == nil {
			value = v
		}
		o.Set = append(o.Set, lookback.SetMember{Path: path, Value: value})
	}
	return o, nil
}

func runWhatif(ctx context.Context, f *term.Factory, o *whatifOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	defer shared.Roomy()()
	runs := o.Runs
	if o.All {
		if runs, err = r.RunIDs(ctx); err != nil {
			return err
		}
	}
	if len(runs) == 0 && !o.All {
		runs = []string{""}
	}
	var reports []*whatif.Report
	list, refused, differ := []*ojson.Object{}, 0, 0
	for _, run := range runs {
		report, err := lookback.WhatIf(ctx, r, run, &o.Other)
		if err != nil {
			return err
		}
		reports = append(reports, report)
		list = append(list, report.Object())
		refused += report.Refused
		differ += len(report.Differences)
	}
	f.Out.Page(ctx)
	f.Out.Emit(ojson.NewObject("runs", list, "refused", refused, "differences", differ), func(p *term.Printer) {
		for i, report := range reports {
			if i > 0 {
				p.Println()
			}
			printWhatif(p, report)
		}
	})
	switch {
	case refused > 0:
		return term.ExitSilently(term.ExitRefused)
	case differ > 0:
		return term.ErrFindings()
	}
	return nil
}

func printWhatif(p *term.Printer, r *whatif.Report) {
	p.Printf("Run %s: %s judged again", p.Bold(term.OneLine(r.Run)), term.Counted(r.Judged, "operation"))
	if len(r.Differences) == 0 {
		p.Printf("; nothing would have been decided differently.\n")
	} else {
		p.Printf(".\n")
		t := &term.Table{Header: []string{"OP", "TURN", "GATE", "RULE", "BEFORE", "AFTER", "WHY"}, Flex: 6}
		for _, d := range r.Differences {
			rule := d.Rule
			if d.Subject != "" && d.Subject != d.Gate {
				rule += " " + d.Subject
			}
			t.Row(shared.ShortOp(d.Op), d.Turn, d.Gate, rule, d.Before, d.After,
				strings.TrimSuffix(whereText(d.Config, d.Line)+d.Why, ": "))
		}
		p.Table(t)
	}
	for _, s := range r.NotJudged {
		p.Printf("%s not judged: %s.\n", term.Counted(s.Operations, "operation"), term.OneLine(s.Why))
	}
	for _, h := range r.NeverAsked {
		p.Printf("Unknown: hook %s was never asked.\n", term.OneLine(h))
	}
	if r.Unknown > 0 {
		p.Printf("%s unknown: what the rule looks at was never recorded.\n", term.Counted(r.Unknown, "verdict"))
	}
	if r.Refused > 0 {
		p.Printf("%s\n", p.Red("Work that was accepted would have been refused: "+term.Counted(r.Refused, "operation")+
			"."))
	}
}

// whereText names the place in the configuration that a verdict comes from.
func whereText(config string, line int) string {
	if config == "" || line == 0 {
		return ""
	}
	return "agentxchain.json:" + strconv.Itoa(line) + ": "
}

// verdictStyle colours a verdict.
func verdictStyle(p *term.Printer, said string) func(string) string {
	switch said {
	case verdict.Pass, verdict.Granted:
		return p.Green
	case verdict.Fail, verdict.Refused:
		return p.Red
	case verdict.Warn, verdict.Wait, verdict.Unknown:
		return p.Yellow
	}
	return p.Dim
}
