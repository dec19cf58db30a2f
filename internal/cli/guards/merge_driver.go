// merge-driver and textconv: git calls them to merge and to show the ledgers of a run.

package guards

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ledgermerge"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

type mergeDriverOptions struct {
	Base, Ours, Theirs string
	MarkerSize         int
	Name               string // the path in the project, which determines what identifies a record
}

func NewMergeDriverCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "merge-driver",
		Category:  shared.CategoryTrust,
		Usage:     "merge two versions of a ledger, as git's merge driver",
		ArgsUsage: "BASE OURS THEIRS [MARKER-SIZE [PATH]]",
		Description: "git calls it for files with the attribute merge=agentxchain, after \"git agentxchain hooks install\" has defined it:\n" +
			"  merge.agentxchain.driver = git-agentxchain merge-driver %O %A %B %L %P\n" +
			"The result has every record of both versions once, byte for byte: in the order of each version, and " +
			"between the versions in the order of time. It replaces OURS. A record that is gone, one that both " +
			"changed, or a line that is not a record is a conflict: exit status 1, with both versions between " +
			"markers.",
		Action: func(c *ucli.Context) error {
			args := c.Args().Slice()
			opts := mergeDriverOptions{Base: args[0], Ours: args[1], Theirs: args[2], Name: args[1]}
			if len(args) > 3 {
				n, err := strconv.Atoi(args[3])
				if err != nil || n < 1 || n > 200 {
					return term.UsageErrorf("MARKER-SIZE must be a number from 1 to 200, not %q",
						term.OneLine(args[3]))
				}
				opts.MarkerSize = n
			}
			if len(args) > 4 {
				opts.Name = args[4]
			}
			return runMergeDriver(f, opts)
		},
	}
}

// runMergeDriver leaves OURS as it was unless the whole result could be written.
func runMergeDriver(f *term.Factory, o mergeDriverOptions) error {
	var sources [3]ledgermerge.Source
	var names [3]string
	for i, name := range []string{o.Base, o.Ours, o.Theirs} {
		p, file, err := open(f, name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			return term.Errorf("invalid_input", "cannot read %s: %w", name, err)
		}
		if !info.Mode().IsRegular() {
			return term.Errorf("invalid_input", "%s is not a file", name)
		}
		sources[i], names[i] = io.NewSectionReader(file, 0, info.Size()), p
	}
	var conflicts []ledgermerge.Conflict
	err := replaceFile(names[1], func(w io.Writer) error {
		var err error
		conflicts, err = ledgermerge.Merge(w, path.Base(filepath.ToSlash(o.Name)), sources[0], sources[1], sources[2])
		if err != nil || len(conflicts) == 0 {
			return err
		}
		ours, err := readAll(sources[1])
		if err != nil {
			return err
		}
		theirs, err := readAll(sources[2])
		if err != nil {
			return err
		}
		return ledgermerge.WriteConflict(w, ours, theirs, o.MarkerSize, "ours", "theirs")
	})
	if err != nil {
		return term.Errorf("io_failed", "cannot merge %s: %w", o.Name, err)
	}
	list := make([]*ojson.Object, len(conflicts))
	for i, c := range conflicts {
		list[i] = ojson.NewObject("side", string(c.Side), "line", c.Line, "message", c.Error())
		f.Out.Warn("%s: %s", o.Name, c.Error())
	}
	f.Out.Emit(ojson.NewObject("path", o.Name, "conflicts", list), nil)
	if len(conflicts) > 0 {
		f.Out.Notice("both versions of %s are in the file; keep every record once, in the order of time, then git add it", o.Name)
		return term.ErrFindings()
	}
	return nil
}

func readAll(s ledgermerge.Source) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(s, 0, s.Size()))
}

// replaceFile writes a new file beside name and renames it; the mode stays.
func replaceFile(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".merge-agentxchain-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // already gone when all went well
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// open opens a file that git names, and returns its path.
func open(f *term.Factory, name string) (string, *os.File, error) {
	p, err := f.Path(name)
	if err != nil {
		return "", nil, err
	}
	file, err := term.Interruptible(f, func() (*os.File, error) { return os.Open(p) })
	if err != nil {
		return "", nil, term.Errorf("invalid_input", "cannot read %s: %w", name, err)
	}
	return p, file, nil
}

func NewTextconvCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "textconv",
		Category:  shared.CategoryTrust,
		Usage:     "print a ledger with one member per line, for git diff",
		ArgsUsage: "FILE",
		Description: "git calls it for files with the attribute diff=agentxchain, after \"git agentxchain hooks install\" has defined it:\n" +
			"  diff.agentxchain.textconv = git-agentxchain textconv\n" +
			"\"git diff\" and \"git log -p\" then show what changed inside a record. --no-textconv shows the lines as they are.",
		Action: func(c *ucli.Context) error { return runTextconv(f, c.Args().First()) },
	}
}

func runTextconv(f *term.Factory, name string) error {
	_, file, err := open(f, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := ledgermerge.Readable(f.Out.Raw(), file); err != nil {
		return term.Errorf("io_failed", "cannot show %s: %w", name, err)
	}
	return nil
}
