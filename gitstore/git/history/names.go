// Commits and names of files of the project's own history.

package history

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Ancestry returns the parents of every commit reachable from the tips, leaving out parents that are not in the
// repository; nil when there are more than limit. It starts one git process.
func Ancestry(ctx context.Context, r *git.Repository, tips []object.OID, limit int) (map[object.OID][]object.OID,
	error) {
	var in strings.Builder
	for _, t := range tips {
		in.WriteString(string(t) + "\n")
	}
	out, err := r.Git.Run(ctx, []byte(in.String()), "rev-list", "--parents", "--ignore-missing",
		"--max-count="+strconv.Itoa(limit+1), "--stdin")
	if err != nil {
		return nil, err
	}
	parents := make(map[object.OID][]object.OID)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		list := make([]object.OID, len(f)-1)
		for i := range list {
			list[i] = object.OID(f[i+1])
		}
		parents[object.OID(f[0])] = list
	}
	if len(parents) > limit {
		return nil, nil
	}
	return parents, nil
}

// CommitsOf returns the newest commits reachable from HEAD that changed one of the paths, which are relative to the
// root of the work tree; at most limit. It starts one git process.
func CommitsOf(ctx context.Context, r *git.Repository, paths []string, limit int) ([]object.OID, error) {
	args := []string{"rev-list", "--max-count=" + strconv.Itoa(limit), "HEAD", "--"}
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, append(args, paths...)...)
	if err != nil {
		return nil, err
	}
	var ids []object.OID
	for line := range strings.Lines(string(out)) {
		ids = append(ids, object.OID(strings.TrimSpace(line)))
	}
	return ids, nil
}

// FormerNames returns the names a file had before renames that git can detect, in at most limit commits that
// changed it. It starts one git process.
func FormerNames(ctx context.Context, r *git.Repository, name string, limit int) ([]string, error) {
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, "log", "--follow", "--max-count="+strconv.Itoa(limit),
		"--diff-filter=R", "--format=", "--name-status", "-z", "-M", "HEAD", "--", name)
	if err != nil {
		return nil, err
	}
	var names []string
	// R<similarity>, the old name, the new one.
	for f := strings.Split(string(out), "\x00"); len(f) >= 3; f = f[3:] {
		if !strings.HasPrefix(strings.TrimPrefix(f[0], "\n"), "R") {
			return nil, fail.Errorf(fail.CodeGitFailed, nil, "git log answered %q for a rename",
				git.ClipBytes([]byte(f[0])))
		}
		names = append(names, f[1])
	}
	return names, nil
}
