// Which lines of which file: PATH, PATH:LINE, PATH:FROM-TO and -L, for why and blame.

package look

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/attribution/foreign"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// sniffed is how much of a file is examined to tell whether it is text, as git does.
const sniffed = 8000

// linesQuestion asks about lines of a file.
type linesQuestion struct {
	Arg    string        // as typed
	Others *foreign.Book // what other tools said about the lines, nil when none is to be shown
	Ranges []runner.LineRange
}

func linesFlag() ucli.Flag {
	return &ucli.StringSliceFlag{
		Name:    "lines",
		Aliases: []string{"L"},
		Usage:   "only these lines, `FROM,TO` or one number (repeatable)",
	}
}

func linesFrom(c *ucli.Context) (*linesQuestion, error) {
	q := &linesQuestion{Arg: c.Args().First()}
	for _, text := range c.StringSlice("lines") {
		r, ok := parseRange(text)
		if !ok {
			return nil, term.UsageErrorf("-L takes FROM,TO or one line number, not %q", term.OneLine(text))
		}
		q.Ranges = append(q.Ranges, r)
	}
	return q, nil
}

// parseRange reads "12", "12,20", "12-20" and "12,"; lines count from 1.
func parseRange(s string) (runner.LineRange, bool) {
	from, to, two := strings.Cut(s, ",")
	if !two {
		from, to, two = strings.Cut(s, "-")
	}
	a, ok := lineNumber(from)
	if !ok {
		return runner.LineRange{}, false
	}
	if !two {
		return runner.LineRange{From: a, To: a}, true
	}
	if to == "" {
		return runner.LineRange{From: a}, true
	}
	b, ok := lineNumber(to)
	return runner.LineRange{From: a, To: b}, ok && b >= a
}

func lineNumber(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n < 1<<31
}

// fileOf finds the named file, which must be an ordinary text file of the work tree. It returns its
// path from the root of the work tree, and adds the lines that follow its name.
func (q *linesQuestion) fileOf(f *term.Factory, repo *runner.Repository) (string, error) {
	name := term.OneLine(q.Arg)
	abs, err := f.Path(q.Arg)
	if err != nil {
		return "", err
	}
	fi, err := os.Lstat(abs)
	if i := strings.LastIndexByte(q.Arg, ':'); err != nil && i > 0 {
		// An existing file of exactly that name comes first.
		r, ok := parseRange(q.Arg[i+1:])
		rest, perr := f.Path(q.Arg[:i])
		if _, lerr := os.Lstat(rest); perr == nil && (ok || lerr == nil) {
			if !ok {
				return "", term.UsageErrorf("%q is not a line number; write PATH:LINE or PATH:FROM-TO",
					term.OneLine(q.Arg[i+1:]))
			}
			if len(q.Ranges) > 0 {
				return "", term.UsageErrorf("lines are given twice, behind the name and with -L")
			}
			q.Ranges, abs = []runner.LineRange{r}, rest
			fi, err = os.Lstat(abs)
			name = term.OneLine(q.Arg[:i])
		}
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			// Names are relative to the current directory: the file may exist at the top.
			if rel, err := filepath.Rel(repo.TopLevel, abs); err == nil && filepath.IsLocal(rel) {
				name = term.OneLine(filepath.ToSlash(rel))
			}
			return "", term.Errorf(wire.CodeNotFound, "there is no file %s in the work tree", name)
		}
		return "", term.Errorf("io_failed", "%s cannot be read: %w", name, err)
	}
	// The last element stays: a link is not a file whose lines could be asked about.
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", term.Errorf("io_failed", "%s cannot be read: %w", name, err)
	}
	rel, err := filepath.Rel(repo.TopLevel, filepath.Join(dir, filepath.Base(abs)))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", term.Errorf(wire.CodeInvalidArgument, "%s is outside of the work tree at %s", name, repo.TopLevel)
	}
	if inner := innerRepository(repo.TopLevel, rel); inner != "" {
		return "", term.Errorf(wire.CodeInvalidArgument,
			"%s belongs to the repository in %s, which has a history of its own", name, term.OneLine(inner)).
			WithHint("ask there: change to that directory and run the command again")
	}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return "", term.Errorf(wire.CodeInvalidArgument,
			"%s is a symbolic link, which has no lines; ask about the file it points to", name)
	case fi.IsDir():
		return "", term.Errorf(wire.CodeInvalidArgument, "%s is a directory; ask about a file", name)
	case !fi.Mode().IsRegular():
		return "", term.Errorf(wire.CodeInvalidArgument, "%s is not an ordinary file", name)
	}
	if binary, err := isBinary(abs); err != nil || binary {
		if err != nil {
			return "", term.Errorf("io_failed", "%s cannot be read: %w", name, err)
		}
		return "", term.Errorf(wire.CodeInvalidArgument, "%s is binary and has no lines", name).
			WithHint("git log -- PATH shows its commits, git agentxchain history the turns")
	}
	return filepath.ToSlash(rel), nil
}

// innerRepository returns the nearest directory above a path, itself included, that is a repository
// of its own (a submodule), "" for none.
func innerRepository(top, rel string) string {
	for d := rel; d != "."; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(top, d, ".git")); err == nil {
			return d
		}
	}
	return ""
}

func isBinary(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return bytes.IndexByte(head[:n], 0) >= 0, nil
}

// attribute answers the question; r must stay open as long as the answer is used.
func attribute(ctx context.Context, f *term.Factory, r *runner.Runner, q *linesQuestion) (*attribution.Report, error) {
	repo := r.Record().Repository()
	name, err := q.fileOf(f, repo)
	if err != nil {
		return nil, err
	}
	return attribution.Lines(ctx, repo, attribution.Query{
		Path:      name,
		Ranges:    q.Ranges,
		ProjectID: r.ProjectID(ctx),
		Staged:    stagedFiles(r),
	})
}

// others returns what imported tools said about the lines.
func others(ctx context.Context, repo *runner.Repository, report *attribution.Report) (*foreign.Book, error) {
	shown := foreign.Shown(ctx, repo)
	if len(shown) == 0 {
		return nil, nil
	}
	var commits []runner.OpID
	for i := range report.Lines {
		if c := report.Lines[i].Commit; !c.Uncommitted() {
			commits = append(commits, c.OID)
		}
	}
	slices.Sort(commits)
	return foreign.Read(ctx, repo, shown, slices.Compact(commits))
}

// stagedFiles returns a function that says what an active turn's staged result declares.
func stagedFiles(r *runner.Runner) func(string) ([]string, bool) {
	return func(turn string) ([]string, bool) {
		s, err := r.Staged(turn)
		if err != nil || s.Data == nil {
			return nil, false
		}
		doc, err := ojson.DecodeObject(s.Data)
		if err != nil || doc.String("turn_id") != turn {
			return nil, false
		}
		return doc.Strings("files_changed"), true
	}
}

// linesAction returns the action of a command about lines of a file: it reads the question, joins the lines with the
// runs and passes both to show.
func linesAction(f *term.Factory, show func(context.Context, *term.Factory, *linesQuestion,
	*attribution.Report) error) ucli.ActionFunc {
	return func(c *ucli.Context) error {
		q, err := linesFrom(c)
		if err != nil {
			return err
		}
		r, err := shared.Open(c.Context, f)
		if err != nil {
			return err
		}
		report, err := attribute(c.Context, f, r, q)
		if err != nil {
			return err
		}
		if q.Others, err = others(c.Context, r.Record().Repository(), report); err != nil {
			return err
		}
		return show(c.Context, f, q, report)
	}
}
