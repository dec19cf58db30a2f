// Tests of the test repositories themselves.

package testrepo

import (
	"path/filepath"
	"testing"
)

func TestMatrixMakesWhatItSays(t *testing.T) {
	seen := 0
	Matrix(t, func(t *testing.T, r *Repo) {
		seen++
		if got := r.Git("rev-parse", "--show-object-format"); got != r.ObjectFormat {
			t.Errorf("object format %s, want %s", got, r.ObjectFormat)
		}
		if linked := r.Git("rev-parse",
			"--git-dir") != r.Git("rev-parse", "--git-common-dir"); linked != r.LinkedWorktree {
			t.Errorf("linked %v", linked)
		}
		if got := r.Git("rev-list", "--count", "HEAD"); got != "2" {
			t.Errorf("%s commits", got)
		}
		if got := r.Git("status", "--porcelain"); got != "" {
			t.Errorf("dirty: %s", got)
		}
		r.Fsck()
	})
	if least := Times(t.Name(), 2, 4); seen < least {
		t.Errorf("only %d kinds", seen)
	}
}

func TestSubdir(t *testing.T) {
	r := New(t, Options{Subdir: "apps/one two"})
	if r.Dir != filepath.Join(r.Top, "apps", "one two") {
		t.Fatal(r.Dir)
	}
	if got := r.Git("rev-parse", "--show-prefix"); got != "apps/one two/" {
		t.Fatal(got)
	}
}
