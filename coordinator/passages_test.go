// Tests of who may have approved according to the protected branch, whatever a row says about it.

package coordinator

import (
	"context"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// TestGroundsOfTheProtectedBranch tries commits in a row: each is asked what the branch itself said, never what
// only a merged branch did.
func TestGroundsOfTheProtectedBranch(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo, err := git.Discover(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(text string) string {
		r.Write("note", text)
		r.CommitAll(text)
		return r.Git("rev-parse", "HEAD")
	}
	r.Git("checkout", "-q", "-b", "protected")
	first := commit("the first signers")
	second := commit("a key is revoked")
	r.Git("checkout", "-q", "-b", "topic")
	aside := commit("a key of another person")
	commit("and not any more")
	r.Git("checkout", "-q", "protected")
	r.Git("merge", "-q", "--no-ff", "-m", "merge", "topic")
	merge := r.Git("rev-parse", "HEAD")
	last := commit("the last signers")
	r.Git("checkout", "-q", "topic")
	elsewhere := commit("never merged")

	a := &approvals{
		home: repo,
		base: &agreement.Base{},
		protected: consent.Place{
			Repo:   repo,
			Branch: "protected",
			Names:  []string{"refs/remotes/origin/protected", "refs/heads/protected"},
		},
	}
	for _, c := range []struct{ name, at, since, want string }{
		{"one of its commits", first, "", first},
		{"its newest", last, "", last},
		{"one that a merge brought", aside, "", merge},
		{"the merge", merge, "", merge},
		{"one before that of an earlier yes", first, second, second},
		{"one after it", last, second, last},
		{"one that a merge brought after it", aside, second, merge},
		{"one that a merge brought before it", aside, last, last},
		{"one that it never had", elsewhere, "", ""},
		{"none, and it is not here under each name", "", "", ""},
	} {
		y := &initiative.Yes{Consent: agreement.Consent{Base: &agreement.Base{Ref: "refs/heads/protected", Commit: c.at}}}
		g, refusal := a.grounds(ctx, y, c.since)
		got := ""
		if refusal == nil {
			got = g.Since
			if g.Base == nil || g.Base.Commit != got {
				t.Errorf("%s: the signers are those of %+v, want %s", c.name, g.Base, got)
			}
		} else if refusal.Code != CodeUnapproved {
			t.Errorf("%s: %v", c.name, refusal)
		}
		if got != c.want || (refusal == nil) != (c.want != "") {
			t.Errorf("%s: judged by %q (%v), want %q", c.name, got, refusal, c.want)
		}
	}
}
