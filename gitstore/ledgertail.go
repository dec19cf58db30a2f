// Amending lines near the end of a working ledger without rewriting all of it.

package gitstore

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// tailWindow is how far from its end a working ledger is amended in place, in bytes: a checkpoint marks one of the
// last rows, in a file that grows forever.
const tailWindow = 128 << 10

// amendTail returns the write that amends a working ledger of the given size and appends to it, touching only its
// end. ok is false when a line to amend is further back, or when the ledger would not grow.
func (s *Store) amendTail(l wire.Ledger, size int64, amends []ledger.Amend, appended []byte) (w workdir.LedgerWrite,
	ok bool, err error) {
	window, err := s.work.ReadTail(l.Path(), size, int(min(size, tailWindow)))
	if err != nil {
		return w, false, unreadable(l.Path(), err)
	}
	if int64(len(window)) < size {
		cut := bytes.IndexByte(window, '\n')
		if cut < 0 {
			return w, false, nil // one line longer than the window
		}
		window = window[cut+1:]
	}
	amended, ok := record.AmendWorking(window, amends)
	if !ok {
		return w, false, nil
	}
	amended = append(amended, appended...)
	same := commonPrefix(window, amended)
	w = workdir.LedgerWrite{
		Ledger: l,
		Offset: size - int64(len(window)-same),
		Old:    window[same:],
		Data:   amended[same:],
	}
	return w, len(w.Old) > 0 && len(w.Data) >= len(w.Old), nil
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
