// Tests of run ref names, reading and moving refs.

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestRunRef(t *testing.T) {
	for _, id := range []string{"run_0123456789abcdef", "a", "A.b-c_d+e=f@g", "lock", "x.locks", "console", "com10",
		strings.Repeat("a", 200)} {
		if ref, err := RunRef(id); err != nil || ref != "refs/agentxchain/runs/"+id {
			t.Errorf("%q: %s %v", id, ref, err)
		}
	}
	for _, id := range []string{
		"", ".", "..", "@", "-x", ".x", "x.", "a..b", "a/b", "../x", "x.lock", "x.LOCK", ".lock", "a@{b", "a b",
		"a\nb", "a\x00b", "a~b",
		"a^b", "a:b", "a?b", "a*b", "a[b", `a\b`, "a\x7f", "ü", "\xff", "con", "NUL.txt", "COM1", "lpt9.x",
		strings.Repeat("a", 201),
	} {
		if ref, err := RunRef(id); fail.CodeOf(err) != fail.CodeBadRefName {
			t.Errorf("%q: %s %v", id, ref, err)
		}
	}
}

// git accepts every id that RunRef accepts.
func TestRunRefIsARefName(t *testing.T) {
	testrepo.Isolate()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringMatching(`[A-Za-z0-9._+=@{\-]{1,8}(\.lock)?`).Draw(rt, "id")
		ref, err := RunRef(id)
		if err != nil || n > 60 {
			return
		}
		n++
		if out, err := exec.Command("git", "check-ref-format", ref).CombinedOutput(); err != nil || !SafeRefName(ref) {
			rt.Fatalf("%s: %s %v", ref, out, err)
		}
	})
}

func TestRefs(t *testing.T) { testRefs(t, open) }

// Everything through git, as for a reftable repository, which not every installed git can create.
func TestRefsThroughGit(t *testing.T) {
	testRefs(t, func(t testing.TB, r *testrepo.Repo) *Repository {
		repo := open(t, r)
		repo.RefFormat = "reftable"
		return repo
	})
}

func testRefs(t *testing.T, open func(testing.TB, *testrepo.Repo) *Repository) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo := open(t, r)
		head, before := object.OID(r.Git("rev-parse", "HEAD")), object.OID(r.Git("rev-parse", "HEAD~1"))
		const x, y = RunRefPrefix + "x", RunRefPrefix + "y"
		read := func(name string, want object.OID) {
			t.Helper()
			if got, err := repo.ReadRef(ctx, name); err != nil || got != want {
				t.Fatalf("%s: %q %v, want %q", name, got, err, want)
			}
		}
		update := func(want string, u ...RefUpdate) {
			t.Helper()
			if err := repo.UpdateRefs(ctx, u, "agentxchain: test\nsecond"); fail.CodeOf(err) != want ||
				want == "" && err != nil {
				t.Fatalf("%v: %v, want %q", u, err, want)
			}
		}
		read(x, "")
		update("", RefUpdate{x, before, ""})
		read(x, before)
		update(fail.CodeRefMoved, RefUpdate{x, head, ""})
		update(fail.CodeRefMoved, RefUpdate{x, head, head})
		update(fail.CodeRefMoved, RefUpdate{y, head, before})
		read(x, before)
		read(y, "")
		update("", RefUpdate{x, head, before})
		read(x, head)
		// All or none.
		update(fail.CodeRefMoved, RefUpdate{y, head, object.ZeroOID(repo.ObjectFormat)}, RefUpdate{x, before, before})
		read(y, "")
		update("", RefUpdate{y, head, ""}, RefUpdate{x, head, head})
		read(y, head)
		if log := r.Git("reflog", "show",
			"--format=%gs", x); log != "agentxchain: test second\nagentxchain: test second" {
			t.Errorf("reflog %q", log)
		}
		refs, err := repo.ListRefs(ctx, RunRefPrefix)
		if err != nil || len(refs) != 2 || refs[0] != (Ref{Name: x, OID: head}) || refs[1].Name != y {
			t.Errorf("%+v %v", refs, err)
		}
		r.Git("pack-refs", "--all")
		read(x, head)
		read(y, head)
		read(RunRefPrefix+"none", "")
		if refs, err := repo.ListRefs(ctx, RunRefPrefix); err != nil || len(refs) != 2 {
			t.Errorf("packed: %+v %v", refs, err)
		}
		update("", RefUpdate{x, before, head})
		read(x, before)
		update("", RefUpdate{y, "", head})
		read(y, "")
		r.Git("symbolic-ref", RunRefPrefix+"sym", "refs/heads/main")
		if _, err := repo.ReadRef(ctx, RunRefPrefix+"sym"); fail.CodeOf(err) != fail.CodeRefSymbolic {
			t.Errorf("symbolic: %v", err)
		}
		update(fail.CodeRefSymbolic, RefUpdate{RunRefPrefix + "sym", before, head})
		if r.Git("rev-parse", "main") == string(before) && !r.LinkedWorktree {
			t.Error("the branch behind a symbolic ref was moved")
		}
		refs, err = repo.ListRefs(ctx, RunRefPrefix)
		if err != nil || len(refs) != 2 || refs[0].Target != "refs/heads/main" {
			t.Errorf("%+v %v", refs, err)
		}
		// A ref cannot point to a missing object.
		if err := repo.UpdateRefs(ctx, []RefUpdate{{y, oidOf(repo.ObjectFormat, 7), ""}},
			""); fail.CodeOf(err) != fail.CodeGitFailed {
			t.Errorf("missing object: %v", err)
		}
		for _, bad := range []string{"", "x", "refs/", "refs/../x", "refs/a b", "refs/a\x00b", "HEAD", "refs/x.lock",
			"refs//x"} {
			if _, err := repo.ReadRef(ctx, bad); fail.CodeOf(err) != fail.CodeBadRefName {
				t.Errorf("read %q: %v", bad, err)
			}
			update(fail.CodeBadRefName, RefUpdate{bad, head, ""})
		}
		update(fail.CodeObjectInvalid, RefUpdate{y, "xyz", ""})
		update("")
		r.Fsck()
	})
}

