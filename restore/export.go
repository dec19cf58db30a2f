// Exporting: the options, the result, and which kind of artifact (docs/export.md#what-is-in-it).

package restore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ExportOptions are the options of Prepare. The zero value leaves no file out.
type ExportOptions struct {
	Now      func() time.Time // clock; time.Now when nil
	From     string           // directory to which paths in the artifact are relative; the exported one when ""
	LockWait time.Duration    // how long to wait for an operation to end; 10 s when 0
	TempDir  string           // directory of temporary files until the artifact is written; the system's when ""
	InPlace  bool             // TempDir is the artifact's destination: Export.Take may save a copy

	// MaxFiles limits the artifact to that many files and MaxJSONLEntries every ledger to its last entries, 0 for
	// no limit. The configuration, the state and the ledgers are never left out, and decisions that outlive their
	// run are never cut.
	MaxFiles        int
	MaxJSONLEntries int

	// AllowSecrets are fingerprints of secrets that may be in the artifact.
	AllowSecrets []string

	// Bundle is the name of a new file for the history of the run as a git bundle; "" for none.
	Bundle string

	// Record includes the record of the run, or of each repository's run, in the artifact, unless Bundle takes it
	// or something was cut. MaxRecord bounds it; 32 MiB when 0.
	Record    bool
	MaxRecord int64

	// WithWork includes uncommitted changes of the checkout.
	WithWork bool

	// Live reports whether a process exists; it is called for a dashboard's process.
	Live     func(pid int) bool
	Progress func(done, total int) // files
}

func (o ExportOptions) filled(dir string) ExportOptions {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.From == "" {
		o.From = dir
	}
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.Live == nil {
		o.Live = process.Alive
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return o
}

// Export is an artifact ready to be written: everything in it was read at one moment, and no lock is held any more.
// Close it after use.
type Export struct {
	Kind     string
	Run      string // id of the run or of the initiative, "" for none
	Files    int    // number of files in it, including those of repositories
	Repos    int
	Failed   int      // number of repositories that could not be exported
	Blockers []string // why a run artifact cannot be restored
	Offer    bool     // WithWork, which was not set, would include some of what blocks
	Notices  []string // what was left out and what was corrected, for a person
	Cut      []string // what was left out on request
	Bundle   *ExportedBundle
	Record   *ExportedRecord // nil if it has none
	Records  int             // number of records of repositories, in the artifact of an initiative
	Work     int             // number of files of work in progress in it

	head   []part // before the files
	tail   []part // after the files
	spool  *spool
	events []event // events of a run inside an initiative
	repos  []*Export
}

// part is a piece of an artifact: text, or a function that writes itself.
type part struct {
	text  []byte
	write func(io.Writer) error
}

// Close removes the temporary files.
func (e *Export) Close() {
	if e == nil {
		return
	}
	e.spool.Close()
	for _, r := range e.repos {
		r.Close()
	}
}

// WriteTo writes the artifact. It can be called more than once.
func (e *Export) WriteTo(w io.Writer) (int64, error) {
	c := &countingWriter{w: w}
	b := bufio.NewWriterSize(c, 256<<10)
	err := e.write(b)
	if err == nil {
		_, err = b.WriteString("\n")
	}
	if err == nil {
		err = b.Flush()
	}
	return c.n, err
}

// Take returns a large artifact as a completely written file, but neither synced nor named (durable.Name), with its
// size. It returns nil if that is not possible; then use WriteTo. Otherwise the caller closes the file and the
// export is used up.
func (e *Export) Take() (*os.File, int64, error) {
	if len(e.repos) > 0 {
		return nil, 0, nil
	}
	head, ok := plain(e.head)
	tail, also := plain(e.tail)
	if !ok || !also {
		return nil, 0, nil
	}
	// White space goes before the last member of the head, which opens the files.
	gap := len(head) - len(e.head[len(e.head)-1].text) + len(",\n")
	return e.spool.take(head, append(tail, '\n'), gap)
}

// plain returns the text of parts, false if one of them writes itself.
func plain(parts []part) (text []byte, ok bool) {
	for _, p := range parts {
		if p.write != nil {
			return nil, false
		}
		text = append(text, p.text...)
	}
	return text, len(parts) > 0
}

func (e *Export) write(w io.Writer) error {
	if err := writeParts(w, e.head); err != nil {
		return err
	}
	if err := e.spool.copyTo(w); err != nil {
		return err
	}
	return writeParts(w, e.tail)
}

func writeParts(w io.Writer, parts []part) error {
	for _, p := range parts {
		if _, err := w.Write(p.text); err != nil {
			return err
		}
		if p.write != nil {
			if err := p.write(w); err != nil {
				return err
			}
		}
	}
	return nil
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadFrom allows efficient copying from file to file.
func (c *countingWriter) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.w, r)
	c.n += n
	return n, err
}

// Prepare reads the governed files around dir: the run of the nearest project at or above it, or the initiative of
// the nearest coordinator's workspace.
//
// Errors: nothing_to_export, export_content, io_failed, locked, and those of opening and reading a run.
func Prepare(ctx context.Context, dir string, opt ExportOptions) (*Export, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, failed(dir, "cannot be resolved: %v", err)
	}
	opt = opt.filled(abs)
	for at := abs; ; at = filepath.Dir(at) {
		switch {
		case isFile(filepath.Join(at, wire.ConfigPath)):
			return exportRun(ctx, at, "", opt)
		case isFile(filepath.Join(at, coordinatorFile)) && opt.Bundle != "":
			return nil, &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   "bundle",
				Message: "A bundle is the history of one run, and this is an initiative with several repositories.",
				Hint:    "export with --bundle in each of its repositories",
			}
		case isFile(filepath.Join(at, coordinatorFile)):
			return exportCoordinator(ctx, at, opt)
		}
		// A directory above the repository's root is not part of it.
		_, noRepo := os.Lstat(filepath.Join(at, ".git"))
		if up := filepath.Dir(at); up == at || noRepo == nil {
			return nil, nothing(ctx, abs)
		}
	}
}

func nothing(ctx context.Context, dir string) error {
	out := &wire.Error{Code: CodeNoExport, Message: fmt.Sprintf("There is neither %s nor %s in %s or above it.",
		wire.ConfigPath, coordinatorFile, dir),
		Hint: "change to a governed project or a coordinator's workspace, or make a project with git agentxchain init"}
	// Git may have one where it was not looked for: on another branch, in another directory, removed from the work tree.
	store, err := gitstore.Open(ctx, dir, gitstore.Options{})
	if err == nil {
		_ = store.Close()
	} else if why, ok := errors.AsType[*fail.Error](err); ok && why.Code == gitstore.CodeNotProject {
		out.Message, out.Hint = "There is nothing to export: "+why.Message+".", why.Hint
	}
	return out
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// failed returns an error about a file.
func failed(path, format string, args ...any) error {
	return &wire.Error{Code: CodeContent, Field: path, Message: path + " " + fmt.Sprintf(format, args...) + "."}
}

// place returns the name of a directory in an artifact.
func place(from, dir string) string {
	rel, err := filepath.Rel(from, dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	return filepath.ToSlash(rel)
}

// member starts a top-level member: each is on its own line, so that line-based tools can compare two artifacts.
func member(first bool, key string, v any) part {
	return part{text: append(memberName(first, key), ojson.Compact(v)...)}
}

func memberName(first bool, key string) []byte {
	b := []byte(",\n")
	if first {
		b = []byte("{\n")
	}
	return append(ojson.AppendString(b, key), ':')
}
