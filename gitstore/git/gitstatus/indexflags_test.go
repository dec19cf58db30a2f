package gitstatus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestIndexFlags compares the parsing of index files with git's own.
func TestIndexFlags(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+" "+version, func(t *testing.T) {
				r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
				repo := opened(t, r)
				for i := range 40 {
					r.Write("many/"+strings.Repeat("x", i*3+1)+".txt", "y\n")
				}
				r.Git("add", "-A")
				r.Git("update-index", "--index-version", version)
				expect := func(what string, want bool) {
					t.Helper()
					if got, known := indexFlagged(repo); !known || got != want {
						t.Errorf("%s: flagged %v, known %v; want %v", what, got, known, want)
					}
				}
				expect("nothing", false)
				r.Git("add", "-N", "a.txt") // not a flag that hides
				r.Write("intended.txt", "x\n")
				r.Git("add", "-N", "intended.txt")
				expect("intent to add", false)
				r.Git("update-index", "--assume-unchanged", "a.txt")
				expect("assume-unchanged", true)
				r.Git("update-index", "--no-assume-unchanged", "a.txt")
				expect("taken back", false)
				r.Git("update-index", "--skip-worktree", "d/e.txt")
				expect("skip-worktree", true)
				r.Git("update-index", "--no-skip-worktree", "d/e.txt")
				r.Git("commit", "-q", "-m", "all")
				r.Git("update-index", "--split-index")
				r.Git("update-index", "--assume-unchanged", "a.txt")
				if flagged, known := indexFlagged(repo); known && !flagged {
					t.Error("a split index hides its flags")
				}
				h, err := HiddenOf(t.Context(), repo, "")
				if err != nil {
					t.Fatal(err)
				}
				if len(h.Flagged) > 0 {
					t.Errorf("unchanged files are told as hidden: %q", h.Flagged)
				}
				r.Write("a.txt", "hidden\n")
				if h, err = HiddenOf(t.Context(), repo, ""); err != nil || len(h.Flagged) != 1 || h.Flagged[0] != "a.txt" {
					t.Errorf("hidden %+v %v, want a.txt", h, err)
				}
			})
		}
	}
}

func FuzzIndexFlags(f *testing.F) {
	r := testrepo.New(f, testrepo.Options{})
	for _, version := range []string{"2", "3", "4"} {
		r.Git("update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(r.Dir, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		f.Add(data, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		format := object.FormatSHA1
		if long {
			format = object.FormatSHA256
		}
		if flagged, known := parseIndexFlags(data, format); flagged && !known {
			t.Error("flagged, and not known")
		}
	})
}