// Damage in the files backend is reported, never mistaken for absence.
func TestDamagedRefs(t *testing.T) {
	testrepo.Thorough(t)
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	head := object.OID(r.Git("rev-parse", "HEAD"))
	const x = RunRefPrefix + "x"
	if err := repo.UpdateRefs(ctx, []RefUpdate{{x, head, ""}}, ""); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(repo.CommonDir, filepath.FromSlash(x))
	for name, content := range map[string]string{
		"empty": "",
		"short": "abc\n",
		"zero":  string(object.ZeroOID(object.FormatSHA1)) + "\n",
		"long":  string(head) + "0\n",
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if oid, err := repo.ReadRef(ctx, x); fail.CodeOf(err) != fail.CodeRefBroken {
			t.Errorf("%s: %q %v", name, oid, err)
		}
		if refs, err := repo.ListRefs(ctx, RunRefPrefix); err != nil || len(refs) != 1 || !refs[0].Broken {
			t.Errorf("%s: %+v %v", name, refs, err)
		}
		if err := repo.UpdateRefs(ctx, []RefUpdate{{x, head, ""}}, ""); err == nil {
			t.Errorf("%s: a broken ref was overwritten", name)
		}
	}
	// A ref to a missing object must still be listed.
	if err := os.WriteFile(file, []byte(string(oidOf(object.FormatSHA1, 9))+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if oid, err := repo.ReadRef(ctx, x); err != nil || oid != oidOf(object.FormatSHA1, 9) {
		t.Errorf("%q %v", oid, err)
	}
	if refs, err := repo.ListRefs(ctx, RunRefPrefix); err != nil || len(refs) != 1 ||
		refs[0].OID != oidOf(object.FormatSHA1, 9) {
		t.Errorf("%+v %v", refs, err)
	}
	_ = os.Remove(file)
	if err := os.Symlink(filepath.Join(repo.CommonDir, "refs", "heads", "main"), file); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.ReadRef(ctx, x); fail.CodeOf(err) != fail.CodeRefSymbolic {
		t.Errorf("symbolic link: %v", err)
	}
	_ = os.Remove(file)
	if err := os.WriteFile(file+".lock", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := repo.UpdateRefs(ctx, []RefUpdate{{x, head, ""}}, ""); fail.CodeOf(err) != fail.CodeRefLocked {
		t.Errorf("locked: %v", err)
	}
}

func TestLargePackedRefs(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	head := r.Git("rev-parse", "HEAD")
	var b strings.Builder
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "%s %sr%06d\n", head, RunRefPrefix, i)
	}
	if err := os.WriteFile(filepath.Join(repo.CommonDir, "packed-refs"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"r000000": head, "r019999": head, "r020000": "", "r00000": ""} {
		if oid, err := repo.ReadRef(ctx, RunRefPrefix+name); err != nil || string(oid) != want {
			t.Errorf("%s: %q %v", name, oid, err)
		}
	}
}

// A ref that another process creates between two queries is not a broken one.
func TestRefMadeWhileAsked(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	const x = RunRefPrefix + "x"
	head := r.Git("rev-parse", "HEAD")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	repo.Git.Bin = filepath.Join(t.TempDir(), "git")
	script := fmt.Sprintf("#!/bin/sh\n%[1]s \"$@\"\nrc=$?\ncase \" $* \" in *\" show-ref \"*--hash*) %[1]s update-ref %[2]s %[3]s ;; esac\nexit $rc\n",
		git, x, head)
	if err := os.WriteFile(repo.Git.Bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if oid, err := repo.askRef(ctx, x); err != nil || string(oid) != head {
		t.Errorf("%q %v, want %s", oid, err, head)
	}
}

// Racing writers lose nothing: every success is one step of the chain.
func TestRacingUpdates(t *testing.T) {
	for _, o := range testrepo.Kinds() {
		if o.LinkedWorktree || o.ObjectFormat == object.FormatSHA256 {
			continue
		}
		t.Run(o.Name(), func(t *testing.T) {
			ctx := context.Background()
			r := testrepo.New(t, o)
			repo := open(t, r)
			const x = RunRefPrefix + "x"
			tree := object.OID(r.Git("rev-parse", "HEAD^{tree}"))
			var wins atomic.Int64
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() {
					for i := range 15 {
						old, err := repo.ReadRef(ctx, x)
						if err != nil {
							t.Error(err)
							return
						}
						c := &object.Commit{Tree: tree, Message: fmt.Sprint(w, i)}
						if old != "" {
							c.Parents = []object.OID{old}
						}
						raw, err := object.EncodeCommit(repo.ObjectFormat, c)
						if err != nil {
							t.Error(err)
							return
						}
						o := object.New(repo.ObjectFormat, object.KindCommit, raw)
						if err := repo.Objects().Write(ctx, []object.Object{o}); err != nil {
							t.Error(err)
							return
						}
						err = repo.UpdateRefs(ctx, []RefUpdate{{x, o.OID, old}}, "step")
						var moved *RefMovedError
						switch {
						case err == nil:
							wins.Add(1)
						case errors.As(err, &moved):
							if moved.Name != x || moved.Want != old || moved.Have == old {
								t.Errorf("%+v", moved)
							}
						case fail.CodeOf(err) != fail.CodeRefLocked && fail.CodeOf(err) != fail.CodeGitFailed:
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := r.Git("rev-list", "--count", x); got != fmt.Sprint(wins.Load()) || got == "0" {
				t.Errorf("%s commits for %d successes", got, wins.Load())
			}
		})
	}
}

func TestKilledUpdate(t *testing.T) {
	const x = RunRefPrefix + "x"
	if dir := os.Getenv("REFS_CHILD"); dir != "" {
		repo, err := Discover(context.Background(), dir)
		if err == nil {
			var head []byte
			if head, err = repo.Git.Run(context.Background(), nil, "rev-parse", "HEAD"); err == nil {
				err = repo.UpdateRefs(context.Background(), []RefUpdate{{x,
					object.OID(strings.TrimSpace(string(head))), ""}},
					"")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for point, done := range map[string]bool{"refs.update.before": false, "refs.update.after": true} {
		r := testrepo.New(t, testrepo.Options{})
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledUpdate$")
		cmd.Env = append(os.Environ(), "REFS_CHILD="+r.Dir, faults.Env+"="+point)
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Fatalf("not killed\n%s", out)
		}
		oid, err := open(t, r).ReadRef(context.Background(), x)
		if err != nil || (oid != "") != done {
			t.Errorf("%s: %q %v", point, oid, err)
		}
	}
}

// TestRefIsReadUnderItsLock traces the order in which git reads packed-refs and locks the ref: a value read before
// the lock may be stale.
func TestRefIsReadUnderItsLock(t *testing.T) {
	if exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("strace cannot be used here")
	}
	const x = RunRefPrefix + "x"
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	head := object.OID(r.Git("rev-parse", "HEAD"))
	r.Git("update-ref", x, string(head)+"^")
	r.Git("pack-refs", "--all")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	trace, bin := filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "git")
	script := fmt.Sprintf("#!/bin/sh\nexec strace -f -o %s -e trace=open,openat %s \"$@\"\n", trace, git)
	if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	repo.Git.Bin = bin
	if err := repo.UpdateRefs(context.Background(), []RefUpdate{{x, head, object.OID(r.Git("rev-parse", "HEAD^"))}},
		"x"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	locked, read := strings.Index(string(data), x+".lock"), strings.Index(string(data), "packed-refs")
	if locked < 0 || read < locked {
		t.Errorf("packed-refs is read at byte %d of the trace, the ref locked at %d\n%s", read, locked, data)
	}
}

func oidOf(format string, n byte) object.OID {
	return object.OID(strings.Repeat(fmt.Sprintf("%02x", n|1), object.HexLen(format)/2))
}

func TestNoneBelow(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		repo := open(t, r)
		const prefix = "refs/agentxchain/conflicts/"
		files := repo.RefFormat == "files"
		if got := repo.NoneBelow(prefix); got != files {
			t.Errorf("without such a ref: %t", got)
		}
		r.Git("update-ref", prefix+"run_1/x", "HEAD")
		if repo.NoneBelow(prefix) {
			t.Error("none below, and there is a loose one")
		}
		r.Git("pack-refs", "--all")
		if repo.NoneBelow(prefix) {
			t.Error("none below, and there is a packed one")
		}
		if got := repo.NoneBelow("refs/agentxchain/con/"); got != files {
			t.Errorf("a longer name counts: %t", got)
		}
	})
}
