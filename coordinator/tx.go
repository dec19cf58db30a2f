// Exclusive access to a workspace, for operations of several changes (docs/siblings.md).

package coordinator

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Tx holds the lock of a workspace. Every Commit is a separate change: a crash between two of them leaves the
// workspace after the first.
type Tx struct {
	Docs *Documents // after the newest change

	store *Store
	held  *lockfile.Lock
}

// lock takes the lock of the workspace, for which it waits up to wait, completes an interrupted change and reads
// everything; purpose is a word for waiting processes, and fresh permits a workspace without an initiative. Close
// the Tx after use. Errors: those of Update before its function runs.
func (s *Store) lock(ctx context.Context, purpose string, wait time.Duration, fresh bool) (*Tx, error) {
	// Create nothing in a directory that is not a workspace.
	if data, err := readRegular(s.root, initiative.ConfigFile, initiative.MaxConfigBytes); err != nil {
		return nil, failed(initiative.ConfigFile, err)
	} else if data == nil {
		return nil, noConfig(s.dir)
	}
	// Open the directory below the root before creating the lock by its name.
	if err := s.root.MkdirAll(initiative.Dir, 0o777); err != nil {
		return nil, failed(initiative.Dir, err)
	}
	held, err := lockfile.Acquire(ctx, filepath.Join(s.dir, filepath.FromSlash(lockPath)), purpose, wait)
	if err != nil {
		return nil, err
	}
	for _, left := range durable.Temps(s.root, initiative.Dir, path.Base(pendingPath),
		path.Base(initiative.StatePath), path.Base(initiative.BarriersPath)) {
		_ = s.root.Remove(left)
	}
	tx := &Tx{store: s, held: held}
	decided, err := s.settleDecision(ctx)
	if err != nil {
		tx.close()
		return nil, err
	}
	abandoned, err := finish(s.root)
	if err != nil {
		tx.close()
		return nil, failed(pendingPath, err)
	}
	abandoned = append(decided, abandoned...)
	d, e := read(s.root, s.dir, fresh)
	if e != nil {
		tx.close()
		return nil, e
	}
	d.Findings = append(d.Findings, abandoned...)
	tx.Docs = d
	return tx, nil
}

// close releases the lock. It may be called more than once.
func (tx *Tx) close() { _ = tx.held.Release() }

// commit applies a change and updates Docs. The files of a context or a report come first: without the rows that
// name them they mean nothing. Errors: lock_lost, and io_failed when the change may have been applied in part; the
// next command completes it then.
func (tx *Tx) commit(c *initiative.Change) error {
	if err := tx.held.Check(); err != nil {
		return err
	}
	if err := tx.files(c); err != nil {
		return unwritten(err)
	}
	steps := tx.Docs.steps(c)
	if err := carryOut(tx.store.root, steps); err != nil {
		return unwritten(err)
	}
	tx.advance(c, steps)
	return nil
}

// files writes the files of a change.
func (tx *Tx) files(c *initiative.Change) error {
	for _, f := range c.Files {
		if err := writeNew(tx.store.root, f); err != nil {
			return err
		}
	}
	faults.Point("coordinator.change.files")
	return nil
}

// advance updates Docs to an applied change.
func (tx *Tx) advance(c *initiative.Change, steps []step) {
	// Callers may hold Docs: what they have read must not change.
	d := *tx.Docs
	d.Workspace = *d.With(c)
	d.ledgers, d.digests = maps.Clone(d.ledgers), maps.Clone(d.digests)
	for _, s := range steps {
		if s.Append {
			d.ledgers[s.File] = ledgerEnd{size: int64(s.Size + len(s.Data))}
		} else {
			d.digests[s.File] = wire.SHA256([]byte(s.Data))
		}
	}
	tx.Docs = &d
}

func unwritten(err error) error {
	return &wire.Error{
		Code:    "io_failed",
		Field:   initiative.Dir,
		Message: fmt.Sprintf("The coordinator's files could not be written: %v", err),
		Hint:    "nothing is lost: the next command completes the change",
	}
}
