// Store is the run store of one project: what its runs are recorded in and
// brought back from (docs/storage.md).

package gitstore

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of the run store, beside those of the git layer.
const (
	CodeNotProject     = "not_a_project"
	CodeNoRun          = "no_run"
	CodeLedgerTampered = "ledger_tampered"
	CodeStateTampered  = "state_tampered"
	CodeStateMoved     = "state_moved"
	CodeChainBroken    = "chain_broken"
	CodeFileExists     = "file_exists"
)

// Options of Open.
type Options struct {
	// Now is the clock of the store's own records (absorbed changes, repairs)
	// and of lock ages. Operations bring their own time. Default time.Now.
	Now func() time.Time
	// Actor is who the store's own records are signed by. Default: the git
	// identity, see Store.Identity.
	Actor *evidence.Actor
	// Publish moves the run's ref for an operation of Tx.Commit; default
	// Repository.UpdateRefs. A decision over several repositories puts its own
	// here, which waits until all of them can move (see Prepare).
	Publish Publish
	// AtWork tells of agents at work; default none. It is asked only when the
	// working files of the record were changed by something else than an operation.
	AtWork func() AtWork
}

// Store gives access to the runs of one project in one work tree. It is not
// safe for concurrent use; other processes are kept apart by the lock.
type Store struct {
	repo    *git.Repository
	objects git.Objects
	dir     string // project directory, absolute
	prefix  string // project directory below the work tree's root, "" or ending in "/"
	work    *workDir
	opts    Options
	held    *lockfile.Lock // taken by Hold, nil for none

	identity    sync.Once
	name, email string // of whoever acts, see Identity
}

// Repository returns the git repository the project lives in.
func (s *Store) Repository() *git.Repository { return s.repo }

// Dir returns the absolute project directory.
func (s *Store) Dir() string { return s.dir }

// Close ends helper processes, closes the project directory and gives a held lock
// back.
func (s *Store) Close() error {
	err := s.repo.Close()
	if s.held != nil {
		_ = s.Unhold(s.held) // one that was lost is somebody else's to give back
	}
	if s.work != nil && s.work.root != nil {
		if cerr := s.work.root.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

func newStore(repo *git.Repository, opts Options) (*Store, error) {
	root, err := os.OpenRoot(repo.ProjectDir)
	if err != nil {
		return nil, git.Errorf(git.CodeUnreadable, err, "the project directory cannot be opened")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{repo: repo, objects: repo.Objects(), dir: repo.ProjectDir, prefix: repo.Prefix,
		work: &workDir{dir: repo.ProjectDir, root: root}, opts: opts}
	if err := s.refuseLinks(); err != nil {
		return nil, errorsJoin(err, s.Close())
	}
	return s, nil
}

// actor returns who signs the store's own records.
func (s *Store) actor(ctx context.Context) evidence.Actor {
	if s.opts.Actor == nil {
		name, email := s.Identity(ctx)
		s.opts.Actor = &evidence.Actor{Name: name, Email: email}
	}
	return *s.opts.Actor
}

// env is the environment of the store's own records.
func (s *Store) env(ctx context.Context) protocol.Env {
	return protocol.Env{Now: s.opts.Now().UTC().Truncate(time.Millisecond), Actor: s.actor(ctx)}
}

const repairHint = "see what changed with git agentxchain fsck, then run git agentxchain repair --from-ref to go back to the recorded run, or git agentxchain repair --accept-working --reason TEXT to record the files as they are"

// tampered says that a ledger is not the recorded one plus what the protocol
// allows; line is 1-based, 0 when no single line is to blame.
func tampered(l wire.Ledger, line int, format string, args ...any) *git.Error {
	where := l.Path()
	if line > 0 {
		where = fmt.Sprintf("%s line %d", where, line)
	}
	return git.Errorf(CodeLedgerTampered, nil, "%s: %s", where, fmt.Sprintf(format, args...)).WithHint("%s", repairHint)
}

// tamperedDoc says the same of a document.
func tamperedDoc(name string, format string, args ...any) *git.Error {
	return git.Errorf(CodeStateTampered, nil, "%s: %s", name, fmt.Sprintf(format, args...)).WithHint("%s", repairHint)
}

// unreadableRecord says that the record of an operation is no record.
func unreadableRecord(op git.OID, cause error) *git.Error {
	return git.Errorf(FindRecord, cause, "operation %s cannot be read", op.Short()).WithHint("git agentxchain fsck --replay")
}

// malformed says that a recorded tree does not have the shape of docs/storage.md.
func malformed(tree git.OID, format string, args ...any) *git.Error {
	return git.Errorf(CodeChainBroken, nil, "recorded tree %s: %s", tree.Short(), fmt.Sprintf(format, args...)).
		WithHint("run git agentxchain fsck, then fetch the run's ref from another clone")
}
