// Fsck of objects while operations are read: what each operation added is stored as its id says.
// What an operation yields is at hand then, so that most objects are compared and not hashed again.

package proof

import (
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// storedCheck holds the objects of runs, as they are stored, against their ids. What it is not sure
// of, git is asked about: then it looks no further.
type storedCheck struct {
	objects git.StoredChecker
	doubt   atomic.Bool
	// shared are the objects of the first operations of runs: the ledgers of one run hold those of
	// the runs before it.
	shared map[object.OID]bool
}

func newStoredCheck(repo *git.Repository) *storedCheck {
	s := &storedCheck{shared: make(map[object.OID]bool)}
	var ok bool
	s.objects, ok = repo.Objects().(git.StoredChecker)
	s.doubt.Store(!ok || s.objects.Borrows())
	return s
}

// sound reports whether everything that was read is stored as it should be.
func (s *storedCheck) sound() bool { return !s.doubt.Load() && !s.objects.Damaged() }

// operation checks what an operation added to the tree of the one before, "" for a run's first.
// made are the objects that applying it again yielded.
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
	// Git looks at all predecessors, and knows what they are.
	if len(op.Parents) > 1 || !w.tree(prev, op.Tree, "") {
		s.doubt.Store(true)
	}
}

// storedWalk looks at one operation.
type storedWalk struct {
	*storedCheck
	r      *record.Reader
	made   map[object.OID][]byte
	shared map[object.OID]bool // nil for an operation that follows another one
}

// holds reports whether an object is stored as it should be.
func (w *storedWalk) holds(oid object.OID, kind string) bool {
	return w.r.WasRead(oid) || w.objects.Check(oid, kind, w.made[oid]) == nil
}

// tree reports whether a tree and everything in it that old has not is stored as it should be.
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
	// Evidence is an operation's own.
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
