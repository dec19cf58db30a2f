// Tests of reading and writing objects on every kind of repository.

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func open(t testing.TB, r *testrepo.Repo) *Repository {
	t.Helper()
	repo, err := Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// aCommit returns the objects of a small commit, and the commit's id. The commit is the last object.
func aCommit(t testing.TB, format string, seed string, n int) []object.Object {
	t.Helper()
	var objs []object.Object
	var list []object.TreeEntry
	for i := range n {
		o := object.New(format, object.KindBlob, []byte(fmt.Sprintf("%s blob %d\n", seed, i)))
		objs = append(objs, o)
		list = append(list, object.TreeEntry{Mode: object.ModeFile, Name: fmt.Sprintf("f%03d", i), OID: o.OID})
	}
	tree := object.New(format, object.KindTree, object.EncodeTree(list))
	raw, err := object.EncodeCommit(format, &object.Commit{
		Tree:      tree.OID,
		Author:    object.Signature{Name: "a", Email: "a@b"},
		Committer: object.Signature{Name: "a", Email: "a@b"},
		Message:   seed + "\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(objs, tree, object.New(format, object.KindCommit, raw))
}

func TestObjectsRoundTrip(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo := open(t, r)
		store := repo.Objects()
		objs := aCommit(t, repo.ObjectFormat, "x", 15)
		commit := objs[len(objs)-1].OID
		if store.Has(ctx, commit) {
			t.Fatal("there before it was written")
		}
		if _, _, err := store.Read(ctx, commit); fail.CodeOf(err) != fail.CodeObjectMissing ||
			!strings.Contains(err.Error(), string(commit)) {
			t.Fatalf("missing object: %v", err)
		}
		if err := store.Write(ctx, objs); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			for _, o := range objs {
				kind, data, err := store.Read(ctx, o.OID)
				if err != nil || kind != o.Kind || !bytes.Equal(data, o.Data) {
					t.Fatalf("%s: read %s: %s %q %v", when, o.OID, kind, data, err)
				}
				if !store.Has(ctx, o.OID) {
					t.Fatalf("%s: does not have %s", when, o.OID)
				}
			}
		}
		check("as written")
		// git reads the same, and finds nothing wrong with our pack.
		if got := r.Git("cat-file", "-p", string(objs[0].OID)); got != "x blob 0" {
			t.Fatalf("git reads %q", got)
		}
		r.Git("update-ref", "refs/agentxchain/runs/x", string(commit))
		r.Fsck()
		r.Git("verify-pack", glob(t, repo, "*.idx")[0])
		// All objects of the repository, deltified, in one pack written by git.
		r.Git("repack", "-q", "-a", "-d", "-f", "--depth=50")
		check("after a repack")
		// And as loose files.
		unpackAll(t, repo, r)
		check("unpacked")
		r.Fsck()
	})
}

func glob(t testing.TB, repo *Repository, pattern string) []string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(repo.ObjectsDir, "pack", pattern))
	if err != nil || len(m) == 0 {
		t.Fatalf("no %s in the pack directory (%v)", pattern, err)
	}
	return m
}

func unpackAll(t testing.TB, repo *Repository, r *testrepo.Repo) {
	t.Helper()
	for _, idx := range glob(t, repo, "*.idx") {
		pack := strings.TrimSuffix(idx, ".idx") + ".pack"
		data, err := os.ReadFile(pack)
		if err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".idx", ".pack", ".rev"} {
			_ = os.Remove(strings.TrimSuffix(idx, ".idx") + ext)
		}
		r.GitInput(string(data), "unpack-objects", "-q")
	}
}

