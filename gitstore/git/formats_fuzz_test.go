// Fuzz tests that read lists of refs as git does.

package git

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// FuzzPackedRefs checks that the search ends and finds the same id as a reading of all lines.
func FuzzPackedRefs(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/a\n^"+id+"\n"+id+" refs/b\n"), "refs/b")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		oid, known := searchPacked(bytes.NewReader(data), int64(len(data)), object.FormatSHA1, name)
		if !known || oid == "" {
			return
		}
		if !bytes.Contains(data, []byte("\n"+string(oid)+" "+name+"\n")) {
			t.Errorf("found %s for %q", oid, name)
		}
	})
}
