// Questions about commits: ancestry, and what lies between two.

package history

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Ancestor reports whether commit old is tip or an ancestor of tip.
func Ancestor(ctx context.Context, r *git.Repository, old, tip object.OID) (bool, error) {
	if old == tip {
		return true, nil
	}
	if !old.Valid(r.ObjectFormat) || !tip.Valid(r.ObjectFormat) || !r.HasCommit(ctx, old) || !r.HasCommit(ctx, tip) {
		return false, nil
	}
	_, err := r.Git.Run(ctx, nil, "merge-base", "--is-ancestor", string(old), string(tip))
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// MergeBase returns a newest common ancestor, "" for none. Objects that are not commits have none: a remote may
// have anything under the name of a run.
func MergeBase(ctx context.Context, r *git.Repository, a, b object.OID) (object.OID, error) {
	out, err := r.Git.Run(ctx, nil, "merge-base", string(a), string(b))
	if git.ExitCode(err) == 1 || git.ExitCode(err) == 128 && (r.NoCommit(ctx, a) || r.NoCommit(ctx, b)) {
		return "", nil
	}
	return object.OID(strings.TrimSpace(string(out))), err
}

// CommitsBetween counts the commits that tip has and old lacks.
func CommitsBetween(ctx context.Context, r *git.Repository, old, tip object.OID) (int, error) {
	out, err := r.Git.Run(ctx, nil, "rev-list", "--count", string(old)+".."+string(tip))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// ChangedBetween returns the project-relative names of the project's files that differ between two commits.
func ChangedBetween(ctx context.Context, r *git.Repository, old, tip object.OID) ([]string, error) {
	changes, err := ChangesBetween(ctx, r, old, tip)
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Path
	}
	return names, err
}

// ChangesBetween returns how the files of the project differ between two commits, with
// project-relative paths.
func ChangesBetween(ctx context.Context, r *git.Repository, old, tip object.OID) ([]TreeChange, error) {
	if old == tip {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, nil,
		append(append([]string{}, git.DiffArgs...), "--raw", "--no-abbrev", "-z", string(old), string(tip), "--")...)
	if err != nil {
		return nil, err
	}
	return allRaw("diff", out, r.ObjectFormat)
}

// CommitsBeyond lists the commits reachable from tip and from none of the refs that except names, parents before
// children. It starts one git process. more reports that there are more than limit; none are returned then.
func CommitsBeyond(ctx context.Context, r *git.Repository, tip object.OID, limit int,
	except ...string) (list []NewCommit,
	more bool, err error) {
	args := []string{"-c", "trailer.separators=:", "rev-list", "--topo-order", "--reverse",
		fmt.Sprintf("--max-count=%d", limit+1),
		"--format=%P%n%(trailers:only)%x00", string(tip), "--not"}
	out, err := r.Git.Run(ctx, nil, append(args, except...)...)
	if err != nil {
		return nil, false, err
	}
	for rest := string(out); rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, "\x00\n")
		head, one, ok := strings.Cut(one, "\n")
		oid, named := strings.CutPrefix(head, "commit ")
		if !ok || !named || !object.OID(oid).Valid(r.ObjectFormat) {
			return nil, false, fail.Errorf(fail.CodeGitFailed, nil, "git rev-list answered %.80q", head)
		}
		if len(list) == limit {
			return nil, true, nil
		}
		parents, trailers, _ := strings.Cut(one, "\n")
		c := NewCommit{OID: object.OID(oid), Trailers: trailers}
		for p := range strings.FieldsSeq(parents) {
			c.Parents = append(c.Parents, object.OID(p))
		}
		list = append(list, c)
	}
	return list, false, nil
}

// CommitsLeft lists the commits reachable from any of tips and not from tip, newest first. It starts one git process.
func CommitsLeft(ctx context.Context, r *git.Repository, tips []object.OID, tip object.OID) ([]object.OID, error) {
	args := []string{"rev-list"}
	for _, t := range tips {
		args = append(args, string(t))
	}
	out, err := r.Git.Run(ctx, nil, append(args, "--not", string(tip), "--")...)
	if err != nil {
		return nil, err
	}
	var list []object.OID
	for oid := range strings.FieldsSeq(string(out)) {
		list = append(list, object.OID(oid))
	}
	return list, nil
}

// PathCommits lists the newest commits, up to commit, that changed a file against one of their parents, newest
// first.
func PathCommits(ctx context.Context, r *git.Repository, commit object.OID, path string, limit int) ([]object.OID,
	error) {
	out, err := r.Git.Run(ctx, nil, "--literal-pathspecs", "rev-list", "--full-history", "--topo-order",
		fmt.Sprintf("--max-count=%d", limit), string(commit), "--", path)
	if err != nil {
		return nil, err
	}
	var list []object.OID
	for line := range strings.Lines(string(out)) {
		list = append(list, object.OID(strings.TrimSpace(line)))
	}
	return list, nil
}

