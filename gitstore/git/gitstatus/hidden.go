// What git status hides because of settings outside the project's own files: flags of the index, and ignore rules
// that are not committed.

package gitstatus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Hidden is what a work tree hides from git status.
type Hidden struct {
	Rules string // digest of the ignore rules outside the project: sha256:<hex>, "none"
	// files that differ from the index but are hidden by one of its flags; relative to the project, sorted
	Flagged []string
}

// NoRules is the value of Hidden.Rules where only the project's own .gitignore files hide untracked files.
const NoRules = "none"

// HiddenOf returns what git status leaves out in the directory projectPrefix: changed tracked files that are
// assume-unchanged or skip-worktree, and the rules of .git/info/exclude and core.excludesFile. A missing file
// outside a sparse checkout has not changed.
func HiddenOf(ctx context.Context, r *git.Repository, projectPrefix string) (*Hidden, error) {
	h := &Hidden{}
	var err error
	if h.Rules, err = ignoreRules(ctx, r); err != nil {
		return nil, err
	}
	if flagged, known := indexFlagged(r); known && !flagged {
		return h, nil
	}
	prefix := strings.Trim(projectPrefix, "/")
	args := []string{"ls-files", "-v", "-z"}
	if prefix != "" {
		args = append(args, "--", prefix)
		prefix += "/"
	}
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	h.Flagged, err = flaggedChanges(ctx, r, prefix, FlaggedEntries(out))
	return h, err
}

// FlaggedEntries parses ls-files -v -z: the paths whose changes git does not look for, with the letter of their
// flag.
func FlaggedEntries(out []byte) map[string]string {
	flagged := make(map[string]string)
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) > 2 && (entry[0] == 'S' || entry[0] >= 'a' && entry[0] <= 'z') {
			flagged[string(entry[2:])] = string(entry[:1])
		}
	}
	return flagged
}

// flaggedChanges returns the flagged paths below prefix whose files differ from the index, without the prefix. git
// compares them with an index of our own, in which no entry has a flag.
func flaggedChanges(ctx context.Context, r *git.Repository, prefix string, flagged map[string]string) ([]string,
	error) {
	var there []string
	for path, flag := range flagged {
		_, err := os.Lstat(filepath.Join(r.TopLevel, filepath.FromSlash(path)))
		if err == nil || !strings.EqualFold(flag, "s") {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	slices.Sort(there)
	entries, err := entriesOf(ctx, r, there)
	if err != nil {
		return nil, err
	}
	own, remove, err := freshIndex(ctx, r, entries)
	if err != nil {
		return nil, err
	}
	defer remove()
	out, err := own.Run(ctx, nil, "diff-files", "--name-only", "-z", "--no-ext-diff",
		r.Git.Submodules())
	if err != nil {
		return nil, err
	}
	var changed []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, ok := slices.BinarySearch(there, name); !ok {
			continue
		}
		if name, ok := strings.CutPrefix(name, prefix); ok {
			changed = append(changed, name)
		}
	}
	return slices.Compact(changed), nil
}

// entriesOf returns the index entries of paths.
func entriesOf(ctx context.Context, r *git.Repository, paths []string) ([]byte, error) {
	entries, err := r.Git.In(r.TopLevel).Run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var own bytes.Buffer
	for entry := range bytes.SplitSeq(entries, []byte{0}) {
		if _, path, ok := bytes.Cut(entry, []byte{'\t'}); ok {
			if _, ok := slices.BinarySearch(paths, string(path)); ok {
				own.Write(entry)
				own.WriteByte(0)
			}
		}
	}
	return own.Bytes(), nil
}

// Unignored lists the untracked files below the directory projectPrefix that the
// project's own .gitignore files do not ignore, whatever other rules hide; sorted.
func Unignored(ctx context.Context, r *git.Repository, projectPrefix string) ([]string, error) {
	dir := filepath.Join(r.TopLevel, filepath.FromSlash(projectPrefix))
	out, err := r.Git.In(dir).Run(ctx, nil, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore")
	if err != nil {
		return nil, err
	}
	names := git.NulNames(out)
	slices.Sort(names)
	return names, nil
}

// ignoreRules hashes the rules that hide untracked files and are outside the project. Comments and empty lines do
// not count.
func ignoreRules(ctx context.Context, r *git.Repository) (string, error) {
	files := []string{filepath.Join(r.CommonDir, "info", "exclude")}
	name, err := r.ExcludesFile(ctx)
	if err != nil {
		return "", err
	}
	if name != "" {
		files = append(files, name)
	}
	sum, any := sha256.New(), false
	for _, name := range files {
		data, err := git.ReadConfigFile(name) // following links, as git does
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil: // git cannot use it either, or it is not a list of rules
			data = []byte(err.Error())
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line = strings.TrimRight(line, "\r"); line != "" && line[0] != '#' {
				any = true
				_, _ = sum.Write([]byte(line + "\n"))
			}
		}
	}
	if !any {
		return NoRules, nil
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
