package restore

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSpoolLeavesItsPlace abandons a spool that was to stay in place: its directory, even if empty, belongs to
// someone else.
func TestSpoolLeavesItsPlace(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		s, err := newSpool(dir, inPlace)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte("something")); err != nil {
			t.Fatal(err)
		}
		s.Close()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 {
			t.Errorf("in place %t: %v, %v", inPlace, left, err)
		}
	}
}
