// Store is the run store of one project: runs are recorded in it and restored from it (docs/storage.md).

package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

// Codes of the run store, in addition to those of the git layer.
const (
	CodeNotProject = "not_a_project"
	CodeStateMoved = "state_moved"
	CodeFileExists = workdir.CodeFileExists
)

// Options are the options of Open.
type Options struct {
	// Now is the clock for the store's own records (absorbed changes, repairs) and for lock ages. Operations have
	// their own time. Default time.Now.
	Now func() time.Time
	// Actor signs the store's own records. Default: the git identity, see Store.Identity.
	Actor *evidence.Actor
	// Publish moves the run's ref for an operation of Tx.Commit; default Repository.UpdateRefs. A decision over
	// several repositories sets its own, which waits until all of them can move (see Prepare).
	Publish decision.Publish
	// AtWork returns the agents at work; default none. It is called only when something other than an operation
	// changed the working files of the record.
	AtWork func() AtWork
}

// Store gives access to the runs of one project in one work tree. It is not safe for concurrent use; the lock keeps
// other processes out.
type Store struct {
	repo    *git.Repository
	objects git.Objects
	dir     string // project directory, absolute
	prefix  string // project directory below the work tree's root, "" or ending in "/"
	work    *workdir.Dir
	opts    Options
	held    *lockfile.Lock // taken by Hold, nil for none

	identity    sync.Once
	name, email string // of the person, see Identity
}

// Repository returns the project's git repository.
func (s *Store) Repository() *git.Repository { return s.repo }

// Dir returns the absolute project directory.
func (s *Store) Dir() string { return s.dir }

// Work returns the project's working files, nil in a repository without a work tree.
func (s *Store) Work() *workdir.Dir { return s.work }

// Watch returns the watch over git's settings while agents are at work in this project.
func (s *Store) Watch() *tamper.Watch {
	return tamper.NewWatch(s.repo, s.work, filepath.Join(private.Dir(s.repo), "dispatched"), s.opts.Now)
}

// Close ends helper processes, closes the project directory and releases a held lock.
func (s *Store) Close() error {
	err := s.repo.Close()
	if s.held != nil {
		_ = s.Unhold(s.held) // a lost lock is for its new owner to release
	}
	if s.work != nil && s.work.Root != nil {
		if cerr := s.work.Root.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

func newStore(repo *git.Repository, opts Options) (*Store, error) {
	root, err := os.OpenRoot(repo.ProjectDir)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the project directory cannot be opened")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{repo: repo, objects: repo.Objects(), dir: repo.ProjectDir, prefix: repo.Prefix,
		work: &workdir.Dir{Path: repo.ProjectDir, Root: root}, opts: opts}
	if err := private.RefuseLinks(s.repo); err != nil {
		return nil, errorsJoin(err, s.Close())
	}
	return s, nil
}

func (s *Store) reader(ctx context.Context) *record.Reader { return record.NewReader(ctx, s.repo) }

// actor returns the signer of the store's own records.
func (s *Store) actor(ctx context.Context) evidence.Actor {
	if s.opts.Actor == nil {
		name, email := s.Identity(ctx)
		s.opts.Actor = &evidence.Actor{Name: name, Email: email}
	}
	return *s.opts.Actor
}

// Env returns the environment of the store's own records.
func (s *Store) Env(ctx context.Context) protocol.Env {
	return protocol.Env{Now: s.opts.Now().UTC().Truncate(time.Millisecond), Actor: s.actor(ctx)}
}