// NewCommit is a commit that a ref gains.
type NewCommit struct {
	OID     object.OID
	Parents []object.OID
	// Trailers holds the trailers of its message as git separates them, not unfolded.
	Trailers string
}

// CommitChange is a commit's change against one of its parents, or against nothing.
type CommitChange struct {
	Commit  object.OID
	Changes []TreeChange
}

// TreeChange is one path that differs between two trees, or between a tree and the index.
type TreeChange struct {
	Status           byte        // A, D, M, T; U for an unmerged path
	OldMode, NewMode object.Mode // 0 when the path is absent
	OldOID, NewOID   object.OID  // "" when the path is absent
	Path             string
}

// ParseRaw parses the raw differences of diff-index and diff-tree -z, and returns the rest after them.
func ParseRaw(out []byte, format string) (changes []TreeChange, rest []byte, err error) {
	for len(out) > 0 && out[0] == ':' {
		head, after, ok := bytes.Cut(out[1:], []byte{0})
		name, after, ok2 := bytes.Cut(after, []byte{0})
		f := strings.Fields(string(head))
		bad := func() ([]TreeChange, []byte, error) {
			return nil, nil, fail.Errorf(fail.CodeGitFailed, nil, "git answered %q for a difference",
				git.ClipBytes(head))
		}
		if !ok || !ok2 || len(f) != 5 || len(f[4]) == 0 || len(name) == 0 {
			return bad()
		}
		c := TreeChange{Status: f[4][0], Path: string(name)}
		for i, m := range []*object.Mode{&c.OldMode, &c.NewMode} {
			if f[i] == "000000" {
				continue
			}
			if *m, err = object.ParseMode([]byte(f[i])); err != nil {
				return bad()
			}
		}
		for i, o := range []*object.OID{&c.OldOID, &c.NewOID} {
			if !object.OID(f[i+2]).Valid(format) {
				return bad()
			}
			if oid := object.OID(f[i+2]); !oid.IsZero() {
				*o = oid
			}
		}
		changes = append(changes, c)
		out = after
	}
	return changes, out, nil
}

// StagedChanges returns how the index differs from a commit, "" for no commit yet. It uses the index that git tells
// this process to use (GIT_INDEX_FILE), and does not look at the work tree.
func StagedChanges(ctx context.Context, r *git.Repository, commit string) ([]TreeChange, error) {
	if commit == "" {
		commit = string(object.Hash(r.ObjectFormat, object.KindTree, nil))
	}
	out, err := r.Git.Run(ctx, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev",
		"--ignore-submodules=dirty", commit, "--")
	if err != nil {
		return nil, err
	}
	return allRaw("diff-index", out, r.ObjectFormat)
}

// allRaw parses git output that holds nothing but raw differences.
func allRaw(command string, out []byte, format string) ([]TreeChange, error) {
	changes, rest, err := ParseRaw(out, format)
	if err == nil && len(rest) > 0 {
		err = fail.Errorf(fail.CodeGitFailed, nil, "git %s answered %q", command, git.ClipBytes(rest))
	}
	return changes, err
}

// CommitChanges returns what each commit changed against each of its parents, as given in parents; a commit without
// parents is compared with nothing. It starts one git process for all. Commits that are odd in other ways are not
// an error.
func CommitChanges(ctx context.Context, r *git.Repository, commits []object.OID,
	parents map[object.OID][]object.OID) ([]CommitChange, error) {
	var in bytes.Buffer
	var out []CommitChange
	for _, c := range commits {
		for _, p := range parents[c] {
			fmt.Fprintf(&in, "%s %s\n", c, p)
			out = append(out, CommitChange{Commit: c})
		}
		if len(parents[c]) == 0 {
			fmt.Fprintf(&in, "%s\n", c)
			out = append(out, CommitChange{Commit: c})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	// --always: git answers each line with its commit, whether it has differences or not.
	data, err := r.Git.Run(ctx, in.Bytes(), "diff-tree", "--stdin", "--root", "--always", "-r", "--raw", "-z",
		"--no-renames", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	for i := range out {
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || object.OID(head) != out[i].Commit {
			return nil, fail.Errorf(fail.CodeGitFailed, nil, "git diff-tree answered %q where %s was to come",
				git.ClipBytes(head),
				out[i].Commit)
		}
		if out[i].Changes, data, err = ParseRaw(rest, r.ObjectFormat); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Entered returns the commit with which a branch gained commit, an ancestor of its tip: commit itself where the
// branch was once there, else the merge that brought it.
func Entered(ctx context.Context, r *git.Repository, commit, tip object.OID) (object.OID, error) {
	if commit == tip {
		return commit, nil
	}
	out, err := r.Git.Run(ctx, nil, "rev-list", "--first-parent", "--parents", string(tip), "^"+string(commit), "--")
	if err != nil {
		return "", err
	}
	line := strings.Fields(string(out[bytes.LastIndexByte(bytes.TrimRight(out, "\n"), '\n')+1:]))
	if len(line) == 0 || len(line) > 1 && line[1] == string(commit) {
		return commit, nil
	}
	return object.OID(line[0]), nil
}
