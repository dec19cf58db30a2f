// A damaged journal of a restore.

package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// TestDamagedRestoreJournal checks that a damaged journal is reported, and nothing is settled by guessing.
func TestDamagedRestoreJournal(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	if err := os.WriteFile(d.store.restoreJournalPath(), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := d.store.View(t.Context())
	if fail.CodeOf(err) != fail.CodeUnreadable ||
		!strings.Contains(err.(*fail.Error).Hint, filepath.Base(d.store.restoreJournalPath())) {
		t.Fatalf("%v", err)
	}
	if err := os.Remove(d.store.restoreJournalPath()); err != nil {
		t.Fatal(err)
	}
	d.clean()
}
