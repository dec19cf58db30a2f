package gitcommit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestLostHeadOfOthers checks that a commit is refused on a branch that already names a missing commit, and the
// branch stays where it is.
func TestLostHeadOfOthers(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Head(t.Context()), tr.Git("rev-parse", "HEAD"); got != object.OID(want) {
			t.Errorf("HEAD is %s, expected %s", got, want)
		}
		tr.Write("lost.txt", "lost\n")
		lost := tr.CommitAll("lost")
		if err := os.Remove(filepath.Join(r.CommonDir, "objects", lost[:2], lost[2:])); err != nil {
			t.Fatal(err)
		}
		tr.Write("a.txt", "changed\n")
		if oid, err := Paths(t.Context(), r, []string{"a.txt"}, "checkpoint"); err == nil {
			t.Errorf("a commit on a missing one: expected a refusal, got %s", oid)
		}
		if got := tr.Git("rev-parse", "HEAD"); got != lost {
			t.Errorf("the branch is at %s, expected it where it was, %s", got, lost)
		}
	})
}

// TestLockIsWaitedFor holds the lock of HEAD for a moment, as housekeeping does; git gives up after a tenth of a
// second.
func TestLockIsWaitedFor(t *testing.T) {
	testrepo.Thorough(t)
	tr := testrepo.New(t, testrepo.Options{})
	r, err := git.Discover(t.Context(), tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(r.GitDir, "HEAD.lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	time.AfterFunc(time.Second, func() { released <- os.Remove(lock) })
	tr.Write("a.txt", "changed\n")
	oid, err := Paths(t.Context(), r, []string{"a.txt"}, "checkpoint")
	if err != nil || string(oid) != tr.Git("rev-parse", "HEAD") {
		t.Errorf("%q, %v", oid, err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
}

// killedCommit has git commit two paths like a process of ours that was killed: its note is still there.
func killedCommit(t *testing.T, tr *testrepo.Repo, r *git.Repository, text string) (before, made string) {
	t.Helper()
	before = tr.Git("rev-parse", "HEAD")
	tr.Write("staged.txt", "of the person\n")
	tr.Git("add", "staged.txt")
	tr.Write("a.txt", text)
	tr.Write("new.txt", text)
	paths := []string{"a.txt", "new.txt"}
	n := &git.LockNote{
		LockOwner: git.NewOwner("commit"),
		Locks:     r.CommitLocks(),
		Commit:    r.UnderCommit(object.OID(before), paths),
	}
	killed := exec.Command("true")
	if err := killed.Run(); err != nil {
		t.Fatal(err)
	}
	n.PID, n.Started, n.Acquired, n.Name = killed.Process.Pid, "some boot:1", time.Now(), n.Token
	if err := r.WriteLockNote(n); err != nil {
		t.Fatal(err)
	}
	tr.Git("add", "--intent-to-add", "new.txt")
	tr.Git("commit", "-q", "--only", "-m", "checkpoint", "--", "a.txt", "new.txt")
	return before, tr.Git("rev-parse", "HEAD")
}

// removeLoose removes an object, as git prune does.
func removeLoose(t *testing.T, r *git.Repository, oid string) {
	t.Helper()
	if err := os.Remove(filepath.Join(r.ObjectsDir, oid[:2], oid[2:])); err != nil {
		t.Fatal(err)
	}
}

// TestKilledCommitIsSettled checks that a killed command's commit is taken back if housekeeping removed it and
// packed if it is there, and that a person's later commits stay.
func TestKilledCommitIsSettled(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		notes := func(want int) {
			t.Helper()
			if got := len(r.LockNotes()); got != want {
				t.Errorf("%d notes, expected %d", got, want)
			}
		}
		before, lost := killedCommit(t, tr, r, "first\n")
		removeLoose(t, r, lost)
		notices := r.SweepLocks(t.Context(), Settle)
		if len(notices) != 1 || !strings.Contains(notices[0], "took commit "+lost[:10]) {
			t.Errorf("notices: %q", notices)
		}
		notes(0)
		if got := tr.Git("rev-parse", "HEAD"); got != before {
			t.Errorf("the branch is at %s, expected %s", got, before)
		}
		if got := tr.Git("status", "--porcelain"); got != " M a.txt\nA  staged.txt\n?? new.txt" {
			t.Errorf("status: %q", got)
		}
		if got := tr.Git("reflog", "show", "--format=%H %gs"); strings.Contains(got, lost) ||
			strings.Contains(got, "checkpoint") {
			t.Errorf("reflog: %s", got)
		}
		tr.Fsck()
		tr.Git("reset", "-q")

		_, there := killedCommit(t, tr, r, "second\n")
		if notices := r.SweepLocks(t.Context(), Settle); len(notices) > 0 {
			t.Errorf("notices of a commit that is there: %q", notices)
		}
		notes(0)
		removeLoose(t, r, there)
		if got := tr.Git("rev-parse", "HEAD^{commit}"); got != there {
			t.Errorf("the branch is at %s, expected %s", got, there)
		}
		tr.Fsck()

		// Another commit was built on an existing one: both are packed.
		_, below := killedCommit(t, tr, r, "built upon\n")
		tr.Write("b.txt", "on top\n")
		top := tr.CommitAll("on top")
		if notices := r.SweepLocks(t.Context(), Settle); len(notices) > 0 {
			t.Errorf("notices of a commit that another is built on: %q", notices)
		}
		notes(0)
		removeLoose(t, r, below)
		removeLoose(t, r, top)
		removeLoose(t, r, tr.Git("rev-parse", below+":a.txt"))
		tr.Fsck()

		// A person continued from it: the branch is no longer where the killed git had moved it.
		_, gone := killedCommit(t, tr, r, "third\n")
		tr.Write("b.txt", "of a person\n")
		later := tr.CommitAll("of a person")
		removeLoose(t, r, gone)
		if notices := r.SweepLocks(t.Context(), Settle); len(notices) > 0 {
			t.Errorf("notices of a commit that a person has built on: %q", notices)
		}
		if got := tr.Git("rev-parse", "HEAD"); got != later {
			t.Errorf("the branch is at %s, expected it where the person left it, %s", got, later)
		}
	})
}

// TestKilledCommitOfAnotherWorkTree leaves a commit to a command in its own work tree.
func TestKilledCommitOfAnotherWorkTree(t *testing.T) {
	tr := testrepo.New(t, testrepo.Options{})
	r, err := git.Discover(t.Context(), tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "second")
	tr.Git("worktree", "add", "-q", "-b", "second", dir)
	other, err := git.Discover(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before, lost := killedCommit(t, tr, r, "fourth\n")
	removeLoose(t, r, lost)
	if notices := other.SweepLocks(t.Context(), Settle); len(notices) > 0 || len(r.LockNotes()) != 1 {
		t.Errorf("from the other work tree: %q, %d notes", notices, len(r.LockNotes()))
	}
	if got := tr.Git("rev-parse", "HEAD"); got != lost {
		t.Errorf("the branch was moved from another work tree, to %s", got)
	}
	if notices := r.SweepLocks(t.Context(), Settle); len(notices) != 1 || len(r.LockNotes()) != 0 {
		t.Errorf("from its own: %q, %d notes", notices, len(r.LockNotes()))
	}
	if got := tr.Git("rev-parse", "HEAD"); got != before {
		t.Errorf("the branch is at %s, expected %s", got, before)
	}
	// An existing commit can be packed from any work tree.
	_, there := killedCommit(t, tr, r, "fifth\n")
	if notices := other.SweepLocks(t.Context(), Settle); len(notices) > 0 || len(r.LockNotes()) != 0 {
		t.Errorf("from the other work tree: %q, %d notes", notices, len(r.LockNotes()))
	}
	removeLoose(t, r, there)
	tr.Fsck()
}

// TestTakenBackWithoutLog checks that without reflogs the note says where the branch was.
func TestTakenBackWithoutLog(t *testing.T) {
	tr := testrepo.New(t, testrepo.Options{})
	tr.Git("config", "core.logAllRefUpdates", "false")
	r, err := git.Discover(t.Context(), tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.CommonDir, "logs")); err != nil {
		t.Fatal(err)
	}
	before, lost := killedCommit(t, tr, r, "first\n")
	removeLoose(t, r, lost)
	if notices := r.SweepLocks(t.Context(), Settle); len(notices) != 1 || len(r.LockNotes()) != 0 {
		t.Errorf("notices %q, %d notes", notices, len(r.LockNotes()))
	}
	if got := tr.Git("rev-parse", "HEAD"); got != before {
		t.Errorf("the branch is at %s, expected %s", got, before)
	}
	if got := tr.Git("status", "--porcelain"); got != " M a.txt\nA  staged.txt\n?? new.txt" {
		t.Errorf("status: %q", got)
	}
	tr.Fsck()
}

// TestUndo takes a commit back with its files: new files are removed, existing ones restored, and what a person has
// changed since, or staged besides, stays.
func TestUndo(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		tr.Write("a.txt", "before\n")
		tr.Write("b.txt", "before\n")
		before := tr.CommitAll("before")
		tr.Write("staged.txt", "of the person\n")
		tr.Git("add", "staged.txt")
		tr.Write("a.txt", "after\n")
		tr.Write("b.txt", "after\n")
		tr.Write("new.txt", "new\n")
		paths := []string{"a.txt", "b.txt", "new.txt"}
		oid, err := Paths(t.Context(), r, paths, "to be taken back")
		if err != nil {
			t.Fatal(err)
		}
		tr.Write("b.txt", "of the person\n")
		m := &Made{Commit: oid, Before: object.OID(before), Paths: paths}
		if err := Undo(t.Context(), r, m); err != nil {
			t.Fatal(err)
		}
		if got := tr.Git("rev-parse", "HEAD"); got != before {
			t.Errorf("the branch is at %s, expected %s", got, before)
		}
		if got, want := tr.Git("status", "--porcelain"), " M b.txt\nA  staged.txt"; got != want {
			t.Errorf("status: %q, expected %q", got, want)
		}
		for name, want := range map[string]string{"a.txt": "before\n", "b.txt": "of the person\n"} {
			if got, err := os.ReadFile(filepath.Join(tr.Dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v; expected %q", name, got, err, want)
			}
		}
		// A branch that has moved on stays.
		later := tr.CommitAll("later")
		if err := Undo(t.Context(), r, m); err != nil || tr.Git("rev-parse", "HEAD") != later {
			t.Errorf("%v, the branch is at %s, expected %s", err, tr.Git("rev-parse", "HEAD"), later)
		}
		tr.Fsck()
	})
}

// TestHookEmptiesMessage: git then commits nothing, with the same exit status as when there is nothing to commit.
// Neither untracked nor tracked files may count as committed.
func TestHookEmptiesMessage(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		tr.Write("a.txt", "before\n")
		before := tr.CommitAll("before")
		hook := filepath.Join(r.CommonDir, "hooks", "commit-msg")
		if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hook, []byte("#!/bin/sh\n: >\"$1\"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		tr.Write("a.txt", "after\n")
		tr.Write("new.txt", "new\n")
		for _, paths := range [][]string{{"new.txt"}, {"a.txt", "new.txt"}, {"a.txt"}} {
			if oid, err := Paths(t.Context(), r, paths, "checkpoint"); err == nil {
				t.Errorf("%v: expected git's refusal, got %s", paths, oid)
			}
			if got := tr.Git("rev-parse", "HEAD"); got != before {
				t.Errorf("%v: the branch is at %s, expected %s", paths, got, before)
			}
			if got, want := tr.Git("status", "--porcelain"), " M a.txt\n?? new.txt"; got != want {
				t.Errorf("%v: status %q, expected %q", paths, got, want)
			}
		}
		if err := os.Remove(hook); err != nil {
			t.Fatal(err)
		}
		// After a kill that follows the move of the branch, only the index needs repair.
		paths := []string{"a.txt", "new.txt"}
		oid, err := Paths(t.Context(), r, paths, "checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		tr.Git("read-tree", before)
		again, err := Paths(t.Context(), r, paths, "checkpoint")
		if err != nil || again != oid {
			t.Errorf("committed once more: %s, %v; expected %s", again, err, oid)
		}
		if got := tr.Git("status", "--porcelain"); got != "" {
			t.Errorf("the index is behind: %q", got)
		}
	})
}

// TestCommittedLeavesTheIndex asks whether files are committed while the index is locked, including a file with a
// new time and its old contents.
func TestCommittedLeavesTheIndex(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(r.GitDir, "index")
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".lock", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(tr.Dir, "a.txt"), later, later); err != nil {
			t.Fatal(err)
		}
		if !committed(t.Context(), r, []string{"a.txt"}) {
			t.Error("an unchanged file counts as not committed")
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the index was written (%v)", err)
		}
		if err := os.Remove(name + ".lock"); err != nil {
			t.Errorf("the lock of another git: %v", err)
		}
	})
}

