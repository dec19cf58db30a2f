// The newest runs of a repository, each with its newest operation: one git process for any number of runs.

package chain

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// RunTip is a recorded run with its newest operation.
type RunTip struct {
	Run  string
	Ref  git.Ref
	Last OpInfo
}

// RunTips lists recorded runs by the time of their newest operation, newest first, at most
// limit (0: all).
func RunTips(ctx context.Context, repo *git.Repository, limit int) ([]RunTip, error) {
	args := []string{"for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(refname)"}
	if limit > 0 {
		args = append(args, "--count="+strconv.Itoa(limit))
	}
	out, err := repo.Git.Run(ctx, nil, append(args, git.RunRefPrefix)...)
	if err != nil {
		return nil, err
	}
	var tips []RunTip
	r := record.NewReader(ctx, repo)
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		run := strings.TrimPrefix(name, git.RunRefPrefix)
		if git.BadRunID(run) != "" {
			continue // fsck reports it
		}
		tip := RunTip{Run: run, Ref: git.Ref{Name: name, OID: object.OID(oid)}}
		tip.Last, err = Operation(r, tip.Ref.OID)
		if err != nil && !errors.As(err, new(*object.KindError)) { // fsck reports what is not a commit
			return nil, err
		}
		tips = append(tips, tip)
	}
	return tips, nil
}

// BrokenRuns returns the runs whose refs hold no object id or are symbolic; RunTips skips them.
func BrokenRuns(ctx context.Context, repo *git.Repository) ([]string, error) {
	refs, err := repo.ListRefs(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range refs {
		run := strings.TrimPrefix(r.Name, git.RunRefPrefix)
		if (r.Broken || r.Target != "" || r.OID == "") && git.BadRunID(run) == "" {
			out = append(out, run)
		}
	}
	return out, nil
}

// Runs lists the recorded runs of the repository in ref order. It skips refs that cannot be runs; fsck reports
// them.
func Runs(ctx context.Context, repo *git.Repository) ([]git.Ref, error) {
	refs, err := repo.ListRefs(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	out := refs[:0]
	for _, r := range refs {
		if r.OID != "" && r.Target == "" && !r.Broken {
			out = append(out, r)
		}
	}
	return out, nil
}

// Tip returns the tip of a run, "" when it has no ref. For an archived run it is the ref in the archive.
func Tip(ctx context.Context, repo *git.Repository, run string) (object.OID, error) {
	ref, err := git.RunRef(run)
	if err != nil {
		return "", err
	}
	tip, err := repo.ReadRef(ctx, ref)
	if err != nil || tip != "" {
		return tip, err
	}
	return PastTip(ctx, repo, run)
}

// PastTip returns the tip of an archived run that is kept here, "" for none.
func PastTip(ctx context.Context, repo *git.Repository, run string) (object.OID, error) {
	return repo.ReadRef(ctx, archive.PastPrefix+run)
}

// OperationOf returns an error unless a run's ref leads to an operation of that run. Git would list commits of
// another history as operations, and nothing for a tree or a blob.
func OperationOf(ctx context.Context, repo *git.Repository, run string, op object.OID) error {
	info, err := Operation(record.NewReader(ctx, repo), op)
	if err != nil {
		return err
	}
	if info.Name == "" || info.Run != run {
		return fail.Errorf(record.CodeChainBroken, nil, "the ref of run %s leads to %s, which is not one of its operations",
			run, op.Short()).
			WithHint("git agentxchain fsck --run %s, then fetch the run's ref from another clone", run)
	}
	return nil
}
