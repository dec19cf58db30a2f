// Changes of a commit of the project's own history, as text for people.

package history

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// FileStat is a file changed by a commit. Added and Removed count lines, -1 for a file that is not Textual.
type FileStat struct {
	Path, From     string // From is the former name of a renamed file, else ""
	Added, Removed int
}

// CommitDiff returns what the commit changed against its first parent below the project's directory: the files, and
// the patch unless it is longer than limit bytes (then cut is true and patch nil). It runs no program of the
// repository's configuration: neither text conversions nor external diffs.
//
// Errors: not_found when commit is not a commit here, git_failed.
func CommitDiff(ctx context.Context, r *git.Repository, commit string, limit int64) (files []FileStat, patch []byte,
	cut bool, err error) {
	if err := knownCommit(ctx, r, commit); err != nil {
		return nil, nil, false, err
	}
	args := []string{"diff-tree", "-r", "--root", "-M", "--no-commit-id", "--diff-merges=first-parent",
		"--no-ext-diff", "--no-textconv", "--no-color", "--relative"}
	out, err := r.Git.Run(ctx, nil, append(args, "-z", "--numstat", commit, "--")...)
	if err != nil {
		return nil, nil, false, err
	}
	args = append(args, commit, "--")
	patch, cut, err = patchOf(ctx, r, limit, args)
	if err != nil {
		return nil, nil, false, err
	}
	return uncover(ctx, r, args, numstat(out), patch, cut, limit)
}

// knownCommit refuses ids that are not commits of this repository.
func knownCommit(ctx context.Context, r *git.Repository, commit string) error {
	if commit == "" || strings.Trim(commit, "0123456789abcdef") != "" || len(commit) < 4 || len(commit) > 64 {
		return fail.Errorf("not_found", nil, "%q is not a commit id", commit)
	}
	_, err := r.Git.Run(ctx, nil, "cat-file", "-e", commit+"^{commit}")
	if git.ExitCode(err) >= 0 {
		return fail.Errorf("not_found", nil, "commit %s is not in this repository", commit)
	}
	return err
}

// patchOf runs a git that prints a patch; it drops one longer than limit bytes.
func patchOf(ctx context.Context, r *git.Repository, limit int64, args []string) (patch []byte, cut bool, err error) {
	git := r.Git.In(r.Git.Dir)
	git.MaxOutput = limit
	args = append([]string{args[0], "-p", "--src-prefix=a/", "--dst-prefix=b/"}, args[1:]...)
	patch, err = git.Run(ctx, nil, args...)
	if fail.CodeOf(err) == fail.CodeOutputTooLarge {
		return nil, true, nil
	}
	return patch, false, err
}

// WorkDiff is CommitDiff between a commit and the named project-relative files in the work tree. It skips files
// that git does not know and does not refresh the index. Names beyond the capacity of one process are left out
// (cut).
func WorkDiff(ctx context.Context, r *git.Repository, commit string, names []string, limit int64) (files []FileStat,
	patch []byte, cut bool, err error) {
	if len(names) == 0 {
		return nil, nil, false, nil
	}
	if err := knownCommit(ctx, r, commit); err != nil {
		return nil, nil, false, err
	}
	names, left := git.FitArguments(names)
	args := []string{"diff", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--relative"}
	rest := append([]string{commit, "--"}, names...)
	out, err := r.Git.Run(ctx, nil, slices.Concat(args, []string{"-z", "--numstat"}, rest)...)
	if err != nil {
		return nil, nil, false, err
	}
	patch, cut, err = patchOf(ctx, r, limit, slices.Concat(args, rest))
	if err != nil {
		return nil, nil, false, err
	}
	files, patch, cut, err = uncover(ctx, r, append(args, commit, "--"), numstat(out), patch, cut, limit)
	return files, patch, cut || len(left) > 0, err
}

// numstat parses "added TAB removed TAB path NUL", and for a renamed file an empty path followed by both names.
func numstat(out []byte) []FileStat {
	var files []FileStat
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	for i := 0; i < len(fields); i++ {
		parts := strings.SplitN(string(fields[i]), "\t", 3)
		if len(parts) != 3 {
			continue
		}
		f := FileStat{Path: parts[2], Added: statCount(parts[0]), Removed: statCount(parts[1])}
		if f.Path == "" && i+2 < len(fields) {
			f.From, f.Path = string(fields[i+1]), string(fields[i+2])
			i += 2
		}
		files = append(files, f)
	}
	return files
}

func statCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// FilesAt returns which of the named project-relative files a commit holds. Names beyond the capacity of one
// process are left out.
//
// Errors: not_found when commit is not a commit here, git_failed.
func FilesAt(ctx context.Context, r *git.Repository, commit string, names []string) ([]string, error) {
	names, _ = git.FitArguments(names)
	out, err := r.Git.Run(ctx, nil, append([]string{"ls-tree", "-z", "--name-only", commit, "--"}, names...)...)
	if err != nil {
		if git.ExitCode(err) >= 0 {
			return nil, fail.Errorf("not_found", err, "commit %s cannot be read", commit)
		}
		return nil, err
	}
	return git.NulNames(out), nil
}