// Deltas of either kind resolve to what git says, without and with go-git, also when the packs with cached bases
// are replaced in between.
func TestReadDeltas(t *testing.T) {
	testrepo.Thorough(t)
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		for _, ofs := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s-ofs=%v", format, ofs), func(t *testing.T) {
				ctx := context.Background()
				r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
				// Cumulative edits: the neighbouring version is the best base.
				lines := make([]string, 600)
				for i := range lines {
					lines[i] = string(object.Hash(format, object.KindBlob, []byte{byte(i), byte(i >> 8)}))
				}
				for i := range 12 {
					for j := range 20 {
						lines[(i*53+j*7)%600] = string(object.Hash(format, object.KindBlob, []byte{byte(i), byte(j),
							1}))
					}
					r.Write("big.txt", strings.Join(lines, "\n"))
					r.CommitAll(fmt.Sprint("v", i))
				}
				r.Git("config", "repack.usedeltabaseoffset", fmt.Sprint(ofs))
				r.Git("repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50")
				if !strings.Contains(r.Git("verify-pack", "-v", globPack(t, r)), "chain length = 3") {
					t.Fatal("no delta chains to test with:", r.Git("verify-pack", "-s", globPack(t, r)))
				}
				repo := open(t, r)
				files := objectFilesOf(repo)
				all := strings.Split(r.Git("cat-file", "--batch-all-objects", "--batch-check"), "\n")
				places := func() (kept []pack.Place) {
					for _, line := range all {
						raw, _ := object.OID(strings.Fields(line)[0]).Raw()
						p, off := files.Packs.Find(raw)
						if _, _, ok := files.deltas.Bases.Get(pack.Place{Pack: p, Off: off}); ok {
							kept = append(kept, pack.Place{Pack: p, Off: off})
						}
					}
					return kept
				}
				readAll := func() {
					t.Helper()
					n := 0
					for _, line := range all {
						f := strings.Fields(line)
						kind, data, err := repo.Objects().Read(ctx, object.OID(f[0]))
						if err != nil || kind != f[1] || fmt.Sprint(len(data)) != f[2] {
							t.Fatalf("%s: %s, %d bytes, %v", strings.TrimSpace(line), kind, len(data), err)
						}
						for i := range data { // the caller's own
							data[i] = 'x'
						}
						n++
					}
					if n < 40 {
						t.Fatalf("only %d objects", n)
					}
					if len(places()) == 0 {
						t.Error("no base was kept")
					}
				}
				readAll()
				readAll()
				r.Git("repack", "-q", "-a", "-d", "-f", "--depth=9", "--window=4")
				readAll()
				// A wrong base leads to no object: all are dropped and read again.
				for _, at := range places() {
					kind, data, _ := files.deltas.Bases.Get(at)
					files.deltas.Bases.Put(at, kind, bytes.Repeat([]byte("x"), len(data)))
				}
				readAll()
				for _, at := range places() {
					if _, data, _ := files.deltas.Bases.Get(at); bytes.HasPrefix(data, []byte("xxxx")) {
						t.Error("a wrong base is kept")
					}
				}
				if files.cat.cmd != nil {
					t.Error("a git process was needed to read deltas")
				}
			})
		}
	}
}

func globPack(t testing.TB, r *testrepo.Repo) string {
	t.Helper()
	m, _ := filepath.Glob(filepath.Join(r.Main, ".git", "objects", "pack", "*.idx"))
	if len(m) != 1 {
		t.Fatalf("packs: %v", m)
	}
	return m[0]
}

func objectFilesOf(repo *Repository) *ObjectFiles {
	return repo.Objects().(*ObjectFiles)
}

