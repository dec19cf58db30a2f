// Look: a run for those who only show it. Nothing is locked, settled, reminded of,
// reconciled or written, whatever is met.

package runner

import (
	"bufio"
	"context"
	"iter"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// FileStat is a file a commit changed.
type FileStat = git.FileStat

// Sight is a run as it can be seen from outside: where it stands, and every gate.
type Sight struct {
	Standing
	Gates []gate.Standing // in the order of the phases
}

// Look is Standing for a reader that may not change a byte, with every gate. A
// restore that was interrupted is reported (working_files_behind) and left to the
// next command. Errors: those of View.
func (r *Runner) Look(ctx context.Context) (*Sight, error) {
	v, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.sight(v)
	if err != nil {
		return nil, err
	}
	if v.Config.Hooks.Len() > 0 || automatic(v.Config) {
		s.Untrusted = !r.trusted(ctx, v.Config)
	}
	if head, branch, err := r.store.Repository().Checkout(ctx); err == nil {
		s.Head, s.Branch = string(head), branch
	}
	r.lost(&s.Standing)
	return s, nil
}

func (r *Runner) look(ctx context.Context) (*gitstore.View, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	v, err := r.store.Look(ctx)
	if err != nil {
		return nil, err
	}
	return v, r.ready(ctx, v, false)
}

func (r *Runner) sight(v *gitstore.View) (*Sight, error) {
	st, err := r.standing(v)
	if err != nil {
		return nil, err
	}
	s := &Sight{Standing: *st}
	for _, phase := range v.Config.Phases() {
		g, err := gate.Stand(r.dir(), v, phase)
		if err != nil {
			return nil, err
		}
		if g != nil {
			s.Gates = append(s.Gates, *g)
		}
	}
	return s, nil
}

// LookFiles is Look for the files of a run laid out in dir without a repository: a
// replayed artifact. What depends on the machine a run lives on is left out: whether
// agents are at work, what is trusted, what is committed.
//
// Errors: invalid_json, invalid_config and invalid_state about the files.
func LookFiles(dir string, opt Options) (*Sight, error) {
	opt.at = dir
	r := New(nil, opt)
	cfg, err := projectfile.Read(dir, wire.ConfigPath, maxDocumentBytes)
	if err != nil {
		return nil, err
	}
	if cfg == nil {
		return nil, &wire.Error{Code: "not_a_project", Field: wire.ConfigPath, Message: "There is no " + wire.ConfigPath + " in " + dir + "."}
	}
	v := &gitstore.View{}
	if v.Config, v.ConfigProblems, err = config.Decode(cfg); err != nil {
		return nil, err
	}
	if v.StateBytes, err = projectfile.Read(dir, string(wire.DocState), maxDocumentBytes); err != nil {
		return nil, err
	}
	if v.StateBytes == nil {
		v.StateBytes = run.FreshState(v.Config, "").Encode()
	}
	raw, perr := run.DecodeState(v.StateBytes)
	if perr != nil {
		return nil, perr
	}
	v.RawState = raw
	v.State, v.StateNotes = run.RepairState(raw, v.Config)
	if p := run.CheckState(v.State); len(p) > 0 {
		return nil, run.StateError(p)
	}
	v.Run = v.State.Run()
	v.Index = run.BuildIndex(v.Config, v.State, rowsBelow(dir))
	return r.sight(v)
}

// rowsBelow reads the ledgers in a directory row by row; what is no row is left out.
func rowsBelow(dir string) run.LedgerReader {
	return func(l wire.Ledger) iter.Seq[run.Line] {
		return func(yield func(run.Line) bool) {
			root, err := os.OpenRoot(dir)
			if err != nil {
				return
			}
			defer func() { _ = root.Close() }()
			f, err := root.Open(l.Path())
			if err != nil {
				return
			}
			defer func() { _ = f.Close() }()
			if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
				return
			}
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, maxRow)
			for lines.Scan() {
				raw := append([]byte(nil), lines.Bytes()...)
				row, err := ojson.DecodeObject(raw)
				if err == nil && !yield(run.Line{Raw: raw, Row: row}) {
					return
				}
			}
		}
	}
}

// maxRow bounds a row of a ledger, in bytes.
const maxRow = 16 << 20

// dir is the project's directory.
func (r *Runner) dir() string {
	if r.store == nil {
		return r.opt.at
	}
	return r.store.Dir()
}

// CommitDiff returns what a commit of the project's own history changed: the files,
// and the patch unless it is longer than limit bytes; then cut is true. No program
// of the repository's configuration is run for it. Errors: not_found, git_failed.
func (r *Runner) CommitDiff(ctx context.Context, commit string, limit int64) (files []FileStat, patch []byte, cut bool, err error) {
	return r.store.Repository().CommitDiff(ctx, commit, limit)
}

// WorkDiff is CommitDiff of the named project-relative files as they are in the work
// tree, against a commit; files git does not know are not among them.
func (r *Runner) WorkDiff(ctx context.Context, commit string, names []string, limit int64) (files []FileStat, patch []byte, cut bool, err error) {
	return r.store.Repository().WorkDiff(ctx, commit, names, limit)
}
