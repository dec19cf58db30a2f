// Lock files of killed gits: removed when they are proven to be ours, and no others.

package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// needStrace skips where processes cannot be traced; CI installs it.
func needStrace(t testing.TB) {
	t.Helper()
	if exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("strace cannot be used here")
	}
}

// killer returns a program to use as git that kills the real git in its n-th rename (call is rename, link, or
// either: rename|link), while it holds its locks. then is a command line that runs afterwards.
func killer(t testing.TB, call string, n int, then string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "git")
	script := fmt.Sprintf(
		"#!/bin/sh\nif [ \"$LEAVE\" ]; then exec %[1]s \"$@\"; fi\ncase \" $* \" in *\" update-ref \"*|*\" commit \"*|*\" fetch \"*) ;; *) exec %[1]s \"$@\" ;; esac\n"+
			"strace -f -qq -o /dev/null -e 'trace=/^(rename|link)' -e 'inject=/^(%[4]s):signal=KILL:when=%[2]d' %[1]s \"$@\"\nrc=$?\n"+
			"if [ $rc -gt 128 ]; then %[3]s\nkill -9 $$; fi\nexit $rc\n", git, n, then, call)
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func lockFiles(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(p, ".lock") {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestKilledGitLeavesNothing kills the git that moves the ref of an operation, alone or with the command that
// started it: the next command can proceed at once.
func TestKilledGitLeavesNothing(t *testing.T) {
	testrepo.Thorough(t)
	needStrace(t)
	formats := []testrepo.Options{{}, {ObjectFormat: object.FormatSHA256, LinkedWorktree: true}}
	if testrepo.HasReftable() {
		formats = append(formats, testrepo.Options{RefFormat: "reftable"})
	}
	for _, o := range formats {
		for _, both := range []bool{false, true} {
			for n := 1; n <= 2; n++ {
				t.Run(fmt.Sprintf("%s-%v-%d", o.Name(), both, n), func(t *testing.T) {
					t.Parallel()
					r := testrepo.New(t, o)
					d := scaffold(t, r.Dir)
					d.must(initOp(false))
					_ = d.store.Close()
					d = openDriver(t, r.Dir)
					killed := false
					if both {
						// The wrapper's parent is the command.
						cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
						cmd.Env = append(os.Environ(), crashVar+"=assign:"+r.Dir,
							crashGit+"="+killer(t, "rename|link", n, "kill -9 $PPID"))
						_, err := cmd.CombinedOutput()
						killed = err != nil && strings.Contains(err.Error(), "killed")
					} else {
						good := d.store.repo.Git.Bin
						d.store.repo.Git.Bin = killer(t, "rename|link", n, ":")
						_, _, err := d.try(assignOp)
						killed = err != nil && fail.CodeOf(err) != fail.CodeWorkBehind ||
							len(lockFiles(t, d.store.repo.CommonDir)) > 0
						d.store.repo.Git.Bin = good
					}
					if n == 1 && !killed {
						t.Fatal("nothing was killed")
					}
					d.n = 60
					v := d.view()
					if v.State.ActiveTurns.Len() == 0 {
						d.must(assignOp)
					}
					d.must(d.acceptOp)
					d.turns(1)
					d.clean()
					if left := lockFiles(t, d.store.repo.CommonDir); len(left) > 0 {
						t.Errorf("left: %v", left)
					}
					if notes := d.store.repo.LockNotes(); len(notes) > 0 {
						t.Errorf("%d notes are left", len(notes))
					}
					noKeeps(t, d)
				})
			}
		}
	}
}

// TestKilledCheckpointLeavesNothing kills git commit in each of its renames: the next checkpoint makes the same
// commit, or finds that it was made.
func TestKilledCheckpointLeavesNothing(t *testing.T) {
	testrepo.Thorough(t)
	needStrace(t)
	kills := 0
	for n := 2; n <= 13; n++ {
		r := testrepo.New(t, testrepo.Options{LinkedWorktree: n%4 > 1})
		repo := opened(t, r)
		r.Write("staged.txt", "of the person\n")
		r.Git("add", "staged.txt")
		r.Write("new.txt", "new\n")
		r.Write("a.txt", "changed\n")
		before := r.Git("rev-parse", "HEAD")
		good := repo.Git.Bin
		repo.Git.Bin = killer(t, []string{"rename", "link"}[n%2], n/2, ":")
		paths := []string{"new.txt", "a.txt"}
		_, err := gitcommit.Paths(context.Background(), repo, paths, "checkpoint")
		repo.Git.Bin = good
		if err == nil {
			continue // there are fewer renames
		}
		kills++
		notices := repo.SweepLocks(context.Background(), gitcommit.Settle)
		oid, err := gitcommit.Paths(context.Background(), repo, paths, "checkpoint")
		if err != nil {
			t.Fatalf("kill %d, %v: %+v", n, notices, err)
		}
		if got := r.Git("rev-list", "--count", before+".."+string(oid)); got != "1" {
			t.Errorf("kill %d: %s commits", n, got)
		}
		if got := r.Git("show", "--name-only", "--format=", string(oid)); got != "a.txt\nnew.txt" {
			t.Errorf("kill %d: committed %q", n, got)
		}
		if got := r.Git("status", "--porcelain"); got != "A  staged.txt" {
			t.Errorf("kill %d: status %q", n, got)
		}
		if left := lockFiles(t, repo.CommonDir); len(left) > 0 {
			t.Errorf("kill %d left %v", n, left)
		}
		r.Fsck()
	}
	if kills < 3 {
		t.Errorf("only %d kills", kills)
	}
}

// TestOthersLocksStay puts locks of other programs where a killed git of ours could have left its own.
func TestOthersLocksStay(t *testing.T) {
	testrepo.Thorough(t)
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	ref := filepath.Join(repo.CommonDir, "refs", "agentxchain", "runs", "x.lock")
	index := filepath.Join(repo.GitDir, "index.lock")
	if err := os.MkdirAll(filepath.Dir(ref), 0o777); err != nil {
		t.Fatal(err)
	}
	head := object.OID(r.Git("rev-parse", "HEAD"))
	note := func(begun time.Time, locks ...git.GitLock) {
		n := &git.LockNote{LockOwner: git.NewOwner("test"), Locks: locks}
		cmd := exec.Command("true")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		n.PID, n.Started, n.Acquired, n.Name = cmd.Process.Pid, "some boot:1", time.Now(), n.Token
		if err := repo.WriteLockNote(n); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(repo.CommonDir, git.PrivateName, "gitlocks", n.Name)
		if err := os.Chtimes(name, begun, begun); err != nil {
			t.Fatal(err)
		}
	}
	stays := func(what, path string) {
		t.Helper()
		if got := repo.SweepLocks(context.Background(), gitcommit.Settle); len(got) > 0 {
			t.Errorf("%s: %v", what, got)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: it is gone", what)
		}
		_ = os.Remove(path)
		for _, n := range repo.LockNotes() {
			repo.DropLockNote(n.Name)
		}
	}
	write := func(path, data string, age time.Duration) {
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(ref, strings.Repeat("1", 40)+"\n", 0)
	note(time.Now().Add(-time.Minute), git.GitLock{Path: ref, Wrote: head})
	stays("a ref on its way elsewhere", ref)

	write(index, "", time.Hour)
	note(time.Now().Add(-time.Minute), git.GitLock{Path: index, Wrote: ""})
	stays("a lock older than the note", index)

	write(index, "", time.Minute)
	stays("a lock without a note", index)

	// The clock of the file system differs from the system clock.
	for _, off := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		write(index, "", off+time.Hour)
		note(time.Now().Add(-off), git.GitLock{Path: index})
		stays("a lock older than the note, by another clock", index)
		write(index, "", off)
		note(time.Now().Add(-off-time.Minute), git.GitLock{Path: index})
		if got := repo.SweepLocks(context.Background(), gitcommit.Settle); len(got) != 1 {
			t.Errorf("a lock of ours, by another clock: %v", got)
		}
	}

	// A note may name only locks of this repository.
	outside := filepath.Join(t.TempDir(), "x.lock")
	write(outside, "", time.Minute)
	note(time.Now().Add(-time.Hour), git.GitLock{Path: outside, Wrote: ""})
	stays("outside", outside)

	// A person's git commit that is waiting in its editor.
	r.Write("a.txt", "edited\n")
	cmd := exec.Command("git", "commit", "-a")
	cmd.Dir = r.Dir
	began := filepath.Join(t.TempDir(), "began")
	cmd.Env = append(os.Environ(), "GIT_EDITOR=touch "+began+"; sleep 60; false")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Lstat(began); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	note(time.Now().Add(-time.Minute), git.GitLock{Path: index, Wrote: ""})
	if got := repo.SweepLocks(context.Background(), gitcommit.Settle); len(got) > 0 {
		t.Errorf("removed the lock of a git at work: %v", got)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := repo.SweepLocks(context.Background(), gitcommit.Settle); len(got) != 1 {
		t.Errorf("when it is over: %v", got)
	}
}

// TestKilledFetchLeavesNothing kills git fetch in each of its renames, which leaves locks of tracking refs that no
// note could name in advance.
func TestKilledFetchLeavesNothing(t *testing.T) {
	testrepo.Thorough(t)
	needStrace(t)
	locks := 0
	for n := 1; n <= 6; n++ {
		r := testrepo.New(t, testrepo.Options{})
		repo := opened(t, r)
		server := filepath.Join(t.TempDir(), "server.git")
		r.Git("clone", "-q", "--bare", r.Dir, server)
		r.Git("remote", "add", "origin", server)
		for _, name := range []string{"a", "b", "c"} {
			r.Git("--git-dir="+server, "branch", name)
		}
		fetch := []string{"fetch", "--quiet", "--no-auto-gc", "origin", "+refs/heads/*:refs/remotes/origin/agentxchain/*"}
		by := repo.Git.In(repo.Git.Dir)
		by.Bin = killer(t, "rename", n, ":")
		err := repo.Fetch(context.Background(), by, "origin", nil, fetch)
		if err == nil {
			break // there are fewer renames
		}
		locks += len(lockFiles(t, repo.CommonDir))
		repo.SweepLocks(context.Background(), gitcommit.Settle)
		if left := lockFiles(t, repo.CommonDir); len(left) > 0 {
			t.Errorf("kill %d left %v", n, left)
		}
		if err := repo.Fetch(context.Background(), repo.Git, "origin", nil, fetch); err != nil {
			t.Errorf("after kill %d: %v", n, err)
		}
		r.Fsck()
	}
	if locks == 0 {
		t.Error("no kill left a lock, so nothing was tried")
	}
}
