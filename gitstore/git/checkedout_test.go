package git

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// One process passes blobs through the filters of their paths, whatever they contain; a blob whose filter fails, or
// that is missing, affects no other.
func TestCheckedOut(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	// The person's filters: the repository's own are not run.
	own := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(own, []byte("[filter \"up\"]\nsmudge = sed s/low/UP/\n"+
		"[filter \"bad\"]\nsmudge = exit 1\nrequired\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", own)
	r.Write(".gitattributes", "*.txt eol=crlf\n*.up filter=up\n*.bad filter=bad\n*.big filter=lfs\n")
	pointer := func(data string) string {
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", sum(data), len(data))
	}
	long := strings.Repeat("x", 300<<10) // no line end in one read buffer
	contents := []struct{ data, path string }{
		{"one\ntwo\n", "a.txt"}, {"low", "b.up"}, {"never", "c.bad"}, {"", "empty"}, {"\n", "line"}, {long, "long"},
		{"never", "d.bad"}, {"ends\n\n", "e e"}, {"low\n", "f.up"}, {"low\n", "plain"}, {"odd", " odd"}, {"odd", "od\nd"},
		{pointer("large"), "g.big"}, {pointer("large"), "not"}, {"small", "h.big"}, {pointer("large") + "\n", "i.big"},
		{"last", "last"}, {"never", "z.bad"},
	}
	var blobs []Filed
	for i, c := range contents {
		name := fmt.Sprintf("in/%d", i)
		r.Write(name, c.data)
		blobs = append(blobs, Filed{object.OID(r.Git("hash-object", "-w", "--no-filters", name)), c.path})
	}
	repo := open(t, r)
	var got map[string]string
	each := func(i int, sum string) { got[blobs[i].Path] = sum }
	holds := func(want map[string]string) {
		t.Helper()
		for path, data := range want {
			want[path] = sum(data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("checked out (-want +got):\n%s", diff)
		}
	}
	got = make(map[string]string)
	if err := repo.CheckedOut(t.Context(), blobs, each); err != nil {
		t.Fatal(err)
	}
	holds(map[string]string{
		"a.txt": "one\r\ntwo\r\n", "b.up": "UP", "empty": "", "line": "\n", "long": long, "e e": "ends\n\n",
		"f.up": "UP\n", "plain": "low\n", "g.big": "large", "not": pointer("large"), "h.big": "small",
		"i.big": pointer("large") + "\n", "last": "last",
	})

	got = make(map[string]string)
	absent := object.Hash(repo.ObjectFormat, object.KindBlob, []byte("absent"))
	blobs = []Filed{{blobs[0].OID, "a"}, {absent, "b"}, {blobs[1].OID, "c"}, {"", "d"}, {blobs[4].OID, "e"}, {absent, "f"}}
	if err := repo.CheckedOut(t.Context(), blobs, each); err != nil {
		t.Fatal(err)
	}
	delete(got, "a") // the answer about a missing blob comes after it
	delete(got, "e")
	holds(map[string]string{"c": "low"})
}

func sum(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }
