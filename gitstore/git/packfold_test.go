package git

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestFoldLinksVersions checks that for files that grow, change and come back, folded packs store the differences.
// Every version reads as before, here and with git; folding a folded pack again stays far below the size of whole
// objects, and git gc accepts the result.
func TestFoldLinksVersions(t *testing.T) {
	testrepo.Thorough(t)
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		t.Run(format, func(t *testing.T) {
			ctx := context.Background()
			r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
			repo := open(t, r)
			rnd := rand.New(rand.NewPCG(3, 4))
			growing, changing := []byte("begin\n"),
				[]byte(strings.Repeat("a line of a file that changes here and there\n", 60))
			var all []object.Object
			var parent object.OID
			whole := 0
			const versions = 130
			for i := range versions {
				growing = append(growing,
					[]byte(fmt.Sprintf("row %d of a ledger with the random word %x\n", i, rnd.Uint64()))...)
				changing = testrepo.Edited(rnd, changing)
				back := []byte(strings.Repeat(fmt.Sprint("comes back ", i%3, "\n"), 40))
				objs := versionOf(t, format, parent, i, map[string][]byte{
					"growing":                  growing,
					"changing":                 changing,
					"back":                     back,
					fmt.Sprintf("bundle%d", i): growing,
				})
				parent = objs[len(objs)-1].OID
				all = append(all, objs...)
				for _, o := range objs {
					var b bytes.Buffer
					if err := object.Deflate(&b, o.Data); err != nil {
						t.Fatal(err)
					}
					whole += b.Len()
				}
				if err := repo.Objects().Write(ctx, objs); err != nil {
					t.Fatal(err)
				}
				if err := objectFilesOf(repo).reached(commitsIn(objs)); err != nil {
					t.Fatal(err)
				}
				r.Git("update-ref", "refs/agentxchain/runs/c", string(parent))
				if err := repo.Compact(ctx); err != nil {
					t.Fatal(err)
				}
			}
			size := func() (n int64) {
				for _, p := range glob(t, repo, "*.pack") {
					fi, err := os.Stat(p)
					if err != nil {
						t.Fatal(err)
					}
					n += fi.Size()
				}
				return n
			}
			if got := size(); got > int64(whole)/3 {
				t.Errorf("%d versions take %d bytes, whole ones %d", versions, got, whole)
			}
			check := func() {
				t.Helper()
				for _, o := range all {
					if kind, data, err := repo.Objects().Read(ctx, o.OID); err != nil || kind != o.Kind ||
						!bytes.Equal(data, o.Data) {
						t.Fatalf("%s %s: %v", o.Kind, o.OID, err)
					}
				}
				r.Fsck()
			}
			check()
			for _, p := range glob(t, repo, "*.idx") {
				r.Git("verify-pack", p)
			}
			before := size()
			r.Git("gc", "-q", "--prune=now")
			check()
			if after := size(); after > before*6/5 {
				t.Errorf("git gc made %d bytes of %d", after, before)
			}
		})
	}
}

// versionOf returns a commit whose tree holds the files and a subdirectory.
func versionOf(t *testing.T, format string, parent object.OID, n int, files map[string][]byte) []object.Object {
	t.Helper()
	var objs []object.Object
	var entries []object.TreeEntry
	for name, data := range files {
		o := object.New(format, object.KindBlob, data)
		objs = append(objs, o)
		entries = append(entries, object.TreeEntry{Mode: object.ModeFile, Name: name, OID: o.OID})
	}
	sub := object.New(format, object.KindTree, object.EncodeTree(entries))
	root := object.New(format, object.KindTree, object.EncodeTree([]object.TreeEntry{{Mode: object.ModeTree,
		Name: "sub", OID: sub.OID}}))
	c := &object.Commit{Tree: root.OID, Message: fmt.Sprint("version ", n, "\n")}
	if parent != "" {
		c.Parents = []object.OID{parent}
	}
	data, err := object.EncodeCommit(format, c)
	if err != nil {
		t.Fatal(err)
	}
	return append(objs, sub, root, object.New(format, object.KindCommit, data))
}
