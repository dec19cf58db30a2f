// Merging one file three ways, by git's own rules.

package git

import (
	"context"
	"os"
	"path/filepath"
)

// MergeFile merges the changes from base to theirs into ours, as git merge-file does; clean is false when both
// change the same lines or a file is binary, and merged is nil then. It neither reads nor writes the work tree.
func (r *Repository) MergeFile(ctx context.Context, ours, base, theirs []byte) (merged []byte, clean bool, err error) {
	dir, err := os.MkdirTemp("", "agentxchain-merge-")
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{"merge-file", "-p", "-q"}
	for i, data := range [][]byte{ours, base, theirs} {
		name := filepath.Join(dir, []string{"ours", "base", "theirs"}[i])
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, false, err
		}
		args = append(args, name)
	}
	merged, err = r.Git.Run(ctx, nil, args...)
	// The status is the number of conflicts; 255 is an error, such as a binary file.
	if code := ExitCode(err); err != nil && code > 0 {
		return nil, false, nil
	}
	return merged, err == nil, err
}
