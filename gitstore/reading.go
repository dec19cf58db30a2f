// Reading: a run that does not change while it is read.

package gitstore

import (
	"bytes"
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Reading is a consistent read of a run: under its lock, or, where the project cannot be written, between two looks
// that see the same.
type Reading struct {
	View  *View
	store *Store
	tx    *Tx // nil without the lock
}

// Read begins a Reading; purpose and wait are as for Begin. In a project that cannot be written, it only reads what
// agrees with the record: anything to repair first is an error. Errors: those of Begin.
func (s *Store) Read(ctx context.Context, purpose string, wait time.Duration) (*Reading, error) {
	tx, err := s.Begin(ctx, purpose, wait)
	if err == nil {
		return &Reading{View: tx.View(), store: s, tx: tx}, nil
	}
	if !fail.Unwritable(err) || s.locked() {
		return nil, err
	}
	v, lerr := s.Look(ctx)
	if lerr != nil {
		return nil, lerr
	}
	if len(v.Notices) > 0 {
		return nil, err
	}
	return &Reading{View: v, store: s}, nil
}

// Still returns an error unless everything was read at one moment. Errors: locked, where the run has moved; those
// of Look.
func (r *Reading) Still(ctx context.Context) error {
	if r.tx != nil {
		return nil
	}
	r.store.repo.ForgetRefs()
	v, err := r.store.Look(ctx)
	if err != nil {
		return err
	}
	if v.Op != r.View.Op || !bytes.Equal(v.StateBytes, r.View.StateBytes) || r.store.locked() {
		return fail.Errorf(fail.CodeLocked, nil, "another command moved the run while it was read, and its lock cannot be taken here").
			WithHint("run this again when that command is done")
	}
	return nil
}

// Close releases the lock.
func (r *Reading) Close() error {
	if r.tx == nil {
		return nil
	}
	return r.tx.Close()
}
