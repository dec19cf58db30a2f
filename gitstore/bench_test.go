// Benchmarks of the costs that every operation of the store has.

package gitstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func sixteen(format string) []object.Object {
	objs := make([]object.Object, 16)
	for i := range objs {
		b := make([]byte, 4096)
		_, _ = rand.Read(b[:2048]) // half of it is compressible
		objs[i] = object.New(format, object.KindBlob, b)
	}
	return objs
}

func BenchmarkObjectsWrite16x4K(b *testing.B) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		b.Run(format, func(b *testing.B) {
			repo := opened(b, testrepo.New(b, testrepo.Options{ObjectFormat: format}))
			ctx := context.Background()
			for b.Loop() {
				b.StopTimer()
				objs := sixteen(format)
				b.StartTimer()
				if err := repo.Objects().Write(ctx, objs); err != nil {
					b.Fatal(err)
				}
				filesBehind(repo).Abandon(nil)
			}
		})
	}
}

func BenchmarkObjectsWriteAndCompact(b *testing.B) {
	repo := opened(b, testrepo.New(b, testrepo.Options{}))
	ctx := context.Background()
	for b.Loop() {
		b.StopTimer()
		objs := sixteen(object.FormatSHA1)
		b.StartTimer()
		if err := repo.Objects().Write(ctx, objs); err != nil {
			b.Fatal(err)
		}
		filesBehind(repo).Abandon(nil)
		if err := repo.Compact(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObjectsRead(b *testing.B) {
	for _, how := range []string{"ours", "gc"} {
		for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
			b.Run(how+"-"+format, func(b *testing.B) {
				r := testrepo.New(b, testrepo.Options{ObjectFormat: format})
				repo := opened(b, r)
				ctx := context.Background()
				var objs []object.Object
				for i := range 50 {
					objs = smallCommit(b, format, fmt.Sprint(i), 14)
					if err := repo.Objects().Write(ctx, objs); err != nil {
						b.Fatal(err)
					}
					r.Git("update-ref", fmt.Sprint("refs/agentxchain/runs/", i), string(objs[len(objs)-1].OID))
				}
				if how == "gc" {
					r.Git("gc", "-q")
				}
				// A fresh store each time: the cost of 16 reads in one command.
				for b.Loop() {
					store := git.Repository{ObjectsDir: repo.ObjectsDir, ObjectFormat: format, Git: repo.Git}
					for _, o := range objs {
						if _, _, err := store.Objects().Read(ctx, o.OID); err != nil {
							b.Fatal(err)
						}
					}
					_ = store.Close()
				}
			})
		}
	}
}

func BenchmarkDiscover(b *testing.B) {
	r := testrepo.New(b, testrepo.Options{})
	for b.Loop() {
		if _, err := git.Discover(context.Background(), r.Dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatus(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := testrepo.New(b, testrepo.Options{})
			for i := range n {
				r.Write(fmt.Sprintf("src/%02d/file%d.txt", i%97, i), "content\n")
			}
			r.CommitAll("many")
			for i := range 5 {
				r.Write(fmt.Sprintf("new%d.txt", i), "x")
			}
			repo := opened(b, r)
			for b.Loop() {
				if s, err := gitstatus.Of(context.Background(), repo, repo.Prefix); err != nil || len(s.Dirty) != 5 {
					b.Fatal(s, err)
				}
			}
		})
	}
}

func BenchmarkRefs(b *testing.B) {
	r := testrepo.New(b, testrepo.Options{})
	repo := opened(b, r)
	ctx := context.Background()
	old, head := object.OID(""), object.OID(r.Git("rev-parse", "HEAD"))
	other := object.OID(r.Git("rev-parse", "HEAD~1"))
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			if err := repo.UpdateRefs(ctx, []git.RefUpdate{{Name: "refs/agentxchain/runs/x", New: head, Old: old}},
				"op"); err != nil {
				b.Fatal(err)
			}
			old, head, other = head, other, head
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if oid, err := repo.ReadRef(ctx, "refs/agentxchain/runs/x"); err != nil || oid == "" {
				b.Fatal(oid, err)
			}
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	dir := b.TempDir()
	data := make([]byte, 20<<10)
	if err := os.WriteFile(dir+"/f", data, 0o644); err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if fingerprint(root, "f")[:7] != "sha256:" {
			b.Fatal("unreadable")
		}
	}
}
