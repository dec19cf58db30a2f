package git

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestReadNamed(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	r.Write("made\nfeed.txt", "fed\n")
	r.CommitAll("attributes")
	var got []string
	each := func(i int, o Named) { got = append(got, fmt.Sprintf("%d %v %s %q", i, o.Found, o.Kind, o.Data)) }
	err := repo.ReadNamed(ctx,
		[]string{"HEAD:a.txt", "HEAD:no such", "HEAD:line\nfeed", "", "HEAD^1:b c.txt", "refs/none",
			"HEAD:made\nfeed.txt"}, each)
	want := []string{`0 true blob "one\ntwo\n"`, `1 false  ""`, `2 false  ""`, `3 false  ""`, `4 true blob "space\n"`,
		`5 false  ""`, `6 true blob "fed\n"`}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q %v", got, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if err := repo.ReadNamed(stopped, []string{"HEAD"}, each); err == nil {
		t.Fatal("it ran on")
	}
}
