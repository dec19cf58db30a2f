package history

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestAuthorsSince names each author once, and does not believe a .mailmap.
func TestAuthorsSince(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.Write(".mailmap", "Ada <ada@example.org> Bob <bob@example.org>\n")
	base := object.OID(r.CommitAll("base"))
	for _, who := range []string{"Ada <ada@example.org>", "Bob <bob@example.org>", "Bob <bob@example.org>"} {
		r.Git("commit", "-q", "--allow-empty", "-m", "work", "--author", who)
	}
	head := object.OID(r.Git("rev-parse", "HEAD"))
	for _, c := range []struct {
		base, head object.OID
		want       []string
	}{
		{base, head, []string{"ada@example.org", "bob@example.org"}},
		{object.OID(r.Git("rev-parse", "HEAD~2")), head, []string{"bob@example.org"}},
		{head, head, []string{}},
		{base, "", []string{}},
	} {
		got, err := AuthorsSince(context.Background(), open(t, r), c.base, c.head)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
