// verify export: is an export artifact consistent?

package prove

import (
	"context"
	"errors"
	"fmt"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

type verifyExportOptions struct {
	Input  string // a path; - is standard input
	Format string
}

func newVerifyExportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "export",
		ArgsUsage: "[FILE|-]",
		Usage:     "check every claim of an export artifact against its contents",
		Description: "Reads an artifact of schema 0.2 or 0.3, of a run or a coordinator, plain or compressed with " +
			"zstd, from FILE or standard input. Derives sizes, digests and data again from the content, and the " +
			"summary from the files. Writes nothing and needs no repository. Lists files whose content was left " +
			"out as unproven. Exit status: 0 if nothing is wrong, 1 with findings, 2 if there is no artifact to " +
			"check.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "input", Usage: "read `FILE`, - for standard input"},
			term.NewChoiceFlag("format", "print `FORMAT`", "text", "text", "json"),
		},
		Action: shared.OnOne("artifact", "input", func(c *ucli.Context, input string) error {
			if input == "" {
				input = "-"
			}
			return runVerifyExport(c.Context, f, &verifyExportOptions{Input: input, Format: c.String("format")})
		}),
	}
}

// runVerifyExport prints the report, or why there is none, without an envelope in both formats.
func runVerifyExport(ctx context.Context, f *term.Factory, o *verifyExportOptions) error {
	asJSON := o.Format == "json" || f.JSON()
	name, report, err := verifyExport(ctx, f, o.Input)
	if errors.Is(err, context.Canceled) {
		return err
	}
	out := f.Out.Raw()
	switch {
	case err != nil && asJSON:
		_, err = out.Write(ojson.Pretty(ojson.NewObject("overall", "error", "input", name, "message", err.Error(),
			"error", term.ErrorObject(err))))
	case err != nil:
		_, err = fmt.Fprintf(out, "Export verification failed: %s\n", term.OneLine(err.Error()))
	case asJSON:
		_, err = out.Write(ojson.Pretty(report.Object(name)))
	default:
		printVerification(f.Out.Printer(), name, report)
	}
	switch {
	case err != nil:
		return term.Errorf("io_failed", "cannot write the report: %w", err)
	case report == nil:
		return term.ExitSilently(term.ExitUsage)
	case !report.Passed():
		return term.ErrFindings()
	}
	return nil
}

// verifyExport reads and judges an artifact; name is what reports call it.
func verifyExport(ctx context.Context, f *term.Factory, input string) (name string, report *restore.Report,
	err error) {
	name, src, size, err := shared.OpenArtifact(f, input)
	if err != nil {
		return name, nil, err
	}
	defer func() { _ = src.Close() }()
	opt, done := shared.Verifying(f, size)
	defer done()
	report, err = restore.Verify(ctx, src, opt)
	return name, report, err
}

func printVerification(p *term.Printer, name string, r *restore.Report) {
	p.Printf("%s\n\n", p.Bold("Export verification"))
	p.Field("Input", "%s", term.OneLine(name))
	p.Field("Kind", "%s", Claim(r.ExportKind))
	p.Field("Schema", "%s", Claim(r.SchemaVersion))
	p.Field("Files", "%d", r.FileCount)
	if r.RepoCount > 0 {
		p.Field("Repositories", "%d", r.RepoCount)
	}
	if r.Passed() {
		p.Field("Overall", "%s", p.Green("PASS"))
	} else {
		p.Field("Overall", "%s", p.Red("FAIL"))
	}
	for _, x := range r.Findings {
		p.Printf("  %s %s\n", p.Red("x"), term.OneLine(x.String()))
	}
	if r.More > 0 {
		p.Printf("  ... and %d more\n", r.More)
	}
	if len(r.LeftOut) > 0 {
		p.Printf("\nLeft out when it was made:\n")
		for _, what := range r.LeftOut {
			p.Printf("  %s\n", term.OneLine(what))
		}
	}
	if len(r.Unproven) > 0 {
		p.Printf("\nTaken on trust, because the artifact leaves their content out:\n")
		for _, u := range r.Unproven {
			p.Printf("  %s\n", term.OneLine(u))
		}
	}
}

// Claim returns what an artifact calls itself, when that is text.
func Claim(v any) string {
	if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
		return term.OneLine(s)
	}
	return "unknown"
}
