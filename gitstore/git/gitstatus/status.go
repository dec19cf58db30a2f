// The status of the work tree by git: dirty paths, differences from a commit.

package gitstatus

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// DirtyPath says how a path differs from HEAD. Paths are relative to the project directory, slash-separated, with
// exactly the bytes that git has.
type DirtyPath struct {
	Tracked   bool // known to HEAD or the index
	Staged    bool // the index differs from HEAD
	Deleted   bool // missing from the index or the work tree, and not untracked
	Untracked bool // not in the index and not ignored; a nested repository ends in "/"
	Unmerged  bool // in conflict

	// Submodule is set for a submodule's path; the other fields then say which of its aspects changed.
	Submodule           bool
	SubmoduleCommit     bool // another commit is checked out
	SubmoduleModified   bool // tracked files in it were changed
	SubmoduleNewContent bool // untracked files in it
}

// Status is the state of the project directory at one moment.
type Status struct {
	Head     object.OID           // "" while the branch has no commit
	Branch   string               // short name, "" when HEAD is detached
	Unmerged []string             // paths in conflict, sorted; also in Dirty
	Dirty    map[string]DirtyPath // every path that differs or is untracked
}

// Paths returns the dirty paths sorted by bytes.
func (s *Status) Paths() []string {
	return slices.Sorted(maps.Keys(s.Dirty))
}

