// Committing files of the work tree to the project's own history.

package gitcommit

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// As says how a commit and its hooks are started.
type As struct {
	Environ []string // additional variables
	// Status is a fresh status of the work tree that includes all of the paths; when it is nil, git is asked which
	// of them it does not know.
	Status *gitstatus.Status
}

// Paths commits exactly the given project-relative paths, as they are in the work tree, with git's own commit: the
// repository's hooks, identity and signing apply. Anything else that is staged stays staged and uncommitted. When
// git refuses, the index is unchanged. Paths returns the new HEAD, with everything it holds durable; or the current
// HEAD if an interrupted command had already made the same commit.
func Paths(ctx context.Context, r *git.Repository, paths []string, message string) (object.OID, error) {
	oid, _, err := PathsAs(ctx, r, paths, message, As{})
	return oid, err
}

// PathsAs is Paths with marked processes, including hooks. after is the status of the work tree after the commit,
// derived from as.Status: nil when a new status is needed.
func PathsAs(ctx context.Context, r *git.Repository, paths []string, message string, as As) (oid object.OID,
	after *gitstatus.Status, err error) {
	if len(paths) == 0 {
		return "", as.Status, nil
	}
	hooks, err := r.HooksDir(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := refuseUnfiltered(ctx, r, paths); err != nil {
		return "", nil, err
	}
	for began := time.Now(); ; time.Sleep(indexPause) {
		oid, after, err = commitUnderNote(ctx, r, hooks, paths, message, as)
		waited := time.Since(began)
		if !indexHeld(err) || ctx.Err() != nil || waited > indexWait && (waited > commitWait || !r.Committing()) {
			return oid, after, err
		}
		as.Status = nil // another commit may have changed it
	}
}

const (
	// indexWait bounds how long a commit waits for another git that has the index, commitWait how long for the commit of
	// another project in the same work tree, with the hooks that this starts.
	indexWait  = 2 * time.Second
	commitWait = 5 * time.Minute
	indexPause = 50 * time.Millisecond
)

// indexHeld reports whether git failed because another git had the index, or committed first.
func indexHeld(err error) bool {
	said := git.ComplaintOf(err)
	return strings.Contains(said, "index.lock': File exists") ||
		strings.Contains(said, "cannot lock ref 'HEAD': is at ")
}

// commitUnderNote makes the commit under a note of its locks.
func commitUnderNote(ctx context.Context, r *git.Repository, hooks string, paths []string, message string,
	as As) (oid object.OID, after *gitstatus.Status, err error) {
	before := r.Head(ctx)
	err = r.UnderNote(&git.LockNote{
		LockOwner: git.NewOwner("commit"),
		Locks:     r.CommitLocks(),
		Commit:    r.UnderCommit(before, paths),
	}, func(mark func(*git.Git) *git.Git) (err error) {
		for try := range commitTries {
			if try > 0 {
				before = r.Head(ctx) // a person may have committed in the meantime
			}
			var made object.OID
			made, after, err = commitPaths(ctx, r, mark, hooks, before, paths, message, as)
			switch {
			case made != "" && fail.CodeOf(err) == fail.CodeObjectMissing:
				if berr := takeBack(ctx, r, mark(r.Git), made, before, paths); berr != nil {
					return errors.Join(err, berr)
				}
			case !prunedWhileWriting(err):
				oid = made
				return err
			}
		}
		return err
	})
	return oid, after, err
}

// refuseUnfiltered refuses files with a filter that our gits do not start: the commit would contain what the filter
// keeps out of the history, such as secrets in the clear.
func refuseUnfiltered(ctx context.Context, r *git.Repository, paths []string) error {
	files, driver, err := gitstatus.Unfiltered(ctx, r.Git, r, paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return nil
	}
	more := ""
	if n := len(files) - 1; n > 0 {
		more = " and " + text.Count(n, "file", "files") + " more"
	}
	return fail.Errorf(fail.CodeFilterNotRun, nil,
		"%s%s would be committed without the filter %s: only this repository configures it, so this program does not run it",
		files[0], more, driver).
		WithHint("read what it runs (git config --get-regexp %s); if it is yours, set it with git config --global, "+
			"or commit with git yourself; then again", "'^filter'")
}

// commitTries is how often to try a commit whose objects git's housekeeping removes before they can be held.
const commitTries = 20

// commitPaths makes the commit once. If it returns an id the commit was made, and the error says what is wrong with
// it. after is as for PathsAs.
func commitPaths(ctx context.Context, r *git.Repository, mark func(*git.Git) *git.Git, hooks string, before object.OID,
	paths []string, message string, as As) (oid object.OID, after *gitstatus.Status, err error) {
	committer, seen := r.Git.WithHooks(hooks, as.Environ...), as.Status
	all := paths
	paths, gone := replaced(r, all)
	// This only helps: a lost object is detected, and the commit repeated.
	asIs, alone := r.CommittedAsIs()
	held, err := holdPaths(ctx, r, committer, before, paths, seen, asIs)
	if err != nil {
		held = &heldPaths{release: func() {}}
	}
	defer held.release()
	fresh, err := untracked(ctx, r, paths, seen)
	if err != nil {
		return "", nil, err
	}
	from := []string{"--pathspec-from-file=-", "--pathspec-file-nul"}
	run := func(ctx context.Context, by *git.Git, paths []string, args ...string) error {
		_, err := mark(by).Run(ctx, git.NulTerminated(paths), slices.Concat(args, from)...)
		return err
	}
	if len(fresh) > 0 {
		// git commits by name only paths in the index.
		err := run(ctx, r.Git, fresh, "add", "--intent-to-add")
		if outsideSparse(err) {
			err = run(ctx, r.Git, fresh, "add", "--sparse", "--intent-to-add")
		}
		if err != nil {
			return "", nil, commitRefused(err)
		}
	}
	faults.Point("checkpoint.added")
	made := true
	if err := run(ctx, committer, paths, "commit", "--quiet", "--only", "--cleanup=verbatim", "-m",
		message); err != nil {
		if oid := lostHead(ctx, r, before); oid != "" {
			return oid, nil, fail.Errorf(fail.CodeObjectMissing, err, "the commit %s was removed while git made it", oid)
		}
		// Ask while the new paths are in the index: git diff ignores all others.
		already := git.ExitCode(err) == 1 && committed(ctx, r, paths)
		if len(fresh) > 0 {
			// Also after an interruption: these entries are ours, not the person's.
			_ = run(context.WithoutCancel(ctx), r.Git, append(fresh, gone...), "reset", "--quiet")
		}
		if !already {
			return "", nil, commitRefused(err)
		}
		// Only the index is behind, as after a kill between the two.
		made = false
		if err := run(ctx, r.Git, all, "reset", "--quiet"); err != nil {
			return "", nil, err
		}
	}
	faults.Point("checkpoint.committed")
	oid = r.Head(ctx)
	if oid == "" {
		return "", nil, fail.Errorf(fail.CodeGitFailed, nil, "git has made a commit, but HEAD does not name it").
			WithHint("run git fsck")
	}
	if made {
		err = Keep(ctx, r, oid, held.ids)
	} else if err = Sync(ctx, r, oid); err != nil {
		return "", nil, err
	}
	switch {
	case !made || err != nil:
	case alone && noHooks(hooks):
		if held.tree != "" {
			after = afterCommit(ctx, r, oid, held.tree, all, seen)
		}
	case !hasTree(ctx, r, oid, held.tree):
		// A hook that formats what is committed changes the index of the commit alone: git puts the paths into the
		// person's index before it runs hooks. Then every path would differ from the commit.
		_ = run(ctx, r.Git, all, "reset", "--quiet")
	}
	return oid, after, err
}

// hasTree reports that a commit has the tree that was predicted for it.
func hasTree(ctx context.Context, r *git.Repository, oid, tree object.OID) bool {
	is, _, err := newTrees(r, "").treeOf(ctx, oid)
	return err == nil && is == tree
}

// replaced splits off the paths where a directory has replaced a file, if other paths are in that directory.
// Committing those removes the file; git refuses the file's own name.
func replaced(r *git.Repository, all []string) (paths, gone []string) {
	above := make(map[string]bool)
	for _, p := range all {
		for d := path.Dir(p); d != "." && !above[d]; d = path.Dir(d) {
			above[d] = true
		}
	}
	for _, p := range all {
		if above[p] {
			if fi, err := os.Lstat(filepath.Join(r.ProjectDir, filepath.FromSlash(p))); err == nil && fi.IsDir() {
				gone = append(gone, p)
				continue
			}
		}
		paths = append(paths, p)
	}
	return paths, gone
}

// outsideSparse reports whether git add refused files because they are outside the sparse checkout. A git that does
// so knows --sparse.
func outsideSparse(err error) bool { return strings.Contains(git.ComplaintOf(err), "sparse-checkout") }

// lostHead returns the commit that HEAD was moved to but the repository lacks, "" for none: git moves the branch
// first, and may fail afterwards because housekeeping removed the commit. A missing commit that HEAD named before
// is not ours to undo.
func lostHead(ctx context.Context, r *git.Repository, before object.OID) object.OID {
	oid := r.Head(ctx)
	if oid == "" || oid == before || r.HasCommit(ctx, oid) || ctx.Err() != nil {
		return ""
	}
	return oid
}

// committed reports whether HEAD holds the paths as they are in the work tree. They must be in the index.
func committed(ctx context.Context, r *git.Repository, paths []string) bool {
	g, done := r.BesideIndex()
	defer done()
	for len(paths) > 0 {
		var some []string
		some, paths = git.FitArguments(paths)
		args := []string{"diff", "--no-ext-diff", "--no-textconv", "--quiet", "HEAD", "--"}
		if _, err := g.Run(ctx, nil, append(args, some...)...); err != nil {
			return false
		}
	}
	return true
}

// commitRefused adds a hint and git's whole output to the error of a refused commit.
func commitRefused(err error) error {
	var e *fail.Error
	var ge *git.GitError
	if !errors.As(err, &e) || !errors.As(err, &ge) || e.Hint != "" {
		return err
	}
	e.Err = refusedCommit{ge}
	switch {
	case strings.Contains(ge.Stderr, "ident"):
		return e.WithHint("git config user.name NAME, and git config user.email ADDRESS, then try again")
	case strings.Contains(ge.Stderr, ".lock': File exists"):
		return e.WithHint("git agentxchain doctor says whether a git is at work or has left its lock; then try again")
	}
	return e.WithHint("fix what it reports and try again, or commit the files yourself (git status names them)")
}

// refusedCommit is the error of a refused commit. A hook of the project may give its reasons in many lines.
type refusedCommit struct{ *git.GitError }

func (e refusedCommit) Unwrap() error { return e.GitError }

// Error ends with what a guard says, else with the last line of the output: a hook usually prints its own name
// first. Where git could not sign, its last line only says that there is no commit.
func (e refusedCommit) Error() string {
	short := *e.GitError
	if lines := e.ErrorFindings(); lines != nil {
		short.Stderr = lines[len(lines)-1]
		if strings.HasSuffix(short.Stderr, "failed to write commit object") {
			short.Stderr = lines[len(lines)-2]
		}
		for _, line := range lines {
			if ours, ok := strings.CutPrefix(line, "agentxchain: "); ok {
				short.Stderr = ours
				break
			}
		}
	}
	return short.Error()
}

// refusalLines is how many lines of a refusal are shown: the last ones, where the verdict is.
const refusalLines = 20

// ErrorFindings returns the lines of the output, nil where the message contains them all.
func (e refusedCommit) ErrorFindings() (lines []string) {
	for line := range strings.Lines(e.Stderr) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 {
		return nil
	}
	return lines[max(0, len(lines)-refusalLines):]
}

// untracked lists the untracked, unignored files at or below the paths. seen is As.Status.
func untracked(ctx context.Context, r *git.Repository, paths []string, seen *gitstatus.Status) ([]string, error) {
	var found []string
	if seen != nil {
		for _, p := range paths {
			if seen.Dirty[p].Untracked {
				found = append(found, p)
			}
		}
		return found, nil
	}
	for len(paths) > 0 {
		var some []string
		some, paths = git.FitArguments(paths)
		args := []string{"ls-files", "-z", "--others", "--exclude-standard", "--"}
		out, err := r.Git.Run(ctx, nil, append(args, some...)...)
		if err != nil {
			return nil, err
		}
		found = append(found, git.NulNames(out)...)
	}
	return found, nil
}
