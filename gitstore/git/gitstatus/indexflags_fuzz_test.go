package gitstatus

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// FuzzIndexAsGoGit checks that an index that go-git reads, with an entry that hides a file, is reported as flagged.
func FuzzIndexAsGoGit(f *testing.F) {
	for _, skip := range []bool{false, true} {
		var b bytes.Buffer
		idx := &index.Index{Version: 2, Entries: []*index.Entry{{Name: "a", SkipWorktree: skip}}}
		if skip {
			idx.Version = 3
		}
		if err := index.NewEncoder(&b).Encode(idx); err == nil {
			f.Add(b.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		theirs := &index.Index{}
		if index.NewDecoder(bytes.NewReader(data)).Decode(theirs) != nil {
			return
		}
		hides := false
		for _, e := range theirs.Entries {
			hides = hides || e.SkipWorktree
		}
		if flagged, known := parseIndexFlags(data, object.FormatSHA1); known && hides && !flagged {
			t.Errorf("a file is hidden, and was not seen")
		}
	})
}
