package transport

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestARemoteThatHangs fetches from a server that accepts the connection and then says nothing: the timeout is
// reported as a failure of the remote, with a hint, not as an interrupted git.
func TestARemoteThatHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ours := testrepo.New(t, testrepo.Options{})
	ours.Write("a", "1")
	ours.CommitAll("first")
	ours.Git("remote", "add", "origin", "git://"+l.Addr().String()+"/p.git")
	repo, err := git.Discover(t.Context(), ours.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	ctx, stop := transferring(Hurried(t.Context()))
	defer stop()
	if at, ok := ctx.Deadline(); !ok || time.Until(at) > DecideLimit {
		t.Error("an operation that waits does so until", at)
	}
	ctx, stop = Within(ctx, time.Second/2)
	defer stop()
	push := []RefPush{{Name: git.RunRefPrefix + "run_1", New: repo.Head(ctx)}}
	_, pushed := Push(ctx, repo, "origin", push)
	for what, err := range map[string]error{
		"the record": FetchRecord(ctx, repo, "origin"),
		"the runs":   FetchRuns(ctx, repo, "origin", nil),
		"a push":     pushed,
	} {
		if fail.CodeOf(err) != CodeRemoteFailed || !strings.HasSuffix(err.Error(), ": it took too long") {
			t.Errorf("%s: %s, %v", what, fail.CodeOf(err), err)
		}
		if e, ok := errors.AsType[*fail.Error](err); !ok || !strings.Contains(e.Hint, "git agentxchain sync origin waits longer") {
			t.Errorf("%s: hint %+v", what, e)
		}
	}
}