// TestKilledBeforeTheIndexFollows: git moves the branch first and then the index. A kill in between leaves the old
// contents staged, and the person's next commit would bring them back.
func TestKilledBeforeTheIndexFollows(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		before, made := killedCommit(t, tr, r, "first\n")
		tr.Git("read-tree", before)
		tr.Git("add", "staged.txt")
		tr.Git("add", "--intent-to-add", "new.txt")
		if notices := r.SweepLocks(t.Context(), Settle); len(notices) > 0 || len(r.LockNotes()) > 0 {
			t.Errorf("notices %q, %d notes left", notices, len(r.LockNotes()))
		}
		if head, got := tr.Git("rev-parse", "HEAD"), tr.Git("status", "--porcelain"); head != made || got != "A  staged.txt" {
			t.Errorf("at %s with %q; expected %s with staged.txt alone", head, got, made)
		}
		// What a person has staged in the same files since stays.
		before, _ = killedCommit(t, tr, r, "second\n")
		tr.Git("read-tree", before)
		tr.Write("a.txt", "of the person\n")
		tr.Git("add", "a.txt")
		r.SweepLocks(t.Context(), Settle)
		if got := tr.Git("show", ":a.txt"); got != "of the person" {
			t.Errorf("staged of a.txt: %q", got)
		}
	})
}

