// export: a run, or an initiative with the runs of its repositories, as one artifact.

package travel

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

type exportOptions struct {
	Output          string // a path; "" and - are standard output
	Bundle          string // a path; "" for none
	Force           bool
	Compress        bool
	MaxFiles        int // unlimited when 0
	MaxJSONLEntries int // unlimited when 0
	AllowSecrets    []string
	WithWork        bool
	NoRecord        bool
}

func NewExportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "export", Category: shared.CategoryMove, Usage: "write the run, or the initiative, into one file",
		Description: "Writes an artifact: the governed files with their digests, a summary that follows from them, " +
			"and the state of the checkout, all read in one moment under the run's lock. In a directory with " +
			"agentxchain-multi.json it exports the initiative with the runs of its repositories. The artifact of a " +
			"run contains the run's record, so that restore continues with its operations. No file is left out " +
			"unless --max-files or --max-jsonl-entries asks for it; such an artifact says so, and cannot be " +
			"restored.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:    "output",
				Aliases: []string{"o"},
				Usage:   "write to `FILE`, which appears whole or not at all; - for standard output",
			},
			&ucli.StringFlag{
				Name:  "bundle",
				Usage: "write the run's whole history to `FILE`, a git bundle for restore, instead of into the artifact",
			},
			&ucli.BoolFlag{Name: "no-record",
				Usage: "leave out the run's record; restore then records the files as one operation"},
			&ucli.BoolFlag{Name: "force", Usage: "replace FILE"},
			&ucli.BoolFlag{Name: "with-work",
				Usage: "include uncommitted changes of the project; restore writes them if you agree"},
			&ucli.BoolFlag{
				Name:  "compress",
				Usage: "compress with zstd, which every command that reads artifacts recognises",
			},
			&ucli.IntFlag{
				Name:        "max-files",
				Usage:       "keep at most `N` files; configuration, state and ledgers stay",
				DefaultText: "all",
			},
			&ucli.IntFlag{
				Name:        "max-jsonl-entries",
				Usage:       "keep the last `N` entries of each ledger",
				DefaultText: "all",
			},
			&ucli.StringSliceFlag{
				Name:  "allow-secret",
				Usage: "let the finding with `FINGERPRINT` pass; may be given more than once",
			},
			term.NewChoiceFlag("format", "write `FORMAT`", "json", "json"),
		},
		Action: func(c *ucli.Context) error {
			for _, name := range []string{"max-files", "max-jsonl-entries"} {
				if c.IsSet(name) && c.Int(name) < 1 {
					return term.UsageErrorf("--%s takes a number from 1, not %d", name, c.Int(name))
				}
			}
			if err := term.NotEmpty(c, "output", "bundle"); err != nil {
				return err
			}
			return runExport(c.Context, f, &exportOptions{
				Output:          c.String("output"),
				Bundle:          c.String("bundle"),
				Force:           c.Bool("force"),
				Compress:        c.Bool("compress"),
				MaxFiles:        c.Int("max-files"),
				MaxJSONLEntries: c.Int("max-jsonl-entries"),
				AllowSecrets:    c.StringSlice("allow-secret"),
				WithWork:        c.Bool("with-work"),
				NoRecord: c.Bool(
					"no-record"),
			})
		},
	}
}

func runExport(ctx context.Context, f *term.Factory, o *exportOptions) error {
	toStdout := o.Output == "" || o.Output == "-"
	if toStdout && o.Compress && f.Env.IsTerminal(f.Env.Stdout) {
		return term.UsageErrorf("a compressed artifact cannot be written to a terminal: name a file with --output")
	}
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	opt := restore.ExportOptions{Now: f.Now, From: dir, MaxFiles: o.MaxFiles, MaxJSONLEntries: o.MaxJSONLEntries,
		AllowSecrets: o.AllowSecrets, WithWork: o.WithWork, Record: !o.NoRecord}
	path := ""
	if !toStdout {
		if path, err = f.Path(o.Output); err != nil {
			return err
		}
		if err := shared.OutputPlace(path, o.Force); err != nil {
			return err
		}
		opt.TempDir = filepath.Dir(path) // which needs room for it anyway
		opt.InPlace = !o.Compress
	}
	beside := &bundleFile{}
	if o.Bundle != "" {
		if beside, err = newBundleFile(f, o, path); err != nil {
			return err
		}
		defer beside.discard()
		opt.Bundle = beside.temp
	}
	defer shared.Frugal()()
	progress := f.Out.Progress("exporting, files", 0)
	opt.Progress = func(done, _ int) { progress.Step(done) }
	e, err := restore.Prepare(ctx, dir, opt)
	progress.Done()
	if err != nil {
		return err
	}
	defer e.Close()
	if err := beside.publish(o.Force); err != nil {
		return err
	}
	var written int64
	if toStdout {
		written, err = shared.WriteArtifact(f.Out.Raw(), e, o.Compress)
	} else {
		written, err = saveArtifact(path, e, o)
	}
	if err != nil {
		return err
	}
	for _, c := range e.Cut {
		f.Out.Warn("left out on request: %s", term.OneLine(c))
	}
	for _, n := range e.Notices {
		f.Out.Warn("%s", term.OneLine(n))
	}
	if toStdout {
		if e.Bundle != nil {
			f.Out.Notice("The history is in %s: %s, %d bytes", term.OneLine(beside.path),
				term.Counted(len(e.Bundle.Refs), "ref"), e.Bundle.Bytes)
		}
		return nil
	}
	f.Out.Emit(exportAnswer(e, path, beside.path, written), func(p *term.Printer) {
		printExport(p, e, path, beside.path, written)
	})
	return nil
}

