// Reading an artifact: once to verify it, once for the report.

package account

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// Artifact is what reports need from an export artifact.
type Artifact struct {
	Kind         string          // restore.KindRun, restore.KindCoordinator or what the artifact says
	Verification *restore.Report // nil for an artifact inside another, which covers it
	Head         *ojson.Object   // all members except files and repos
	Files        map[string]*File
	Repos        []Repo
}

// File is a file of an artifact. Data and Rows are only set for files that reports read.
type File struct {
	Data any             // decoded document or text
	Rows []*ojson.Object // of a ledger, without rows that are not objects
}

// Repo is a repository of an initiative.
type Repo struct {
	ID          string
	OK          bool
	Path, Error string
	Export      *Artifact // nil if it has none
}

// Memory limits for one artifact.
const (
	maxMember = 32 << 20 // for one value: a row, a document, the state
	maxHeld   = 1 << 30  // for all values together, approximately
)

var errHeld = errors.New("its ledgers are larger than a report can hold")

// LoadOptions are the options of Load.
type LoadOptions struct {
	Verify   restore.VerifyOptions
	HeadOnly bool // skip the contents of files: enough to compare artifacts
}

// Load verifies the artifact in r and reads it. r may be a pipe; Load keeps it in a temporary file meanwhile. The
// artifact is returned even if it does not verify: see Verification.
//
// The error is a *restore.InputError when there is no artifact, or ctx's cause.
func Load(ctx context.Context, r io.Reader, opt LoadOptions) (*Artifact, error) {
	spool, err := os.CreateTemp("", "agentxchain-report-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(spool.Name()) // if a file in use cannot be removed, it is removed below
	defer func() { _ = spool.Close(); _ = os.Remove(spool.Name()) }()
	verdict, err := restore.Verify(ctx, io.TeeReader(r, spool), opt.Verify)
	if err != nil {
		return nil, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	a, err := read(ctx, spool, opt.HeadOnly)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &restore.InputError{Message: "The artifact cannot be read: " + err.Error(), Err: err}
	}
	a.Verification = verdict
	return a, nil
}

// read reads an artifact.
func read(ctx context.Context, r io.Reader, headOnly bool) (*Artifact, error) {
	src, done, err := restore.Decompress(&cancellable{ctx, r})
	if err != nil {
		return nil, err
	}
	defer done()
	l := &loader{r: scan.New(src, scan.Limits{}), left: maxHeld, headOnly: headOnly}
	a, err := l.artifact()
	if err == nil {
		err = l.r.End()
	}
	return a, err
}

type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

type loader struct {
	r        *scan.Reader
	left     int64 // remaining memory
	headOnly bool
}

// hold counts the memory of a value that is kept.
func (l *loader) hold(v any) (any, error) {
	if l.left -= weight(v); l.left < 0 {
		return nil, errHeld
	}
	return v, nil
}

func (l *loader) value() (any, error) {
	v, err := l.r.Value(maxMember)
	if err != nil {
		return nil, err
	}
	return l.hold(v)
}

func (l *loader) artifact() (*Artifact, error) {
	a := &Artifact{Head: &ojson.Object{}, Files: make(map[string]*File)}
	_, err := l.r.Members(func(key string) (err error) {
		switch key {
		case "files":
			_, err = l.r.Members(func(path string) error {
				f, err := l.file(path)
				a.Files[path] = f
				return err
			})
		case "repos":
			_, err = l.r.Members(func(id string) error {
				repo, err := l.repo(id)
				a.Repos = append(a.Repos, repo)
				return err
			})
		case "schema_version", "export_kind", "exported_at", "project_root", "workspace_root", "project", "summary",
			"workspace", "config", "state", "coordinator":
			var v any
			v, err = l.value()
			a.Head.Set(key, v)
		default:
			err = l.r.Skip()
		}
		return err
	})
	a.Kind = a.Head.String("export_kind")
	slices.SortStableFunc(a.Repos, func(x, y Repo) int { return restore.Collate(x.ID, y.ID) })
	return a, err
}

func (l *loader) repo(id string) (Repo, error) {
	repo := Repo{ID: id}
	_, err := l.r.Members(func(key string) (err error) {
		switch key {
		case "export":
			repo.Export, err = l.artifact()
			return err
		case "ok", "path", "error":
		default:
			return l.r.Skip()
		}
		v, err := l.value()
		switch key {
		case "ok":
			repo.OK = v == any(true)
		case "path":
			repo.Path, _ = v.(string)
		case "error":
			repo.Error, _ = v.(string)
		}
		return err
	})
	return repo, err
}

// told reports whether a report reads a file, and whether the file is a ledger.
func told(path string) (wanted, ledger bool) {
	switch path {
	case pathHistory, pathDecisions, pathEvents, pathHookAudit, pathHuman, multiHistory, multiDecisions,
		multiBarrierLedger:
		return true, true
	case pathSession, pathVerdict, multiState, multiBarriers, multiRecovery:
		return true, false
	}
	return strings.HasPrefix(path, pathIntents) && strings.HasSuffix(path, ".json"), false
}

// file reads a file entry, and the rows of a ledger one at a time.
func (l *loader) file(path string) (*File, error) {
	f := &File{}
	wanted, ledger := told(path)
	wanted = wanted && !l.headOnly
	_, err := l.r.Members(func(key string) (err error) {
		switch {
		case key == "data" && wanted && ledger:
			f.Rows, err = l.rows(path)
		case key == "data" && wanted:
			f.Data, err = l.value()
		default:
			err = l.r.Skip()
		}
		return err
	})
	return f, err
}

func (l *loader) rows(path string) ([]*ojson.Object, error) {
	rows := []*ojson.Object{}
	array, err := l.r.Items(func() error {
		v, err := l.r.Value(maxMember)
		if err != nil {
			return err
		}
		if o, ok := v.(*ojson.Object); ok {
			o = slim(path, o)
			rows = append(rows, o)
			_, err = l.hold(o)
		}
		return err
	})
	if !array || err != nil {
		return nil, err
	}
	return rows, nil
}