// TestPowerCutInACommit: git commit --only syncs neither the index nor the directory of the commit it writes, so
// index, branch and logs may each be there, lost or truncated.
func TestPowerCutInACommit(t *testing.T) {
	cut := func(t *testing.T, half bool, files ...string) {
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			left := make([]byte, len(data))
			if half {
				left = data[:len(data)-20]
			}
			if err := os.WriteFile(f, left, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	branch := func(t *testing.T, r *git.Repository, oid string) {
		if err := os.WriteFile(filepath.Join(r.CommonDir, "refs", "heads", "main"), []byte(oid+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	logs := func(r *git.Repository) []string {
		return []string{filepath.Join(r.GitDir, "logs", "HEAD"), filepath.Join(r.CommonDir, "logs", "refs", "heads", "main")}
	}
	for name, c := range map[string]struct {
		there  bool // the commit
		notice string
		cut    func(t *testing.T, r *git.Repository, before, made string)
	}{
		"zeros for the index": {there: true, notice: "the index was not whole", cut: func(t *testing.T, r *git.Repository, _, _ string) {
			cut(t, false, filepath.Join(r.GitDir, "index"))
		}},
		"no index": {there: true, notice: "the index was not whole", cut: func(t *testing.T, r *git.Repository, _, _ string) {
			if err := os.Remove(filepath.Join(r.GitDir, "index")); err != nil {
				t.Fatal(err)
			}
		}},
		"a part of the index, and the rest lost": {notice: "the index was not whole",
			cut: func(t *testing.T, r *git.Repository, before, made string) {
				cut(t, true, filepath.Join(r.GitDir, "index"))
				removeLoose(t, r, made)
				branch(t, r, before)
			}},
		"logs that name a lost commit": {cut: func(t *testing.T, r *git.Repository, before, made string) {
			cut(t, true, filepath.Join(r.GitDir, "index"))
			removeLoose(t, r, made)
			branch(t, r, before)
		}, notice: "the index was not whole"},
		"a part of the last move in the logs": {cut: func(t *testing.T, r *git.Repository, before, made string) {
			cut(t, true, append(logs(r), filepath.Join(r.GitDir, "index"))...)
			removeLoose(t, r, made)
			branch(t, r, before)
		}, notice: "the index was not whole"},
		"a branch at a lost commit of which the logs say nothing": {cut: func(t *testing.T, r *git.Repository, _, made string) {
			cut(t, false, filepath.Join(r.GitDir, "index"))
			removeLoose(t, r, made)
			for _, log := range logs(r) {
				data, err := os.ReadFile(log)
				if err != nil {
					t.Fatal(err)
				}
				at := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
				if err := os.WriteFile(log, data[:at], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}, notice: "took commit"},
	} {
		t.Run(name, func(t *testing.T) {
			testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
				r, err := git.Discover(t.Context(), tr.Dir)
				if err != nil {
					t.Fatal(err)
				}
				if r.RefFormat != "files" || r.GitDir != r.CommonDir {
					t.Skip("branch and logs are cut as files of the main work tree")
				}
				before, made := killedCommit(t, tr, r, "first\n")
				c.cut(t, r, before, made)
				if notices := r.SweepLocks(t.Context(), Settle); len(notices) != 1 || !strings.Contains(notices[0], c.notice) {
					t.Errorf("notices: %q, expected one that says %q", notices, c.notice)
				}
				want, status := before, " M a.txt\nA  staged.txt\n?? new.txt"
				if c.there {
					want, status = made, "A  staged.txt"
				}
				if got := tr.Git("rev-parse", "HEAD"); got != want {
					t.Errorf("the branch is at %s, expected %s", got, want)
				}
				if got := tr.Git("status", "--porcelain"); got != status {
					t.Errorf("status: %q, expected %q", got, status)
				}
				tr.Git("commit", "-q", "-m", "what was staged")
				tr.Fsck()
				if kept, _ := filepath.Glob(filepath.Join(r.CommonDir, git.PrivateName, "gitlocks", "*")); len(kept) > 0 {
					t.Errorf("left behind: %q", kept)
				}
			})
		})
	}
}
