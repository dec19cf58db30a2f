package incoming

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// TestJournal checks that a journal survives encoding, and that nothing else is accepted as one.
func TestJournal(t *testing.T) {
	j := &Journal{
		Ready: true,
		Dir:   record.ProjectDir + "/transactions/restore-20260101T000000.000Z",
		Run:   "run_1",
		Refs: []git.RefUpdate{{
			Name: "refs/agentxchain/runs/run_1",
			Old:  "",
			New:  object.OID(strings.Repeat("ab", 20)),
		}},
		Actions: []Action{
			{Path: ".planning/x", Action: "create"},
			{Path: "TALK.md", Action: "remove"},
		},
	}
	got, err := DecodeJournal(j.Encode())
	if err != nil || !reflect.DeepEqual(got, j) {
		t.Fatalf("%+v %v", got, err)
	}
	for name, change := range map[string]func(j *Journal){
		"elsewhere": func(j *Journal) { j.Dir = "../x" },
		"deeper":    func(j *Journal) { j.Dir += "/../../.." },
		"a path":    func(j *Journal) { j.Actions[0].Path = "../../x" },
		"absolute":  func(j *Journal) { j.Actions[0].Path = "/etc/passwd" },
		"a ref":     func(j *Journal) { j.Refs[0].Name = "HEAD" },
	} {
		bad, err := DecodeJournal(j.Encode())
		if err != nil {
			t.Fatal(err)
		}
		change(bad)
		if _, err := DecodeJournal(bad.Encode()); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add((&Journal{
		Dir:     record.ProjectDir + "/transactions/restore-x",
		Actions: []Action{{Path: "TALK.md", Action: "create"}},
	}).Encode())
	f.Add([]byte(`{"dir":".agentxchain/transactions/restore-x","actions":[["create","../x"]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, framed := range [][]byte{data, private.Seal(data)} {
			j, err := DecodeJournal(framed)
			if err != nil {
				continue
			}
			back, err := DecodeJournal(j.Encode())
			if err != nil || !bytes.Equal(back.Encode(), j.Encode()) {
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