// exportAnswer returns the answer of an export to a file, with its history in a bundle or without ("").
func exportAnswer(e *restore.Export, path, bundle string, written int64) *ojson.Object {
	payload := ojson.NewObject("export_kind", e.Kind, "run_id", ojson.OrNull(e.Run), "output", path,
		"bytes", int(written), "files", e.Files,
		"repositories", e.Repos, "failed", e.Failed, "restore_blockers", wire.NonNil(e.Blockers), "left_out",
		wire.NonNil(e.Cut), "notices", wire.NonNil(e.Notices), "work", e.Work, "record", nil,
		"records", e.Records)
	if r := e.Record; r != nil {
		payload.Set("record", ojson.NewObject("op", r.Op, "bytes", r.Bytes))
	}
	if b := e.Bundle; b != nil {
		payload.Set("bundle", ojson.NewObject("output", bundle, "bytes", int(b.Bytes), "refs", b.Refs))
	}
	return payload
}

func printExport(p *term.Printer, e *restore.Export, path, bundle string, written int64) {
	what := "run " + e.Run
	switch {
	case e.Kind == restore.KindRun && e.Run == "":
		what = "the project, which has no run yet,"
	case e.Kind == restore.KindCoordinator:
		what = "the initiative " + e.Run + " with " + text.Count(e.Repos, "repository", "repositories")
		if e.Failed > 0 {
			what += fmt.Sprintf(" (%d failed)", e.Failed)
		}
	}
	p.Printf("Exported %s to %s: %s, %d bytes\n", term.OneLine(what), term.OneLine(path),
		term.Counted(e.Files, "file"), written)
	if b := e.Bundle; b != nil {
		p.Printf("Its history is in %s: %s, %d bytes\n", term.OneLine(bundle),
			term.Counted(len(b.Refs), "ref"), b.Bytes)
	}
	if r := e.Record; r != nil {
		p.Printf("It contains the run's record, %d bytes, so that restore continues its operations.\n", r.Bytes)
	}
	if e.Records > 0 {
		p.Printf("It contains the records of %s, so that restore --repo continues their operations.\n",
			term.Counted(e.Records, "run"))
	}
	if e.Work > 0 {
		p.Printf("It carries work in progress on %s, which restore writes on a yes.\n",
			term.Counted(e.Work, "file"))
	}
	if len(e.Blockers) > 0 {
		p.Printf("It can be audited, but not restored:\n")
		for _, b := range e.Blockers {
			p.Printf("  %s\n", term.OneLine(b))
		}
		if e.Offer {
			p.Printf("Commit it, or carry it along: git agentxchain export --with-work\n")
		}
	}
}

// saveArtifact writes the artifact to a new file beside the target and renames it when it is
// complete.
func saveArtifact(path string, e *restore.Export, o *exportOptions) (int64, error) {
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		// A pipe or a device, which cannot be replaced and should not be.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, term.Errorf("io_failed", "cannot write the artifact: %w", err)
		}
		n, err := shared.WriteArtifact(f, e, o.Compress)
		if cerr := f.Close(); err == nil && cerr != nil {
			err = term.Errorf("io_failed", "cannot write the artifact: %w", cerr)
		}
		return n, err
	}
	dir := filepath.Dir(path)
	n, err := saveBeside(path, dir, e, o)
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil && wire.ErrorCode(err) == "" {
		err = term.Errorf("io_failed", "cannot write the artifact: %w", err)
	}
	return n, err
}

// saveBeside writes a file in dir and renames it at the end. A large artifact already lies beside
// its final name.
func saveBeside(path, dir string, e *restore.Export, o *exportOptions) (n int64, err error) {
	temp := filepath.Join(dir, "."+filepath.Base(path)+".tmp-"+rand.Text())
	var f *os.File
	named := true
	if !o.Compress {
		if f, n, err = e.Take(); err != nil {
			return 0, err
		}
		named = f == nil
	}
	if f == nil {
		if f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return 0, err
		}
		n, err = shared.WriteArtifact(f, e, o.Compress)
		e.Close() // or the disk would be asked to sync what waited, too
	}
	defer func() { _ = os.Remove(temp) }()
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && !named {
		err = durable.Name(f, temp)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = shared.Publish(temp, path, o.Force)
	}
	return n, err
}
