// Our own fixtures: each directory of testdata holds those that must end in the verdict it is named after.

package conformance

import (
	"path/filepath"
	"testing"
)

func TestOwnFixtures(t *testing.T) {
	for _, want := range []Status{StatusPass, StatusFail, StatusError, StatusNotImplemented} {
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
