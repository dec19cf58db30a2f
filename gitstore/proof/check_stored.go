// Fsck of objects while operations are read: what each operation added is stored under the right id. The replayed
// outcome is at hand then, so most objects are compared instead of hashed again.

package proof

import (
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// storedCheck compares stored objects of runs with their ids. When in doubt it stops and leaves the check to git.
type storedCheck struct {
	objects git.StoredChecker
	doubt   atomic.Bool
	// shared are the objects of the first operations of runs: the ledgers of one run contain those of earlier runs.
	shared map[object.OID]bool
}

func newStoredCheck(repo *git.Repository) *storedCheck {
	s := &storedCheck{shared: make(map[object.OID]bool)}
	var ok bool
	s.objects, ok = repo.Objects().(git.StoredChecker)
	s.doubt.Store(!ok || s.objects.Borrows())
	return s
}

// sound reports whether everything that was read is stored correctly.
func (s *storedCheck) sound() bool { return !s.doubt.Load() && !s.objects.Damaged() }

// operation checks what an operation added to the tree of its predecessor, "" for a run's first. made are the
// objects that replay yielded.
func (s *storedCheck) operation(r *record.Reader, op chain.OpInfo, prev object.OID, made []object.Object) {
	if s == nil || !s.sound() {
		return
	}
	w := &storedWalk{storedCheck: s, r: r}
	if prev == "" {
		w.shared = s.shared
	} else {
		w.made = make(map[object.OID][]byte, len(made))
		for _, o := range made {
			w.made[o.OID] = o.Data
		}
	}
	// Git checks all predecessors, and knows their kind.
	if len(op.Parents) > 1 || !w.tree(prev, op.Tree, "") {
		s.doubt.Store(true)
	}
}

// storedWalk walks the objects of one operation.
type storedWalk struct {
	*storedCheck
	r      *record.Reader
	made   map[object.OID][]byte
	shared map[object.OID]bool // nil for an operation with a predecessor
}

// holds reports whether an object is stored correctly.
func (w *storedWalk) holds(oid object.OID, kind string) bool {
	return w.r.WasRead(oid) || w.objects.Check(oid, kind, w.made[oid]) == nil
}

// tree reports whether a tree and everything in it that old lacks is stored correctly.
func (w *storedWalk) tree(old, now object.OID, name string) bool {
	if old == now || w.shared[now] {
		return true
	}
	data := w.made[now]
	if data != nil && !w.holds(now, object.KindTree) {
		return false
	}
	list, err := w.r.Entries(now)
	if err != nil || data == nil && !w.holds(now, object.KindTree) {
		return false
	}
	var before []object.TreeEntry
	// Evidence belongs to a single operation.
	if old != "" && name != record.DirEvidence {
		if before, err = w.r.Entries(old); err != nil {
			return false
		}
	}
	for _, e := range list {
		for len(before) > 0 && object.CompareEntries(before[0], e) < 0 {
			before = before[1:]
		}
		was := object.OID("")
		if len(before) > 0 && before[0].Name == e.Name && before[0].Mode == e.Mode {
			was = before[0].OID
		}
		switch {
		case was == e.OID, e.Mode == object.ModeGitlink:
		case e.IsTree():
			if !w.tree(was, e.OID, e.Name) {
				return false
			}
		case w.shared[e.OID]:
		case !w.holds(e.OID, object.KindBlob):
			return false
		case w.shared != nil:
			w.shared[e.OID] = true
		}
	}
	if w.shared != nil {
		w.shared[now] = true
	}
	return true
}
