package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestEveryPackedRefIsFound(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	commit := r.Git("rev-parse", "HEAD")
	var moves strings.Builder
	names := map[string]string{"refs/heads/main": commit}
	for i := range 300 {
		name := fmt.Sprintf("refs/agentxchain/runs/run_%x", i*7919)
		names[name] = commit
		_, _ = fmt.Fprintf(&moves, "create %s %s\n", name, commit)
	}
	r.GitInput(moves.String(), "update-ref", "--stdin")
	for i := range 20 { // annotated: an additional line each
		name := fmt.Sprintf("v%d", i)
		r.Git("tag", "-a", "-m", "tag", name)
		names["refs/tags/"+name] = r.Git("rev-parse", "refs/tags/"+name)
	}
	r.Git("pack-refs", "--all")
	data, err := os.ReadFile(filepath.Join(r.Dir, ".git", "packed-refs"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(data []byte, name string) (object.OID, bool) {
		return searchPacked(bytes.NewReader(data), int64(len(data)), object.FormatSHA1, name)
	}
	for name, want := range names {
		if got, known := find(data, name); string(got) != want || !known {
			t.Errorf("%s: %q, known %v; want %s", name, got, known, want)
		}
		for _, absent := range []string{name + "0a", name[:len(name)-1] + "~", "refs/a", "refs/zzz"} {
			if got, known := find(data, absent); names[absent] == "" && (got != "" || !known) {
				t.Errorf("%s: %q, known %v; want none", absent, got, known)
			}
		}
	}
	for what, odd := range map[string][]byte{
		"not sorted": bytes.Replace(data, []byte(" sorted"), nil, 1),
		"empty":      nil,
		"no lines":   bytes.Repeat([]byte("x"), 40000),
		"cut short":  append(bytes.Clone(data[:bytes.IndexByte(data, '\n')+1]), data[len(data)-30:len(data)-3]...),
	} {
		if got, known := find(odd, "refs/heads/main"); known || got != "" {
			t.Errorf("%s: %q, known %v; want git to be asked", what, got, known)
		}
	}
}
