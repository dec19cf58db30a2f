// The journal of a restore.

package gitstore

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// TestRestoreJournal survives being written and read, and nothing else passes for one.
func TestRestoreJournal(t *testing.T) {
	j := &restoreJournal{
		Ready: true,
		Dir:   record.ProjectDir + "/transactions/restore-20260101T000000.000Z",
		Run:   "run_1",
		Refs: []git.RefUpdate{{
			Name: "refs/agentxchain/runs/run_1",
			Old:  "",
			New:  object.OID(strings.Repeat("ab", 20)),
		}},
		Actions: []RestoreAction{{".planning/x", "create"}, {"TALK.md", "remove"}},
	}
	got, err := decodeRestoreJournal(j.encode())
	if err != nil || !reflect.DeepEqual(got, j) {
		t.Fatalf("%+v %v", got, err)
	}
	for name, change := range map[string]func(j *restoreJournal){
		"elsewhere": func(j *restoreJournal) { j.Dir = "../x" },
		"deeper":    func(j *restoreJournal) { j.Dir += "/../../.." },
		"a path":    func(j *restoreJournal) { j.Actions[0].Path = "../../x" },
		"absolute":  func(j *restoreJournal) { j.Actions[0].Path = "/etc/passwd" },
		"a ref":     func(j *restoreJournal) { j.Refs[0].Name = "HEAD" },
	} {
		bad, err := decodeRestoreJournal(j.encode())
		if err != nil {
			t.Fatal(err)
		}
		change(bad)
		if _, err := decodeRestoreJournal(bad.encode()); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// TestDamagedRestoreJournal is said, and ends nothing by guessing.
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

func FuzzRestoreJournal(f *testing.F) {
	f.Add((&restoreJournal{
		Dir:     record.ProjectDir + "/transactions/restore-x",
		Actions: []RestoreAction{{"TALK.md", "create"}},
	}).encode())
	f.Add([]byte(`{"dir":".agentxchain/transactions/restore-x","actions":[["create","../x"]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, framed := range [][]byte{data, private.Seal(data)} {
			j, err := decodeRestoreJournal(framed)
			if err != nil {
				continue
			}
			back, err := decodeRestoreJournal(j.encode())
			if err != nil || !bytes.Equal(back.encode(), j.encode()) {
				t.Fatalf("%+v does not survive: %v", j, err)
			}
			for _, a := range j.Actions {
				if !filepath.IsLocal(filepath.FromSlash(a.Path)) {
					t.Fatalf("%q leads out", a.Path)
				}
			}
		}
	})
}