// Of runs git status once on the directory projectPrefix, slash-separated and relative to the work tree's root (""
// is all of it; Repository.Prefix is the project). Every failure is an error: a question git could not answer must
// not look like a clean tree.
//
// docs/spec/observation.md#baseline defines the set of paths: changes against HEAD, staged changes, untracked files
// subject to ignore rules; and on an unborn HEAD staged and untracked files. Submodules are examined with
// --ignore-submodules=none, whatever the repository's settings: .gitmodules is a committed file, and "ignore = all"
// in it would hide an actor's changes. Callers that want to ignore build output in a submodule can check for
// SubmoduleNewContent without the other two flags.
func Of(ctx context.Context, r *git.Repository, projectPrefix string) (*Status, error) {
	args := []string{
		"status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all",
		"--no-renames", r.Git.Submodules(),
	}
	prefix := strings.Trim(projectPrefix, "/")
	if prefix != "" {
		args = append(args, "--", prefix)
		prefix += "/"
	}
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	s, err := parse(out, prefix)
	if err != nil {
		return nil, err
	}
	if s.Head != "" && !s.Head.Valid(r.ObjectFormat) {
		return nil, fail.Errorf(fail.CodeGitFailed, nil, "git status names HEAD as %q", s.Head)
	}
	if s.Head == "" {
		if err := r.ShutHead(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parse parses porcelain v2 with -z. Its paths are relative to the work tree's root; those outside prefix are left
// out.
func parse(out []byte, prefix string) (*Status, error) {
	s := &Status{Dirty: make(map[string]DirtyPath)}
	sawHead := false
	for len(out) > 0 {
		rec, rest, ok := bytes.Cut(out, []byte{0})
		if !ok {
			return nil, statusError(rec)
		}
		out = rest
		if len(rec) < 2 || rec[1] != ' ' {
			return nil, statusError(rec)
		}
		var d DirtyPath
		var path string
		switch rec[0] {
		case '#':
			if oid, ok := bytes.CutPrefix(rec, []byte("# branch.oid ")); ok {
				sawHead = true
				if s.Head = object.OID(oid); s.Head == "(initial)" {
					s.Head = ""
				}
			} else if b, ok := bytes.CutPrefix(rec, []byte("# branch.head ")); ok {
				if s.Branch = string(b); s.Branch == "(detached)" {
					s.Branch = ""
				}
			}
			continue // other headers: stash count, upstream
		case '?':
			d, path = DirtyPath{Untracked: true}, string(rec[2:])
		case '!':
			continue
		case '1', '2', 'u':
			fields := map[byte]int{'1': 9, '2': 10, 'u': 11}[rec[0]]
			f := bytes.SplitN(rec, []byte{' '}, fields)
			if len(f) != fields || len(f[1]) != 2 || len(f[2]) != 4 {
				return nil, statusError(rec)
			}
			d, path = trackedPath(rec[0], f[1], f[2]), string(f[fields-1])
			if rec[0] == '2' {
				// --no-renames rules this out; if a git ignores it, the origin is a change of its own.
				orig, rest, ok := bytes.Cut(out, []byte{0})
				if !ok {
					return nil, statusError(rec)
				}
				out = rest
				s.add(prefix, string(orig), DirtyPath{Tracked: true, Staged: true, Deleted: true})
			}
		default:
			return nil, statusError(rec)
		}
		if path == "" {
			return nil, statusError(rec)
		}
		s.add(prefix, path, d)
	}
	if !sawHead {
		return nil, fail.Errorf(fail.CodeGitFailed, nil, "git status did not name HEAD")
	}
	slices.Sort(s.Unmerged)
	return s, nil
}

func trackedPath(kind byte, xy, sub []byte) DirtyPath {
	d := DirtyPath{
		Tracked: true,
		Staged:  xy[0] != '.',
		Deleted: xy[1] == 'D' || xy[0] == 'D',
	}
	if kind == 'u' {
		// XY of a conflict refers to the two sides, not to index and tree.
		d.Staged, d.Deleted, d.Unmerged = true, false, true
	}
	if sub[0] == 'S' {
		d.Submodule = true
		d.SubmoduleCommit = sub[1] == 'C'
		d.SubmoduleModified = sub[2] == 'M'
		d.SubmoduleNewContent = sub[3] == 'U'
	}
	return d
}

// add merges an entry: after `git rm --cached f` the path appears twice, as deleted from the index and as
// untracked.
func (s *Status) add(prefix, path string, d DirtyPath) {
	path, ok := strings.CutPrefix(path, prefix)
	if !ok || path == "" {
		return
	}
	if old, ok := s.Dirty[path]; ok {
		both := d.Untracked || old.Untracked
		d.Tracked = d.Tracked || old.Tracked
		d.Staged = d.Staged || old.Staged
		d.Unmerged = d.Unmerged || old.Unmerged
		d.Deleted = (d.Deleted || old.Deleted) && !both
		d.Untracked = both
	}
	s.Dirty[path] = d
	if d.Unmerged {
		s.Unmerged = append(s.Unmerged, path)
	}
}

func statusError(rec []byte) error {
	return fail.Errorf(fail.CodeGitFailed, nil, "git status answered %.80q, which is not understood", rec)
}

// DiffNames returns the paths that differ between the commit base and the work tree, relative to the project
// directory and limited to it, sorted. Untracked files are not included. A base that is not a commit of this
// repository is the error base_missing, never an empty answer.
func DiffNames(ctx context.Context, r *git.Repository, base object.OID) ([]string, error) {
	out, err := diff(ctx, r, base, "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	names := git.NulNames(out)
	slices.Sort(names)
	return slices.Compact(names), nil // a path in conflict is listed twice
}

// PathChange is how a path differs between a commit and the work tree.
type PathChange struct {
	Path   string
	Status byte // 'A', 'M', 'D', 'T' (type changed) or 'U' (in conflict)
}

// DiffChanges is DiffNames with the kind of each change (docs/spec/observation.md#what-is-observed).
func DiffChanges(ctx context.Context, r *git.Repository, base object.OID) ([]PathChange, error) {
	out, err := diff(ctx, r, base, "--name-status", "-z")
	if err != nil {
		return nil, err
	}
	var changes []PathChange
	f := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(out) == 0 {
		return nil, nil
	}
	if len(f)%2 != 0 {
		return nil, fail.Errorf(fail.CodeGitFailed, nil, "git diff answered half a record")
	}
	for i := 0; i < len(f); i += 2 {
		if len(f[i]) != 1 || len(f[i+1]) == 0 {
			return nil, fail.Errorf(fail.CodeGitFailed, nil, "git diff answered %.80q, which is not understood", f[i])
		}
		changes = append(changes, PathChange{Path: string(f[i+1]), Status: f[i][0]})
	}
	slices.SortFunc(changes, func(a, b PathChange) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

func diff(ctx context.Context, r *git.Repository, base object.OID, format ...string) ([]byte, error) {
	if !base.Valid(r.ObjectFormat) {
		return nil, baseMissing(base, nil)
	}
	// ^{commit} makes git refuse a blob or tree id, and look the commit up at all: an unknown full id would
	// otherwise fail later or not at all.
	rev := string(base) + "^{commit}"
	if base == object.EmptyTree(r.ObjectFormat) {
		rev = string(base)
	}
	args := append(append(slices.Clone(git.DiffArgs), r.Git.Submodules()), format...)
	g, done := r.BesideIndex()
	defer done()
	out, err := g.Run(ctx, nil, append(args, rev, "--")...)
	if err == nil || git.ExitCode(err) < 0 {
		return out, err
	}
	if _, verr := r.Git.Run(ctx, nil, "cat-file", "-e", rev); verr != nil && git.ExitCode(verr) > 0 {
		return nil, baseMissing(base, err)
	}
	return nil, err
}

func baseMissing(base object.OID, cause error) error {
	return fail.Errorf(fail.CodeBaseMissing, cause, "the baseline commit %q is not in this repository", string(base)).
		WithHint("in a shallow clone run git fetch --unshallow; otherwise fetch the branch the turn started from")
}

// IgnoredFiles lists the files in the work tree that git ignores, relative to the work tree's root; whole
// directories end in a slash.
func IgnoredFiles(ctx context.Context, r *git.Repository) ([]string, error) {
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard",
		"--directory")
	if err != nil {
		return nil, err
	}
	return git.NulNames(out), nil
}

// TrackedFiles lists the project's tracked files, project-relative.
func TrackedFiles(ctx context.Context, r *git.Repository) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	return git.NulNames(out), nil
}
