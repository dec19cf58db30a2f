// Our own fixtures: the embedded corpus must pass, and each directory of testdata must yield the verdict it is
// named after.

package conformance

import (
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/fixtures"
)

// ownFixtures is the embedded corpus by path.
func ownFixtures() map[string][]byte {
	out := make(map[string][]byte)
	for _, f := range fixtures.Files() {
		out[f.Path] = f.Data
	}
	return out
}

func TestOwnFixtures(t *testing.T) {
	for _, want := range []Status{StatusFail, StatusError, StatusNotImplemented} {
		files := fixtureFiles(t, filepath.Join("testdata", string(want)))
		if len(files) == 0 {
			t.Fatalf("no fixtures for %s", want)
		}
		for name, data := range files {
			if r := testAdapter().Execute(data); r.Status != want {
				t.Errorf("%s must end in %s: %s", name, want, r.Line())
			}
		}
	}
}
