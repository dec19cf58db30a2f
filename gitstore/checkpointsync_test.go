// Power cuts after a checkpoint: everything git wrote for it was synced before.

package gitstore

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

const syncChild = "GITSTORE_SYNC_CHILD"

// fileCall is a system call that changes a file or makes it durable, as strace -y
// writes it.
var (
	traceOpen   = regexp.MustCompile(`opened(?:at)?\(.*O_CREAT.*\) += \d+<([^>]+)>`)
	traceWrite  = regexp.MustCompile(`write(?:64|v)?\((\d+)<([^>]+)>`)
	traceSync   = regexp.MustCompile(`f(?:data)?sync\(\d+<([^>]+)>(?:\) += 0| <unfinished)`)
	traceFD     = regexp.MustCompile(`^/proc/self/fd/(\d+)$`) // the descriptor from which an unnamed file gets a name
	traceRename = regexp.MustCompile(
		`(?:rename|link)(?:at2?|at)?\((?:[^",]*, )?"([^"]+)", (?:[^",]*, )?"([^"]+)".*\) += 0`)
)

// unsynced replays a trace of the calls in the git directory and returns what a power cut at its end could lose:
// files with unwritten bytes, directories with new names.
func unsynced(trace, gitDir, cwd string) []string {
	abs := func(name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(cwd, name)
		}
		return filepath.Clean(name)
	}
	dirty := make(map[string]bool)
	written := make(map[string]string) // descriptor -> the file last written through it
	for line := range strings.Lines(trace) {
		if m := traceRename.FindStringSubmatch(line); m != nil {
			from, to := abs(m[1]), abs(m[2])
			if fd := traceFD.FindStringSubmatch(m[1]); fd != nil {
				from = written[fd[1]]
			}
			if dirty[from] {
				dirty[to] = true
			} else {
				delete(dirty, to)
			}
			dirty[filepath.Dir(to)] = true
			delete(dirty, from)
		} else if m := traceSync.FindStringSubmatch(line); m != nil {
			delete(dirty, m[1])
		} else if m := traceOpen.FindStringSubmatch(line); m != nil {
			dirty[filepath.Dir(m[1])] = true
		} else if m := traceWrite.FindStringSubmatch(line); m != nil {
			dirty[m[2]] = true
			written[m[1]] = m[2]
		}
	}
	var out []string
	for name := range dirty {
		rel, err := filepath.Rel(gitDir, name)
		base := filepath.Base(name)
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case strings.HasPrefix(rel, git.PrivateName), strings.HasPrefix(rel, "objects/info/agentxchain-packs"),
			strings.HasSuffix(base, git.KeepExt),
			base == "COMMIT_EDITMSG", strings.Contains(base, ".lock"), strings.HasPrefix(base, "tmp_obj_"):
			// Hints, notes about work in progress, and names that are gone at the end.
		default:
			out = append(out, rel)
		}
	}
	slices.Sort(out)
	return out
}

// TestCheckpointIsSynced traces a checkpoint and looks for anything that a power cut at the moment it returns could
// lose.
func TestCheckpointIsSynced(t *testing.T) {
	testrepo.Thorough(t)
	if dir := os.Getenv(syncChild); dir != "" {
		repo, err := git.Discover(context.Background(), dir)
		if err == nil {
			_, err = gitcommit.Paths(context.Background(), repo, []string{"deep/down/new.txt", "a.txt"}, "checkpoint")
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	needStrace(t)
	for _, o := range []testrepo.Options{{}, {LinkedWorktree: true}, {ObjectFormat: object.FormatSHA256}} {
		r := testrepo.New(t, o)
		repo := opened(t, r)
		r.Write("deep/down/new.txt", "new\n")
		r.Write("a.txt", "changed\n")
		out := filepath.Join(t.TempDir(), "trace")
		run := func(git ...string) string {
			cmd := exec.Command("strace", append([]string{"-f", "-y", "-s", "4096", "-o", out,
				"-e",
				"trace=/^(open|openat|write|pwrite64|writev|fsync|fdatasync|rename|renameat|renameat2|link|linkat)$"},
				git...)...)
			cmd.Dir = r.Dir
			cmd.Env = append(os.Environ(), syncChild+"="+r.Dir)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		if lost := unsynced(run(os.Args[0], "-test.run=^TestCheckpointIsSynced$"), repo.CommonDir,
			r.Top); len(lost) > 0 {
			t.Errorf("%s: a power cut may take %v", o.Name(), lost)
		}
		// The check itself works: plain git leaves much unsynced.
		r.Write("a.txt", "again\n")
		if lost := unsynced(run("git", "commit", "-q", "-m", "plain", "a.txt"), repo.CommonDir, r.Top); len(lost) < 3 {
			t.Errorf("%s: plain git leaves only %v unsynced", o.Name(), lost)
		}
	}
}