func TestWriteSkipsWhatIsStored(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo := open(t, r)
		objs := aCommit(t, repo.ObjectFormat, "x", 3)
		for range 3 {
			if err := repo.Objects().Write(ctx, append(objs, objs...)); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(glob(t, repo, "*.pack")); n != 1 {
			t.Fatalf("%d packs after writing the same three times", n)
		}
		if n := len(glob(t, repo, "*")); n != 3 {
			t.Fatalf("left behind: %v", glob(t, repo, "*"))
		}
		one := object.New(repo.ObjectFormat, object.KindBlob, []byte("alone"))
		for range 2 {
			if err := repo.Objects().Write(ctx, []object.Object{one}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(glob(t, repo, "*.pack")); n != 2 {
			t.Fatalf("%d packs after writing one object twice", n)
		}
		// An object stored by another process may be about to be removed: it is written again.
		r.GitInput("theirs", "hash-object", "-w", "--stdin")
		if err := repo.Objects().Write(ctx,
			[]object.Object{object.New(repo.ObjectFormat, object.KindBlob, []byte("theirs"))}); err != nil {
			t.Fatal(err)
		}
		if n := len(glob(t, repo, "*.keep")); n != 3 {
			t.Fatalf("%d of 3 packs are held", n)
		}
		if err := repo.Objects().Write(ctx, nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	f := repo.ObjectFormat
	blob := object.New(f, object.KindBlob, []byte("x"))
	for name, o := range map[string]object.Object{
		"kind": {Kind: "blub", Data: []byte("x")},
		"oid":  {Kind: object.KindBlob, Data: []byte("y"), OID: blob.OID},
		"tree": {Kind: object.KindTree, Data: []byte("nonsense")},
		"dot tree": {Kind: object.KindTree, Data: object.EncodeTree([]object.TreeEntry{{Mode: object.ModeFile,
			Name: "..", OID: blob.OID}})},
		"commit": {Kind: object.KindCommit, Data: []byte("tree x\n\n")},
	} {
		if err := repo.Objects().Write(ctx, []object.Object{blob, o}); fail.CodeOf(err) != fail.CodeObjectInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if repo.Objects().Has(ctx, blob.OID) {
		t.Error("a refused batch was written in part")
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := repo.Objects().Write(canceled, []object.Object{blob}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, _, err := repo.Objects().Read(canceled, blob.OID); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled read: %v", err)
	}
	for _, bad := range []object.OID{"", "abc", "../../etc/passwd", object.OID(strings.Repeat("z", 40)),
		object.OID(strings.Repeat("A", 40))} {
		if _, _, err := repo.Objects().Read(ctx, bad); fail.CodeOf(err) != fail.CodeObjectMissing {
			t.Errorf("%q: %v", bad, err)
		}
		if repo.Objects().Has(ctx, bad) {
			t.Errorf("has %q", bad)
		}
	}
}

// A damaged copy is reported, never returned, and healed by writing again.
func TestDamagedObjects(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		t.Run(format, func(t *testing.T) {
			ctx := context.Background()
			r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
			repo := open(t, r)
			one := object.New(format, object.KindBlob, []byte("a blob on its own\n"))
			r.GitInput(string(one.Data), "hash-object", "-w", "--stdin")
			path := object.Loose{Dir: repo.ObjectsDir, Format: format}.Path(one.OID)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var other bytes.Buffer
			if err := object.Deflate(&other, []byte("blob 14\x00something else")); err != nil {
				t.Fatal(err)
			}
			_ = os.Chmod(path, 0o644)
			for name, bad := range map[string][]byte{
				"empty": {}, "cut": good[:len(good)/2], "garbage": []byte("garbage"), "another": other.Bytes(),
			} {
				if err := os.WriteFile(path, bad, 0o644); err != nil {
					t.Fatal(err)
				}
				if _, _, err := repo.Objects().Read(ctx, one.OID); fail.CodeOf(err) != fail.CodeObjectCorrupt ||
					!strings.Contains(err.Error(), string(one.OID)) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := repo.Objects().Write(ctx, []object.Object{one}); err != nil {
				t.Fatal(err)
			}
			if _, data, err := repo.Objects().Read(ctx, one.OID); err != nil || !bytes.Equal(data, one.Data) {
				t.Errorf("written again: %q %v", data, err)
			}
			objectFilesOf(repo).Abandon(nil)
			for _, name := range glob(t, repo, "*") {
				_ = os.Remove(name)
			}

			objs := aCommit(t, format, "x", 4)
			if err := repo.Objects().Write(ctx, objs); err != nil {
				t.Fatal(err)
			}
			pack := strings.TrimSuffix(glob(t, repo, "*.idx")[0], ".idx") + ".pack"
			data, err := os.ReadFile(pack)
			if err != nil {
				t.Fatal(err)
			}
			for i := 20; i < 60; i++ {
				data[i] ^= 0x55
			}
			_ = os.Chmod(pack, 0o644)
			if err := os.WriteFile(pack, data, 0o644); err != nil {
				t.Fatal(err)
			}
			bad := 0
			for _, o := range objs {
				_, got, err := repo.Objects().Read(ctx, o.OID)
				switch {
				case err == nil && !bytes.Equal(got, o.Data):
					t.Errorf("%s: wrong content returned", o.OID)
				case err != nil:
					bad++
				}
			}
			if bad == 0 {
				t.Fatal("the damage was not noticed")
			}
			if err := repo.Objects().Write(ctx, objs); err != nil {
				t.Fatal(err)
			}
			for _, o := range objs {
				if _, got, err := repo.Objects().Read(ctx, o.OID); err != nil || !bytes.Equal(got, o.Data) {
					t.Errorf("%s after writing again: %v", o.OID, err)
				}
			}
		})
	}
}

func TestAlternates(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	clone := filepath.Join(t.TempDir(), "clone")
	r.Git("clone", "-q", "--shared", r.Main, clone)
	repo, err := Discover(ctx, clone)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	head := object.OID(r.Git("rev-parse", "HEAD"))
	if !repo.Objects().Has(ctx, head) {
		t.Error("Has misses an alternate's object")
	}
	if kind, _, err := repo.Objects().Read(ctx, head); err != nil || kind != object.KindCommit {
		t.Errorf("%s %v", kind, err)
	}
}

// Extensions that keep go-git from opening a repository at all do not matter to an object store that reads no
// configuration.
func TestRepositoriesGoGitRefuses(t *testing.T) {
	ctx := context.Background()
	for name, setup := range map[string]func(r *testrepo.Repo) string{
		"worktreeConfig": func(r *testrepo.Repo) string {
			r.Git("config", "core.repositoryformatversion", "1")
			r.Git("config", "extensions.worktreeConfig", "true")
			return r.Dir
		},
		"sparse": func(r *testrepo.Repo) string {
			r.Git("sparse-checkout", "set", "--cone", "d")
			return r.Dir
		},
		"partialClone": func(r *testrepo.Repo) string {
			dir := filepath.Join(t.TempDir(), "clone")
			r.Git("config", "uploadpack.allowFilter", "true")
			r.Git("clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+r.Main, dir)
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t, testrepo.Options{})
			head, blob := object.OID(r.Git("rev-parse", "HEAD")), object.OID(r.Git("rev-parse", "HEAD:a.txt"))
			repo, err := Discover(ctx, setup(r))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = repo.Close() }()
			if name == "partialClone" && repo.Objects().Has(ctx, blob) {
				t.Error("the clone is not partial, or Has fetched the object")
			}
			for oid, kind := range map[object.OID]string{head: object.KindCommit, blob: object.KindBlob} {
				if got, _, err := repo.Objects().Read(ctx, oid); err != nil || got != kind {
					t.Errorf("%s: %s %v", oid, got, err)
				}
			}
			if err := repo.Objects().Write(ctx, aCommit(t, repo.ObjectFormat, "x", 3)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMorePacksThanAreOpened checks that objects in packs beyond the limit on open files are still found.
func TestMorePacksThanAreOpened(t *testing.T) {
	tr := testrepo.New(t, testrepo.Options{})
	repo := open(t, tr)
	s := objectFilesOf(repo)
	var all []object.OID
	for n := range 300 {
		o := object.Object{Kind: object.KindBlob, Data: fmt.Appendf(nil, "object %d\n", n)}
		o.OID = object.Hash(repo.ObjectFormat, o.Kind, o.Data)
		h, err := writePack(s.Packs.Dir, repo.ObjectFormat, 0o444, []object.Object{o})
		if err != nil {
			t.Fatal(err)
		}
		h.Release()
		all = append(all, o.OID)
	}
	for i, oid := range all {
		if i%testrepo.Times(t.Name(), 10, 1) > 0 {
			continue
		}
		if !open(t, tr).Objects().Has(t.Context(), oid) {
			t.Fatalf("object %d of %d in as many packs is said to be missing", i, len(all))
		}
	}
	if repo.Objects().Has(t.Context(), object.Hash(repo.ObjectFormat, object.KindBlob, []byte("none"))) {
		t.Error("an object is there that was never written")
	}
}

func TestConcurrentUse(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
		repo := open(t, r)
		ctx := context.Background()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 5 {
					objs := aCommit(t, format, fmt.Sprint(i, j), 3)
					if err := repo.Objects().Write(ctx, objs); err != nil {
						t.Error(err)
					}
					for _, o := range objs {
						if _, _, err := repo.Objects().Read(ctx, o.OID); err != nil {
							t.Error(err)
						}
					}
					if i == 0 {
						if err := repo.Compact(ctx); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		r.Fsck()
	}
}

// A writer killed at any point leaves a repository that git finds intact.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv("OBJECTS_CHILD"); dir != "" {
		repo, err := Discover(context.Background(), dir)
		if err == nil {
			err = repo.Objects().Write(context.Background(), aCommit(t, repo.ObjectFormat, "killed", 5))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, point := range []string{"objects.pack.before", "objects.pack.kept", "objects.pack.synced",
		"objects.pack.named", "objects.pack.after"} {
		for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
			r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
			cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
			cmd.Env = append(os.Environ(), "OBJECTS_CHILD="+r.Dir, faults.Env+"="+point)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("%s: not killed\n%s", point, out)
			}
			r.Fsck()
			repo := open(t, r)
			objs := aCommit(t, format, "killed", 5)
			if err := repo.Objects().Write(context.Background(), objs); err != nil {
				t.Fatal(err)
			}
			r.Git("update-ref", "refs/agentxchain/runs/x", string(objs[len(objs)-1].OID))
			r.Fsck()
			repo.StaleHolds(true)
			for _, name := range glob(t, repo, "*") {
				pack := strings.TrimSuffix(name, filepath.Ext(name))
				if _, err := os.Stat(pack + ".idx"); err != nil {
					t.Errorf("%s: %s is left", point, name)
				}
			}
			r.Git("fsck", "--full", "--strict")
		}
	}
}

// Folded packs keep the order in which they were written: a reader of a run finds each operation next to its
// predecessor.
func TestCompactInOrder(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	var commits []object.OID
	for i := range compactFanIn {
		objs := aCommit(t, object.FormatSHA1, fmt.Sprint("c", i), 4)
		commits = append(commits, objs[len(objs)-1].OID)
		before, _ := filepath.Glob(filepath.Join(objectFilesOf(repo).Packs.Dir, "*.pack"))
		if err := repo.Objects().Write(ctx, objs); err != nil {
			t.Fatal(err)
		}
		if err := objectFilesOf(repo).reached(commitsIn(objs)); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
		for _, p := range glob(t, repo, "*.pack") {
			if !slices.Contains(before, p) {
				if err := os.Chtimes(p, at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := repo.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	set := objectFilesOf(repo).Packs
	set.Refresh() // its source packs are gone
	last, at := int64(0), (*pack.Index)(nil)
	for i, c := range commits {
		raw, _ := c.Raw()
		p, off := set.Find(raw)
		if p == nil || at != nil && p != at || off <= last {
			t.Fatalf("commit %d of %d lies at %d, the one before at %d; %d packs", i, len(commits), off, last,
				len(glob(t, repo, "*.pack")))
		}
		last, at = off, p
	}
}

// foldChild names the repository that a child of TestFoldIsHeld folds packs in.
const foldChild = "AGENTXCHAIN_TEST_FOLD"

// TestFoldIsHeld kills a process between the two halves of a fold: the new pack is held there, because git's
// multi-pack-index may find everything in it in the packs that are about to be removed, and expire it.
func TestFoldIsHeld(t *testing.T) {
	ctx := context.Background()
	if dir := os.Getenv(foldChild); dir != "" {
		repo, err := Discover(ctx, dir)
		if err == nil {
			err = repo.Compact(ctx)
		}
		t.Fatalf("the fold was not ended: %v", err)
	}
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	var commits []object.OID
	for i := range compactFanIn {
		objs := aCommit(t, object.FormatSHA1, fmt.Sprint("c", i), 4)
		commits = append(commits, objs[len(objs)-1].OID)
		if err := repo.Objects().Write(ctx, objs); err != nil {
			t.Fatal(err)
		}
		if err := objectFilesOf(repo).reached(commitsIn(objs)); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.Command(os.Args[0], "-test.run=^TestFoldIsHeld$")
	child.Env = append(os.Environ(), foldChild+"="+r.Dir, faults.Env+"=fold.copied")
	if out, err := child.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(glob(t, repo, "*.pack")); n != compactFanIn+1 {
		t.Fatalf("%d packs, want %d and what they were folded into", n, compactFanIn)
	}
	if n := len(glob(t, repo, "*"+KeepExt)); n != 1 {
		t.Errorf("%d packs are held, want the new one", n)
	}
	r.Git("multi-pack-index", "write")
	r.Git("multi-pack-index", "expire")
	if stale := repo.StaleHolds(true); len(stale) != 1 {
		t.Errorf("held by those who are gone: %v", stale)
	}
	for _, c := range commits {
		r.Git("cat-file", "-e", string(c)+"^{tree}")
	}
}

func TestCompact(t *testing.T) {
	testrepo.Thorough(t)
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		t.Run(format, func(t *testing.T) {
			ctx := context.Background()
			r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
			repo := open(t, r)
			// Another tool's pack, which must stay.
			r.Git("repack", "-q", "-a", "-d")
			foreign := glob(t, repo, "*.pack")
			var all []object.Object
			most := 0
			for i := range 120 {
				objs := aCommit(t, format, fmt.Sprint("c", i), 4)
				all = append(all, objs...)
				if err := repo.Objects().Write(ctx, objs); err != nil {
					t.Fatal(err)
				}
				if err := objectFilesOf(repo).reached(commitsIn(objs)); err != nil {
					t.Fatal(err)
				}
				if i == 5 {
					// A kept pack and a damaged one are left alone.
					mine := glob(t, repo, "*.pack")
					if err := os.WriteFile(strings.TrimSuffix(mine[0], ".pack")+".keep", nil, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				r.Git("update-ref", fmt.Sprint("refs/agentxchain/runs/c", i), string(objs[len(objs)-1].OID))
				if err := repo.Compact(ctx); err != nil {
					t.Fatal(err)
				}
				most = max(most, len(glob(t, repo, "*.pack")))
			}
			if most > 2*compactFanIn+3 {
				t.Errorf("up to %d packs", most)
			}
			if _, err := os.Stat(foreign[0]); err != nil {
				t.Error("another program's pack was removed")
			}
			for _, o := range all {
				if _, data, err := repo.Objects().Read(ctx, o.OID); err != nil || !bytes.Equal(data, o.Data) {
					t.Fatalf("%s: %v", o.OID, err)
				}
			}
			r.Fsck()
			r.Git("gc", "-q", "--prune=now")
			if err := repo.Compact(ctx); err != nil {
				t.Fatal(err)
			}
			r.Fsck()
		})
	}
}

// git writes its multi-pack-index on a commit; later packs are folded, and packs it names stay.
func TestCompactBesideAnIndexOfPacks(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	write := func(what string) {
		for i := range compactFanIn {
			objs := aCommit(t, repo.ObjectFormat, fmt.Sprint(what, i), 4)
			if err := repo.Objects().Write(ctx, objs); err != nil {
				t.Fatal(err)
			}
			if err := objectFilesOf(repo).reached(commitsIn(objs)); err != nil {
				t.Fatal(err)
			}
			r.Git("update-ref", fmt.Sprint("refs/agentxchain/runs/", what, i), string(objs[len(objs)-1].OID))
		}
	}
	write("before")
	r.Git("multi-pack-index", "write")
	named := pack.MidxPacks(filepath.Join(repo.ObjectsDir, "pack", pack.MidxName))
	if len(named) < compactFanIn {
		t.Fatalf("the index names %v", named)
	}
	write("after")
	if err := repo.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(glob(t, repo, "*.pack")); n != len(named)+1 {
		t.Errorf("%d packs, want the %d that the index names and one", n, len(named))
	}
	r.Git("multi-pack-index", "verify")
	r.Fsck()
}

func TestCompactLeavesDamagedPacks(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	for i := range compactFanIn + 1 {
		if err := repo.Objects().Write(ctx, aCommit(t, repo.ObjectFormat, fmt.Sprint(i), 2)); err != nil {
			t.Fatal(err)
		}
	}
	objectFilesOf(repo).Abandon(nil)
	bad := glob(t, repo, "*.pack")[3]
	data, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	data[20] ^= 0xff
	_ = os.Chmod(bad, 0o644)
	if err := os.WriteFile(bad, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := repo.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	if got := glob(t, repo, "*.pack"); len(got) != 2 {
		t.Fatalf("packs: %v", got)
	}
	if _, err := os.Stat(bad); err != nil {
		t.Fatal(err)
	}
	if tmp, _ := filepath.Glob(filepath.Join(repo.ObjectsDir, "pack", "*"+newExt)); len(tmp) != 0 {
		t.Fatalf("left behind %v", tmp)
	}
}

func TestClosedObjects(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo, err := Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := repo.Objects().Read(context.Background(), object.EmptyTree(object.FormatSHA1)); !errors.Is(err,
		fs.ErrClosed) {
		t.Fatal(err)
	}
}

// Commits and trees made by git are decoded and encoded again.
func TestCommitsOfGit(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo := open(t, r)
		head := object.OID(r.Git("rev-parse", "HEAD"))
		_, data, err := repo.Objects().Read(ctx, head)
		if err != nil {
			t.Fatal(err)
		}
		c, err := object.ParseCommit(repo.ObjectFormat, data)
		if err != nil {
			t.Fatal(err)
		}
		if c.Author.Name != "Ann Author" || c.Committer.Email != "carl@example.org" || c.Message != "second\n" ||
			len(c.Parents) != 1 ||
			c.Author.When.UTC().Format(time.RFC3339) != "2026-01-02T03:04:05Z" {
			t.Errorf("%+v", c)
		}
		again, err := object.EncodeCommit(repo.ObjectFormat, c)
		if err != nil || string(again) != string(data) {
			t.Errorf("%q became %q (%v)", data, again, err)
		}
		_, data, err = repo.Objects().Read(ctx, c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := object.ParseTree(repo.ObjectFormat, data)
		if err != nil || len(tree) != 3 || string(object.EncodeTree(tree)) != string(data) {
			t.Errorf("%v %v", tree, err)
		}
	})
}

// TestLenderGone asks for an object of a repository that was moved away from one that borrows from it: the error
// says where the objects were, and where that is configured.
func TestLenderGone(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.Write("a.txt", "a")
	r.CommitAll("first")
	blob := object.OID(r.Git("rev-parse", "HEAD:a.txt"))
	clone := filepath.Join(t.TempDir(), "clone")
	r.Git("clone", "-q", "--shared", "--no-checkout", r.Dir, clone)
	repo, err := Discover(t.Context(), clone)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	objects := filepath.Join(r.Dir, ".git", "objects")
	if err := os.Rename(objects, objects+".moved"); err != nil {
		t.Fatal(err)
	}
	_, _, err = repo.Objects().Read(t.Context(), blob)
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || e.Code != fail.CodeObjectMissing || !strings.Contains(e.Error(), "borrows those of ") ||
		!strings.Contains(e.Error(), "objects, and that is not there") || !strings.Contains(e.Hint, "alternates") {
		t.Errorf("%+v", err)
	}
}
