// attest export: what people have signed, for other tools.

package prove

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newAttestExportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "export", ArgsUsage: "[DIR|-]", Usage: "write each signed statement as a DSSE envelope",
		Description: "Into the directory DIR, one file DIGEST.json for each, or one a line to standard output. The envelopes are as they " +
			"were signed: in-toto Statements v1 in DSSE v1, which other in-toto tools read. A file that is there already is left alone.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "of this `RUN`; the current one by default"},
		},
		Action: func(c *ucli.Context) error {
			return runAttestExport(c.Context, f, c.String("run"), c.Args().First())
		},
	}
}

func runAttestExport(ctx context.Context, f *term.Factory, run, dir string) error {
	repo, run, err := approvalsOf(ctx, f, run)
	if err != nil {
		return err
	}
	a, err := runner.ReadApprovals(ctx, repo, run)
	if err != nil {
		return err
	}
	envelopes := a.Envelopes()
	digests := slices.Sorted(maps.Keys(envelopes))
	if dir == "" || dir == "-" {
		out := f.Out.Raw()
		for _, d := range digests {
			if _, err := out.Write(append([]byte(strings.TrimRight(string(envelopes[d]), "\n")), '\n')); err != nil {
				return term.Errorf("io_failed", "cannot write the statements: %w", err)
			}
		}
		return nil
	}
	place, err := f.Path(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(place, 0o777); err != nil {
		return term.Errorf("io_failed", "cannot make %s: %w", place, err)
	}
	files := []string{}
	for _, d := range digests {
		path := filepath.Join(place, strings.TrimPrefix(d, "sha256:")+".json")
		files = append(files, path)
		if _, err := os.Lstat(path); err == nil {
			continue // its name is its digest
		}
		if err := shared.SaveFile(path, envelopes[d], false); err != nil {
			return err
		}
	}
	f.Out.Emit(ojson.NewObject("run_id", run, "files", files), func(p *term.Printer) {
		p.Printf("Wrote %s of run %s to %s.\n", term.Counted(len(files), "statement"), term.OneLine(run),
			term.OneLine(dir))
	})
	return nil
}
