// Committing the files of an accepted turn to the project's own history.

package gitstore

import (
	"bytes"
	"context"
	"strings"
)

// TrackedFiles lists the project's tracked files, project-relative.
func (r *Repository) TrackedFiles(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

// CommitPaths commits exactly the given project-relative paths, as they are in
// the work tree, with git's own commit: the repository's hooks, identity and
// signing apply. Whatever else is staged stays staged and uncommitted. It
// returns "" when none of the paths differs from HEAD.
func (r *Repository) CommitPaths(ctx context.Context, paths []string, message string) (OID, error) {
	if len(paths) == 0 {
		return "", nil
	}
	list := []byte(strings.Join(paths, "\x00") + "\x00")
	from := []string{"--pathspec-from-file=-", "--pathspec-file-nul"}
	if _, err := r.Git.Run(ctx, list, append([]string{"add", "-A"}, from...)...); err != nil {
		return "", err
	}
	args := append([]string{"commit", "--quiet", "--only", "--cleanup=verbatim", "-m", message}, from...)
	if _, err := r.Git.Run(ctx, list, args...); err != nil {
		return "", err
	}
	out, err := r.Git.Run(ctx, nil, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", err
	}
	return OID(strings.TrimSpace(string(out))), nil
}
