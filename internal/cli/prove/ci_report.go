// ci-report: a report in the format of a build server.

package prove

import (
	"context"
	"errors"
	"os"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
	"github.com/git-agentxchain/git-agentxchain/restore/ci"
)

type ciReportOptions struct {
	Input   string // a path, - for standard input; "" is the present project
	Format  string
	Strict  bool
	AllRuns bool
}

func NewCIReportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "ci-report",
		ArgsUsage: "[FILE|-]",
		Category:  shared.CategoryMove,
		Usage:     "report on the run to a build server: JUnit XML or GitHub annotations",
		Description: "Without FILE it reports on the project around the current directory, as audit does, and adds " +
			"the cases of policy test and what agentxchain.json would have decided about the recorded runs. With " +
			"FILE it reports on an export artifact, as report does. Under GitHub Actions it also sets outputs of " +
			"the step (GITHUB_OUTPUT) and writes a job summary (GITHUB_STEP_SUMMARY). Exit status: 0 reported, 1 " +
			"the artifact does not verify or, with --strict, something failed, 2 there is nothing to report on.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "input", Usage: "read `FILE`, - for standard input"},
			term.NewChoiceFlag("format", "write `FORMAT`; auto means github-actions under GitHub Actions, else json", "auto",
				"auto", "github-actions", "junit-xml", "json"),
			&ucli.BoolFlag{
				Name:  "strict",
				Usage: "exit with 1 if the run is blocked or failed, or a gate or turn failed",
			},
			&ucli.BoolFlag{
				Name:  "all-runs",
				Usage: "report rows of all runs in the ledgers, not only of the current one",
			},
		},
		Action: shared.OnOne("artifact", "input", func(c *ucli.Context, input string) error {
			format, err := reportFormat(c, f, "json")
			if err != nil {
				return err
			}
			return runCIReport(c.Context, f, &ciReportOptions{
				Input:   input,
				Format:  format,
				Strict:  c.Bool("strict"),
				AllRuns: c.Bool("all-runs"),
			})
		}),
	}
}

// reportFormat returns the format of a report for build servers: auto means github-actions there
// and elsewhere the given one.
func reportFormat(c *ucli.Context, f *term.Factory, elsewhere string) (string, error) {
	format := c.String("format")
	switch {
	case f.JSON() && c.IsSet("format") && format != "json":
		return "", term.UsageErrorf("--json and --format %s cannot be used together", format)
	case f.JSON():
		return "json", nil
	case format == "auto" && f.Env.Getenv("GITHUB_ACTIONS") == "true":
		return "github-actions", nil
	case format == "auto":
		return elsewhere, nil
	}
	return format, nil
}

func runCIReport(ctx context.Context, f *term.Factory, o *ciReportOptions) error {
	name, a, err := "current-project", (*account.Artifact)(nil), error(nil)
	if o.Input == "" {
		dir, derr := f.Dir()
		if derr != nil {
			return derr
		}
		a, err = liveArtifact(ctx, f, dir)
	} else {
		name, a, err = loadArtifact(ctx, f, o.Input, false)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	var doc *ojson.Object
	if err != nil {
		doc = liveFailure(name, err)
	} else {
		doc = account.Build(a, name, account.Options{Now: f.Now(), AllRuns: o.AllRuns})
	}
	suites := ci.Suites(doc)
	var sections []ci.Suite
	if o.Input == "" && err == nil {
		var more *ojson.Object
		sections, more = policySections(ctx, f)
		suites = append(suites, sections...)
		for k, v := range more.All() {
			doc.Set(k, v)
		}
	}
	var data []byte
	switch o.Format {
	case "junit-xml":
		data = ci.JUnit(suites)
	case "github-actions":
		data = append(ci.GitHub(doc), ci.Annotations(sections)...)
		if err := githubFiles(f, doc); err != nil {
			return err
		}
	default:
		data = account.Render(doc, "json")
	}
	if _, err := f.Out.Raw().Write(data); err != nil {
		return term.Errorf("io_failed", "cannot write the report: %w", err)
	}
	status := reportStatus(doc)
	if status == term.ExitOK && o.Strict && !ci.InOrder(suites) {
		status = term.ExitFailed
	}
	return term.ExitSilently(status)
}

// githubFiles appends to the files in which a workflow step puts its outputs and its summary.
func githubFiles(f *term.Factory, doc *ojson.Object) error {
	const most = 1 << 20 // of a step's summary
	summary := account.Render(doc, "markdown")
	if len(summary) > most {
		summary = nil
	}
	for name, data := range map[string][]byte{"GITHUB_OUTPUT": ci.Outputs(doc), "GITHUB_STEP_SUMMARY": summary} {
		if err := appendTo(name, f.Env.Getenv(name), data); err != nil {
			return err
		}
	}
	return nil
}

// appendTo appends to the file that a variable names, if any.
func appendTo(name, path string, data []byte) error {
	if path == "" || len(data) == 0 {
		return nil
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		_, err = out.Write(data)
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		return term.Errorf("io_failed", "cannot write to the file %s names: %w", name, err)
	}
	return nil
}
