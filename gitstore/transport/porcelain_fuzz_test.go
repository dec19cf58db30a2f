// Fuzz tests of parsing git's answer to a push.

package transport

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// FuzzPorcelain checks that no answer makes its reader panic, and that a refusal is one line of harmless text.
func FuzzPorcelain(f *testing.F) {
	f.Add([]byte("!\trefs/a:refs/b\t[rejected] (stale info)\n=\trefs/a:refs/c\t[up to date]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, r := range readPorcelain(data) {
			if r.State != PushOK && r.Why != text.OneLine(r.Why) {
				t.Errorf("push of %q: %q", name, r.Why)
			}
		}
	})
}
