// A temporary workspace from an artifact, for viewing.

package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// Workspace is a materialised artifact. Close removes it.
type Workspace struct {
	Dir    string // absolute
	Kind   string // restore.KindRun or restore.KindCoordinator
	Schema string
	// Exported is when the artifact was made, according to itself; "" if it does not say.
	Exported string
	Run      string // id of the run or the initiative, "" for none
	Files    int
	Repos    []Repo
	Partial  []string // files that the artifact has only in part or not at all

	dir *scratch.Dir
}

// Name prefixes of workspaces: the next Open removes one that a killed process left, but not one that was kept.
const (
	prefix     = "agentxchain-replay-"
	keptPrefix = "agentxchain-kept-"
)

// Repo is a repository of an initiative in the workspace.
type Repo struct {
	ID          string
	Path        string // relative to the workspace, with slashes
	Placeholder string // why there is only a placeholder, "" for a complete repository
}

// Open verifies the artifact in r and lays it out below the system's directory for
// temporary files. r may be a pipe.
//
// Errors: artifact_unreadable (a *restore.InputError), artifact_unverified,
// unsafe_path, io_failed; ctx's cause. Nothing is left behind by an error.
func Open(ctx context.Context, r io.Reader, opt restore.VerifyOptions) (_ *Workspace, err error) {
	spool, err := os.CreateTemp("", "agentxchain-replay-artifact-")
	if err != nil {
		return nil, failed(err)
	}
	_ = os.Remove(spool.Name()) // if a file in use cannot be removed, it is removed below
	defer func() { _ = spool.Close(); _ = os.Remove(spool.Name()) }()
	report, err := restore.Verify(ctx, io.TeeReader(r, spool), opt)
	if err != nil {
		return nil, err
	}
	if !report.Passed() {
		return nil, unverified(report)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, failed(err)
	}
	dir, err := scratch.New(prefix)
	if err != nil {
		return nil, failed(err)
	}
	w := &Workspace{Dir: dir.Path, dir: dir}
	defer func() {
		if err != nil {
			_ = w.Close()
		}
	}()
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, failed(err)
	}
	defer func() { _ = root.Close() }()
	if err := w.lay(ctx, spool, root); err != nil {
		return nil, err
	}
	return w, w.seal(ctx)
}

func unverified(report *restore.Report) error {
	e := &wire.Error{
		Code:  restore.CodeUnverified,
		Field: "input",
		Hint:  "git agentxchain verify export FILE lists everything",
	}
	var lines []string
	for i, f := range report.Findings {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(report.Findings)-i+report.More))
			break
		}
		lines = append(lines, f.String())
	}
	e.Message = "The artifact does not verify: " + strings.Join(lines, "; ")
	return e
}

// failed returns an error of the disk.
func failed(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var ours *wire.Error
	var input *restore.InputError
	if errors.As(err, &ours) || errors.As(err, &input) {
		return err
	}
	return &wire.Error{
		Code:    "io_failed",
		Message: "The workspace for looking at the artifact cannot be made: " + err.Error() + ".",
	}
}

// seal removes write permissions. The files are a record: an editor or a command that runs there by habit should
// fail instead of changing them.
func (w *Workspace) seal(ctx context.Context) error {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = root.Close() }()
	return failed(fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir():
			return root.Chmod(name, 0o500)
		}
		return root.Chmod(name, 0o400)
	}))
}

// Close removes the workspace and everything in it.
func (w *Workspace) Close() error { return failed(w.dir.Remove()) }

// Keep leaves the workspace to the person, under a name of its own.
func (w *Workspace) Keep() error {
	if err := w.dir.Keep(keptPrefix); err != nil {
		return failed(err)
	}
	w.Dir = w.dir.Path
	return nil
}

// Session returns the workspace as JSON: {port, url, export_file, run_id, export_schema_version, files_restored,
// temp_dir, export_kind, repos, partial}. port and url are those of the dashboard that shows it, null for port 0.
func (w *Workspace) Session(input string, port int, url string) *ojson.Object {
	repos := []*ojson.Object{}
	for _, r := range w.Repos {
		var why any
		if r.Placeholder != "" {
			why = r.Placeholder
		}
		repos = append(repos, ojson.NewObject("repo_id", r.ID, "path", r.Path, "placeholder", why))
	}
	var run any
	if w.Run != "" {
		run = w.Run
	}
	var at, address any
	if port > 0 {
		at, address = ojson.Int(port), url
	}
	return ojson.NewObject("port", at, "url", address, "export_file", input, "run_id", run,
		"export_schema_version", w.Schema, "files_restored", w.Files, "temp_dir", w.Dir, "export_kind", w.Kind,
		"repos", repos, "partial", w.Partial)
}

// repoDir returns the directory of a repository: its name if that is a plain one.
func repoDir(id string, n int) string {
	plain := id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	if !plain {
		id = "repository-" + strconv.Itoa(n+1)
	}
	// The number distinguishes names that a file system may treat as equal.
	return "repos/" + strconv.Itoa(n+1) + "-" + id
}
