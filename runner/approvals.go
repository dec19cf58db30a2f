// What people said about a run's decisions, read and judged from its record alone.

package runner

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Approvals holds the decisions of a run, as its chain of operations records them.
type Approvals struct {
	acts *proof.Acts
	repo *Repository
}

// ReadApprovals reads a run at its ref. The repository needs nothing but the run's
// objects: no project, no working files, no configuration.
//
// Codes: no_run, record_invalid, object_missing, object_corrupt.
func ReadApprovals(ctx context.Context, repo *Repository, run string) (*Approvals, error) {
	acts, err := proof.ReadActs(ctx, repo, run)
	if err != nil {
		return nil, err
	}
	return &Approvals{acts, repo}, nil
}

// Sayings returns who said what about which decision, oldest first.
func (a *Approvals) Sayings() []*approval.Saying { return approval.Sayings(a.acts.Acts) }

// Envelopes returns the signed statements, by the sha256:<hex> of each.
func (a *Approvals) Envelopes() map[string][]byte { return a.acts.Envelopes() }

// Verify judges all of it again (docs/spec/approvals.md#verification-offline). here is the
// repository in which the commits that approvals name are looked up. The project is in its
// directory here.Prefix, unless a commit has it elsewhere.
func (a *Approvals) Verify(ctx context.Context, here *Repository) (*approval.Report, error) {
	report, err := proof.VerifyApprovals(ctx, here, here.Prefix, a.acts)
	if err != nil {
		return nil, err
	}
	report.Witnesses, err = a.acts.Witnesses(ctx, a.repo, here)
	return report, err
}

// ListedAt returns the people and keys that a commit lists for the project with the id, which is in dir elsewhere. One
// that the commit does not have has those of the project in repo.Prefix, else of the first that the commit has, so that
// none decides on itself.
func ListedAt(ctx context.Context, repo *Repository, commit, id, dir string) (*approval.Listed, error) {
	at := object.OID(commit)
	dir = chain.ProjectDirAt(ctx, repo, at, id, dir)
	lacks := func(dir string) bool { return chain.ProjectIn(ctx, repo, commit, dir) == "" }
	if lacks(dir) {
		dir = repo.Prefix
		if all := chain.ProjectsIn(ctx, repo, commit); len(all) > 0 && lacks(dir) {
			dir = all[0]
		}
	}
	return proof.ListedAt(ctx, repo, dir, at)
}

// RecordedRuns returns the ids of the runs that a repository records.
func RecordedRuns(ctx context.Context, repo *Repository) ([]string, error) {
	refs, err := repo.ListRefs(ctx, RunRefPrefix)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, ref := range refs {
		if ref.OID != "" && ref.Target == "" && !ref.Broken {
			out = append(out, strings.TrimPrefix(ref.Name, RunRefPrefix))
		}
	}
	slices.Sort(out)
	return out, nil
}

// OpenBundle unpacks a git bundle of runs into a temporary repository, which done removes. Codes:
// history_invalid.
func OpenBundle(ctx context.Context, file string) (repo *Repository, done func(), err error) {
	return bundle.Open(ctx, file)
}

// OnlyRun returns the only run where a command names none; with several, the caller has to name
// one. Codes: no_run.
func OnlyRun(runs []string) (string, error) {
	if len(runs) == 1 {
		return runs[0], nil
	}
	e := &wire.Error{
		Code:    chain.CodeNoRun,
		Message: "There is no record of a run here.",
		Hint: "git agentxchain sync; in a bare repository git fetch origin " +
			"'refs/agentxchain/runs/*:refs/agentxchain/runs/*'",
	}
	if len(runs) > 1 {
		e.Message = "The record of " + wire.Quoted(runs[0]) +
			" and other runs is here, and none of them is the current one."
		e.Hint = "say which one with --run " + runs[0]
	}
	return "", e
}
