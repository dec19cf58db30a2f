// report: a report on an export artifact, for people and for programs.

package prove

import (
	"context"
	"errors"
	"io"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

type reportOptions struct {
	Input   string // a path; - is standard input
	Format  string
	Output  string // a path; "" and - are standard output
	Force   bool
	AllRuns bool
}

// reportFlags returns the flags that report and audit share.
func reportFlags() []ucli.Flag {
	return []ucli.Flag{
		term.NewChoiceFlag("format", "write `FORMAT`", "text", account.Formats()...),
		&ucli.StringFlag{
			Name:    "output",
			Aliases: []string{"o"},
			Usage:   "write to `FILE`, which appears whole or not at all; - for standard output",
		},
		&ucli.BoolFlag{Name: "force", Usage: "replace FILE"},
		&ucli.BoolFlag{
			Name:  "all-runs",
			Usage: "report rows of all runs in the ledgers, not only of the artifact's own run",
		},
	}
}

func reportOptionsFrom(c *ucli.Context, f *term.Factory) (*reportOptions, error) {
	o := &reportOptions{
		Format:  c.String("format"),
		Output:  c.String("output"),
		Force:   c.Bool("force"),
		AllRuns: c.Bool("all-runs"),
	}
	if c.IsSet("output") && o.Output == "" {
		return nil, term.UsageErrorf("--output is empty")
	}
	if f.JSON() {
		if c.IsSet("format") && o.Format != "json" {
			return nil, term.UsageErrorf("--json and --format %s cannot be used together", o.Format)
		}
		o.Format = "json"
	}
	return o, nil
}

func NewReportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "report",
		ArgsUsage: "[FILE|-]",
		Category:  shared.CategoryMove,
		Usage:     "report on an export artifact: text, json, markdown or html",
		Description: "Verifies the artifact first; if it does not verify, the report lists only the findings. " +
			"Otherwise it says where the run is, who decided and approved what, gates, objections, costs, the " +
			"turns, and what went wrong, and the same for an initiative and its repositories. The html is one " +
			"self-contained file. Exit status: 0 reported, 1 the artifact does not verify, 2 there is no artifact.",
		Flags: append([]ucli.Flag{&ucli.StringFlag{Name: "input", Usage: "read `FILE`, - for standard input"}},
			reportFlags()...),
		Action: shared.OnOne("artifact", "input", func(c *ucli.Context, input string) error {
			o, err := reportOptionsFrom(c, f)
			if err != nil {
				return err
			}
			if o.Input = input; input == "" {
				o.Input = "-"
			}
			return runReport(c.Context, f, o)
		}),
	}
}

func runReport(ctx context.Context, f *term.Factory, o *reportOptions) error {
	if err := reportPlace(f, o); err != nil {
		return err
	}
	name, a, err := loadArtifact(ctx, f, o.Input, false)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		report := account.Failure(name, err.Error())
		report.Set("error", term.ErrorObject(err))
		return writeReport(f, o, report)
	}
	return writeReport(f, o, account.Build(a, name, account.Options{Now: f.Now(), AllRuns: o.AllRuns}))
}

// loadArtifact verifies and reads an artifact, or only its head; name is what reports call it.
func loadArtifact(ctx context.Context, f *term.Factory, input string, headOnly bool) (name string, a *account.Artifact,
	err error) {
	name, src, size, err := shared.OpenArtifact(f, input)
	if err != nil {
		return name, nil, err
	}
	defer func() { _ = src.Close() }()
	a, err = readArtifact(ctx, f, src, size, headOnly)
	return name, a, err
}

func readArtifact(ctx context.Context, f *term.Factory, src io.Reader, size int64, headOnly bool) (*account.Artifact,
	error) {
	opt, done := shared.Verifying(f, size)
	defer done()
	return account.Load(ctx, src, account.LoadOptions{HeadOnly: headOnly, Verify: opt})
}

// reportPlace refuses, before any work is done, a place that a report cannot be written to.
func reportPlace(f *term.Factory, o *reportOptions) error {
	if o.Output == "" || o.Output == "-" {
		return nil
	}
	path, err := f.Path(o.Output)
	if err != nil {
		return err
	}
	o.Output = path
	return shared.OutputPlace(path, o.Force)
}

// writeReport writes a report, without an envelope in every format, and its exit status says what
// the report found. Only an account is saved to a file; a failure is printed.
func writeReport(f *term.Factory, o *reportOptions, doc *ojson.Object) error {
	status := reportStatus(doc)
	out := f.Out.Raw()
	toFile := o.Output != "" && o.Output != "-" && status == term.ExitOK
	format := o.Format
	if status != term.ExitOK && o.Output != "" && o.Output != "-" && format == "html" {
		format = "text" // it goes to the terminal
	}
	data := account.Render(doc, format)
	var err error
	if toFile {
		err = shared.SaveFile(o.Output, data, o.Force)
		if err == nil {
			f.Out.Notice("Wrote %s.", o.Output)
		}
	} else if _, werr := out.Write(data); werr != nil {
		err = term.Errorf("io_failed", "cannot write the report: %w", werr)
	}
	if err != nil {
		return err
	}
	return term.ExitSilently(status)
}

// reportStatus returns the exit status that a report ends with.
func reportStatus(doc *ojson.Object) int {
	switch doc.String("overall") {
	case "pass":
		return term.ExitOK
	case "fail":
		return term.ExitFailed
	}
	return term.ExitUsage
}
