// Tests of an initiative's record: one commit per change, nothing without a change, in every kind of repository.

package gitstore

import (
	"context"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

func TestRecordInitiative(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo, err := git.Discover(ctx, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = repo.Close() }()
		const state, history = ".agentxchain/multirepo/state.json", ".agentxchain/multirepo/history.jsonl"
		in := record.Initiative{
			Run:     "srun_1",
			Op:      "init",
			Subject: "Started\nAgentxchain-Run: forged",
			State:   []byte("{}"),
			Files:   map[string][]byte{state: []byte("{}"), history: []byte("{}\n")},
			Env: protocol.Env{
				Now:   time.Unix(1e9, 0),
				Actor: evidence.Actor{Name: "Ada", Email: "ada@example.org"},
			},
		}
		first, err := record.RecordInitiative(ctx, repo, in)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := record.RecordInitiative(ctx, repo, in); err != nil || again.New != first.New {
			t.Fatalf("the same files were recorded twice: %s, %v", again.New, err)
		}
		in.Op, in.Files[history] = "step", []byte("{}\n{}\n")
		second, err := record.RecordInitiative(ctx, repo, in)
		if err != nil || second.New == first.New {
			t.Fatalf("%s, %v", second.New, err)
		}
		if got := r.Git("rev-parse", record.InitiativeRefPrefix+"srun_1~1"); got != string(first.New) {
			t.Errorf("the first record is not the parent: %s", got)
		}
		data, err := initiativeFile(ctx, repo, "srun_1", history)
		if err != nil || string(data) != "{}\n{}\n" {
			t.Errorf("%q, %v", data, err)
		}
		if data, err := initiativeFile(ctx, repo, "srun_2", history); err != nil || data != nil {
			t.Errorf("a record that is not there: %q, %v", data, err)
		}
		if got := r.Git("log", "-1", "--format=%an %(trailers:key=Agentxchain-Run,valueonly,separator=%x2C)", string(
			second.New)); got != "Ada srun_1" {
			t.Errorf("the commit says %q", got)
		}
		// A prepared but unpublished change moves nothing.
		in.Files[history] = []byte("{}\n{}\n{}\n")
		up, err := record.PrepareInitiative(ctx, repo, in)
		if err != nil || up.Old != second.New || up.New == second.New {
			t.Fatalf("%+v, %v", up, err)
		}
		if got := r.Git("rev-parse", record.InitiativeRefPrefix+"srun_1"); got != string(second.New) {
			t.Errorf("the ref has moved to %s", got)
		}
		r.Fsck()
	})
}

func TestRecordInitiativeRefusesNames(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo, err := git.Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	for _, run := range []string{"", "../heads/main", "a..b", "x.lock", "-x"} {
		if _, err := record.RecordInitiative(context.Background(), repo,
			record.Initiative{Run: run}); fail.CodeOf(err) != fail.CodeBadRefName {
			t.Errorf("%q: %v", run, err)
		}
		if _, err := initiativeFile(context.Background(), repo, run, "x"); fail.CodeOf(err) != fail.CodeBadRefName {
			t.Errorf("%q: %v", run, err)
		}
	}
}

// initiativeFile returns a file of a super run's newest record, nil when the record or the file is missing.
func initiativeFile(ctx context.Context, r *git.Repository, run, name string) ([]byte, error) {
	if _, err := git.RunRef(run); err != nil {
		return nil, err
	}
	tip, err := r.ReadRef(ctx, record.InitiativeRefPrefix+run)
	if err != nil || tip == "" {
		return nil, err
	}
	read := record.NewReader(ctx, r)
	c, err := read.Commit(tip)
	if err != nil {
		return nil, err
	}
	data, _, err := read.File(c.Tree, name)
	return data, err
}
