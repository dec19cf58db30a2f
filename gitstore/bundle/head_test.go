// Tests of reading the head of a bundle.

package bundle

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

func FuzzBundleHead(f *testing.F) {
	oid := strings.Repeat("ab", 20)
	f.Add([]byte("# v2 git bundle\n" + oid + " refs/agentxchain/runs/run_1\n\nPACK"))
	f.Add([]byte("# v3 git bundle\n@object-format=sha256\n" + oid + oid[:24] + " refs/notes/agentxchain\n\n"))
	f.Add([]byte("# v2 git bundle\n-" + oid + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		refs, format, err := parseBundleHead(bytes.NewReader(data))
		if err != nil {
			return
		}
		if object.HexLen(format) == 0 || len(refs) == 0 || len(refs) > maxBundleRefs {
			t.Fatalf("%v %q", refs, format)
		}
		for _, ref := range refs {
			n := ref.Name
			if !bundleRef(n) || !strings.HasPrefix(n, "refs/agentxchain/") && !notesRef(n) {
				t.Fatalf("the ref %q passes", n)
			}
		}
	})
}
