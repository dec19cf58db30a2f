// The newest runs of a repository, each with its newest operation: two git processes,
// however many runs there are.

package gitstore

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// RunTip is a recorded run with its newest operation.
type RunTip struct {
	Run  string
	Ref  git.Ref
	Last OpInfo
}

// RunTips lists recorded runs by the time of their newest operation, newest first, at most
// limit (0: all).
func (s *Store) RunTips(ctx context.Context, limit int) ([]RunTip, error) {
	args := []string{"for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(refname)"}
	if limit > 0 {
		args = append(args, "--count="+strconv.Itoa(limit))
	}
	out, err := s.repo.Git.Run(ctx, nil, append(args, git.RunRefPrefix)...)
	if err != nil {
		return nil, err
	}
	var tips []RunTip
	var oids strings.Builder
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		run := strings.TrimPrefix(name, git.RunRefPrefix)
		if git.BadRunID(run) != "" {
			continue // fsck names it
		}
		tips = append(tips, RunTip{Run: run, Ref: git.Ref{Name: name, OID: git.OID(oid)}})
		oids.WriteString(oid + "\n")
	}
	if len(tips) == 0 {
		return nil, nil
	}
	ops, err := s.readOps(ctx, []byte(oids.String()), "--no-walk=unsorted", "--stdin")
	if err != nil {
		return nil, err
	}
	last := make(map[git.OID]OpInfo, len(ops))
	for _, op := range ops {
		last[op.Op] = op
	}
	for i := range tips {
		tips[i].Last = last[tips[i].Ref.OID]
	}
	return tips, nil
}

// BrokenRuns are the runs whose refs hold no object id, or are symbolic: RunTips has none of them.
func (s *Store) BrokenRuns(ctx context.Context) ([]string, error) {
	refs, err := s.repo.ListRefs(ctx, git.RunRefPrefix)
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
