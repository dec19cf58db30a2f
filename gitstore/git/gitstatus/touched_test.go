package gitstatus

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestIndexLies makes the index claim that changed files are as git last saw them.
func TestIndexLies(t *testing.T) {
	testrepo.Thorough(t)
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		for _, version := range []string{"2", "4", "split"} {
			t.Run(format+" "+version, func(t *testing.T) {
				r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
				repo := opened(t, r)
				for _, name := range []string{"sub/a b.txt", "sub/abc.txt", "sub/staged.txt", "new/old.txt", "later.txt"} {
					r.Write(name, "y\n")
				}
				r.Git("add", "-A")
				r.Git("commit", "-q", "-m", "files")
				since := time.Now().Add(2 * time.Second) // what git has seen so far is older than that
				expect := func(what, prefix string, want ...string) {
					t.Helper()
					head := object.OID(r.Git("rev-parse", "HEAD"))
					got, err := Touched(t.Context(), repo, prefix, head, since)
					slices.Sort(got)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%s: %q %v, want %q", what, got, err, want)
					}
				}
				expect("nothing", "")
				// The times of files changed now, as the kernel would set them.
				for _, name := range []string{"sub/a b.txt", "sub/abc.txt"} {
					r.Write(name, "another\n")
					if err := os.Chtimes(filepath.Join(r.Dir, name), since, since); err != nil {
						t.Fatal(err)
					}
				}
				if version != "split" {
					r.Git("update-index", "--index-version", version)
				}
				lie(t, r, format, "sub/a b.txt", "sub/abc.txt")
				age(t, r, since)
				if version == "split" {
					r.Git("update-index", "--split-index")
					age(t, r, since)
				}
				if st, err := Of(t.Context(), repo, ""); err != nil || len(st.Dirty) > 0 {
					t.Fatalf("git status is not deceived: %v %v", st, err)
				}
				expect("changed", "", "sub/a b.txt", "sub/abc.txt")
				expect("changed, below", "sub", "a b.txt", "abc.txt")
				expect("changed, elsewhere", "new")
				if err := LookAgain(t.Context(), repo, []string{"sub/a b.txt", "sub/abc.txt"}); err != nil {
					t.Fatal(err)
				}
				st, err := Of(t.Context(), repo, "")
				if err != nil || !slices.Equal(st.Paths(), []string{"sub/a b.txt", "sub/abc.txt"}) {
					t.Errorf("git status is still deceived: %v %v", st, err)
				}
			})
		}
	}
}

// TestTouchedWithinASecond distinguishes files of the second in which a turn began by their own times.
func TestTouchedWithinASecond(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	var since time.Time
	var changed int64
	for changed == 0 || changed/int64(time.Second) != since.Unix() { // until all is in one second
		for time.Now().Nanosecond() > 300_000_000 {
			time.Sleep(10 * time.Millisecond)
		}
		r.Write("before.txt", "x\n")
		r.Write("after.txt", "x\n")
		r.Git("add", "-A")
		time.Sleep(2 * clockGrain)
		since = time.Now()
		r.Write("after.txt", "another\n")
		r.Git("add", "-A")
		fi, err := os.Lstat(filepath.Join(r.Dir, "after.txt"))
		if err != nil {
			t.Fatal(err)
		}
		changed = fi.ModTime().UnixNano()
	}
	fi, err := os.Lstat(filepath.Join(r.Dir, "before.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"after.txt"}
	if git.StatOf(fi).CTime%int64(time.Second) == 0 { // the file system has no finer times
		want = []string{"after.txt", "before.txt"}
	}
	got, err := Touched(t.Context(), repo, "", object.OID(r.Git("rev-parse", "HEAD")), since)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

// TestTouchedWithUntrackedCache uses an index that claims that no directory holds a new file.
func TestTouchedWithUntrackedCache(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	r.Write(".gitignore", "*.o\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "files")
	r.Git("update-index", "--force-untracked-cache")
	r.Git("status")
	r.Write("sub/new.txt", "x\n")
	r.Write("sub/new.o", "x\n")
	got, err := Touched(t.Context(), repo, "", object.OID(r.Git("rev-parse", "HEAD")), time.Now().Add(time.Hour))
	if err != nil || !slices.Equal(got, []string{"sub/new.txt"}) {
		t.Errorf("%q %v", got, err)
	}
}

// age makes the index newer than the files of a moment: git reads files as new as the index.
func age(t *testing.T, r *testrepo.Repo, than time.Time) {
	t.Helper()
	later := than.Add(time.Minute)
	if err := os.Chtimes(filepath.Join(r.Dir, ".git", "index"), later, later); err != nil {
		t.Fatal(err)
	}
}

// lie gives index entries the current times of the files, and the contents from HEAD.
func lie(t *testing.T, r *testrepo.Repo, format string, names ...string) {
	t.Helper()
	old := make(map[string][]byte)
	for _, name := range names {
		oid, err := hex.DecodeString(r.Git("rev-parse", "HEAD:"+name))
		if err != nil {
			t.Fatal(err)
		}
		old[name] = oid
		r.Git("add", "--", name)
	}
	file := filepath.Join(r.Dir, ".git", "index")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	readIndex(data, format, func(e *indexEntry) bool {
		copy(e.oid, old[string(e.name)])
		return true
	})
	sum := sha1.New()
	if format == object.FormatSHA256 {
		sum = sha256.New()
	}
	body := data[:len(data)-sum.Size()]
	_, _ = sum.Write(body)
	if err := os.WriteFile(file, sum.Sum(body), 0o644); err != nil {
		t.Fatal(err)
	}
}
