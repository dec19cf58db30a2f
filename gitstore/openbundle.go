// A dispatch bundle that hooks may inspect before it is recorded, and its cleanup when the command is interrupted.

package gitstore

import (
	"context"
	"encoding/binary"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// openBundle is the note kept while hooks look at a bundle in place: if the command is killed before it records the
// bundle, the directory agrees with no record.
type openBundle struct {
	Run   string
	Turn  string
	Files []string // files that were in the directory before, slash-separated paths below it
}

const openBundleName = "open-bundle"

func (n *openBundle) encode() []byte {
	b := private.PutBytes(nil, []byte(n.Run))
	b = private.PutBytes(b, []byte(n.Turn))
	b = binary.AppendUvarint(b, uint64(len(n.Files)))
	for _, f := range n.Files {
		b = private.PutBytes(b, []byte(f))
	}
	return private.Seal(b)
}

func decodeOpenBundle(data []byte) (*openBundle, error) {
	d, err := private.Unseal(data)
	if err != nil {
		return nil, err
	}
	n := &openBundle{Run: string(d.Bytes()), Turn: string(d.Bytes())}
	for range d.Count() {
		n.Files = append(n.Files, string(d.Bytes()))
	}
	if !d.Done() || !record.SafeName(n.Turn) {
		return nil, private.ErrDamaged
	}
	return n, nil
}

// OpenBundle announces that the bundle directory of a turn is about to be written for hooks to inspect. Until
// SettleBundle the directory may hold anything; if the process is killed before, the next Begin settles it.
func (tx *Tx) OpenBundle(ctx context.Context, turn string) error {
	if !record.SafeName(turn) {
		return fail.Errorf(wire.CodeInvalidArgument, nil, "%q cannot name a bundle", turn)
	}
	if err := tx.SettleBundle(ctx); err != nil {
		return err
	}
	s := tx.store
	n := &openBundle{Turn: turn}
	if tx.rec != nil {
		n.Run = tx.rec.Run
	}
	found, err := s.work.BundleFiles(wire.BundleDir(turn))
	if err != nil {
		return unreadable(wire.BundleDir(turn), err)
	}
	for _, f := range found {
		n.Files = append(n.Files, f.Name)
	}
	if err := private.Write(s.repo, openBundleName, n.encode()); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	tx.opened = n
	return nil
}

// SettleBundle ends what OpenBundle began: the directory then holds the bundle as the newest operation recorded it,
// or nothing of a dispatch that was not recorded. Files that were there before and belong to no turn stay. Without
// an open bundle it does nothing.
func (tx *Tx) SettleBundle(ctx context.Context) error {
	n := tx.opened
	if n == nil || tx.broken || tx.lock == nil || tx.lock.Check() != nil {
		return nil // the note stays for the next holder of the lock
	}
	tx.opened = nil
	_, err := tx.settle(ctx, n)
	return err
}

// settleLeft settles the bundle that a process which died holding the lock had open. It returns the turn whose
// bundle was repaired, or "".
func (tx *Tx) settleLeft(ctx context.Context) (turn string, err error) {
	if !tx.lock.Inherited {
		return "", nil
	}
	data, err := private.Read(tx.store.repo, openBundleName, maxCache)
	if err != nil {
		return "", nil // there is none
	}
	n, err := decodeOpenBundle(data)
	if err != nil {
		_ = private.Remove(tx.store.repo, openBundleName)
		return "", nil
	}
	changed, err := tx.settle(ctx, n)
	if err != nil || !changed {
		return "", err
	}
	return n.Turn, nil
}

// settle restores a bundle directory to the record and removes the note.
func (tx *Tx) settle(ctx context.Context, n *openBundle) (changed bool, err error) {
	s := tx.store
	recorded := make(map[string]object.OID)
	var r *record.Reader
	if tx.rec != nil && tx.rec.Run == n.Run {
		r = s.reader(ctx)
		rec, err := chain.At(r, tx.rec.Run, tx.rec.Op)
		if err != nil {
			return false, err
		}
		if recorded, err = rec.BundleFilesAt(n.Turn); err != nil {
			return false, err
		}
	}
	dir := wire.BundleDir(n.Turn)
	changed, err = s.work.DropUnrecorded(dir, n.Files, recorded)
	if err == nil && len(recorded) > 0 {
		var more bool
		more, err = s.work.PutRecorded(r, dir, recorded)
		changed = changed || more
	}
	if err != nil {
		return changed, fail.Errorf(fail.CodeWorkBehind, err, "%s could not be brought to what is recorded",
			dir).WithHint("remove the cause and run the command again")
	}
	if err := private.Remove(s.repo, openBundleName); err != nil {
		return changed, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return changed, nil
}
