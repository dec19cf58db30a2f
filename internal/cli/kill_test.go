// The real program killed in approve, in restore and in an apply: the next command completes it or nothing has happened.

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// killCase is a command, where it is started, and what there is when it was not killed.
type killCase struct {
	dir      string
	args     []string
	points   []string
	old, new string // what is recorded before and after it, see recordedAt
	status   string // how the run stands after it
}

// at runs a program in a directory; the text is all it printed.
func at(dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func mustAt(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := at(dir, nil, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// recordedAt lists every run with its operations in order.
func recordedAt(t *testing.T, dir string) string {
	t.Helper()
	text := ""
	for ref := range strings.FieldsSeq(mustAt(t, dir, "git", "for-each-ref", "--format=%(refname)", "refs/agentxchain/runs")) {
		text += mustAt(t, dir, "git", "log", "--reverse", "--format=%(trailers:key=Agentxchain-Op,valueonly,separator=%x20)", ref) + "\n"
	}
	return text
}

// statusAt is how the run stands by its files.
func statusAt(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(string(wire.DocState))))
	if err != nil {
		t.Fatal(err)
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	return state.String("status")
}

// approveCase is a run that waits for a person at its last gate.
func approveCase(t *testing.T) *killCase {
	t.Helper()
	c := &killCase{dir: mcpProject(t), args: []string{"approve"}, points: []string{
		"lock.acquired", "commit.before-objects", "objects.pack.before", "objects.pack.kept", "objects.pack.synced", "objects.pack.named", "objects.pack.after",
		"commit.after-objects", "commit.before-ref", "refs.update.before", "refs.update.after", "commit.after-ref", "durable.append.before", "durable.append.written",
		"durable.append.after", "durable.write.before", "durable.write.renamed", "commit.after-documents", "commit.after-bundles", "commit.before-state",
		"commit.after-state", "commit.before-cache", "commit.after-cache",
	}}
	mustAt(t, c.dir, "git", "agentxchain", "assign", "dev")
	mustAt(t, c.dir, "stage", "run_completion_request=true", "proposed_next_role=human", `artifact={"type":"review"}`,
		`verification={"status":"skipped","commands":[],"evidence_summary":"nothing to run","machine_evidence":[]}`)
	mustAt(t, c.dir, "git", "agentxchain", "accept")
	return c
}

// restoreCase is a clone without a run, and the artifact of one.
func restoreCase(t *testing.T) *killCase {
	t.Helper()
	from := approveCase(t).dir
	artifact := filepath.Join(t.TempDir(), "run.json")
	mustAt(t, from, "git", "agentxchain", "export", "-o", artifact)
	clone := filepath.Join(t.TempDir(), "clone")
	mustAt(t, from, "git", "clone", "-q", ".", clone)
	return &killCase{dir: clone, args: []string{"restore", artifact}, points: []string{
		"lock.acquired", "restore.noted", "restore.staged", "restore.staged:3", "objects.pack.kept", "objects.pack.synced", "objects.pack.named", "restore.objects",
		"restore.ready", "refs.update.before", "refs.update.after", "restore.ref", "restore.removed", "restore.placed", "restore.placed:3", "restore.before-state",
		"restore.after-state", "restore.swept",
	}}
}

// proposalCase is a proposal of a file to change and one to create, that waits for a person.
func proposalCase(t *testing.T) *killCase {
	t.Helper()
	asAda(t)
	root := t.TempDir()
	mustAt(t, root, "project", "p", `roles.arch={"title":"Architect","mandate":"Propose.","write_authority":"proposed","runtime":"api"}`,
		`runtimes.api={"type":"api_proxy","provider":"anthropic","model":"m","auth_env":"KEY"}`, `routing.planning.allowed_next_roles=["arch","human"]`)
	c := &killCase{dir: filepath.Join(root, "p"), args: []string{"proposal", "apply"}, points: []string{
		"lock.acquired", "proposal.written", "checkpoint.added", "checkpoint.committed", "proposal.committed", "commit.before-objects",
		"commit.after-ref", "commit.before-state", "commit.after-state",
	}}
	if err := os.WriteFile(filepath.Join(c.dir, "src.txt"), []byte("old\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustAt(t, c.dir, "git", "add", "-A")
	mustAt(t, c.dir, "git", "commit", "-q", "-m", "base")
	mustAt(t, c.dir, "git", "agentxchain", "assign", "arch")
	mustAt(t, c.dir, "stage", `artifact={"type":"patch"}`, "files_changed=[]", "proposed_next_role=human",
		`proposed_changes=[{"path":"src.txt","action":"modify","content":"new\n"},{"path":"b.txt","action":"create","content":"b\n"}]`)
	mustAt(t, c.dir, "git", "agentxchain", "accept")
	return c
}

// copied is the directory for one kill.
func (c *killCase) copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	mustAt(t, c.dir, "cp", "-a", c.dir, dir)
	return dir
}

// settled has the next command put right what the kill left, which command that is
// changing with n, and then has the killed one done, if it was not.
func (c *killCase) settled(t *testing.T, dir, where string, n int) (happened bool) {
	t.Helper()
	next := [][]string{{"status"}, {"doctor", "--fix"}, c.args}[n%3]
	out, err := at(dir, nil, "git", append([]string{"agentxchain"}, next...)...)
	if now := recordedAt(t, dir); now != c.old && now != c.new {
		t.Fatalf("%s: after %v there is\n%s\nthat said: %v %s", where, next, now, err, out)
	}
	happened = recordedAt(t, dir) == c.new
	// A person who sees the old state does it again.
	if !happened {
		mustAt(t, dir, "git", append([]string{"agentxchain"}, c.args...)...)
	}
	mustAt(t, dir, "git", "agentxchain", "doctor", "--fix")
	if now, status := recordedAt(t, dir), statusAt(t, dir); now != c.new || status != c.status {
		t.Errorf("%s: in the end the run is %s and there is\n%s", where, status, now)
	}
	mustAt(t, dir, "git", "agentxchain", "fsck", "--all-runs", "--replay")
	if out := mustAt(t, dir, "git", "fsck", "--full", "--strict", "--no-dangling"); out != "" {
		t.Errorf("%s: git fsck: %s", where, out)
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("%s: left %v", where, left)
	}
	if out := mustAt(t, dir, "git", "status", "--porcelain"); out != "" {
		t.Errorf("%s: git status: %s", where, out)
	}
	return happened
}

// undisturbed notes what there is without a kill, and how long that takes.
func (c *killCase) undisturbed(t *testing.T) time.Duration {
	t.Helper()
	dir := c.copied(t)
	c.old = recordedAt(t, dir)
	begin := time.Now()
	mustAt(t, dir, "git-agentxchain", c.args...)
	whole := time.Since(begin)
	c.status = statusAt(t, dir)
	if c.new = recordedAt(t, dir); c.new == c.old {
		t.Fatalf("%v changes nothing", c.args)
	}
	return whole
}

// TestKilledCommands kills approve, restore and an apply of a proposal at each named point, around each git
// that they start, and at random moments.
func TestKilledCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	for name, prepare := range map[string]func(*testing.T) *killCase{"approve": approveCase, "restore": restoreCase, "proposal": proposalCase} {
		t.Run(name, func(t *testing.T) {
			c := prepare(t)
			whole := c.undisturbed(t)
			kills, done := 0, 0
			try := func(where string, n int, start func(dir string) error) (alive bool) {
				dir := c.copied(t)
				err := start(dir)
				if err == nil {
					return true
				}
				if !strings.Contains(err.Error(), "killed") {
					t.Fatalf("%s: %v", where, err)
				}
				kills++
				if c.settled(t, dir, where, n) {
					done++
				}
				return false
			}
			for n, point := range c.points {
				if !long && n%4 != 1 {
					continue
				}
				try(point, n, func(dir string) error {
					_, err := at(dir, []string{faults.Env + "=" + point}, "git-agentxchain", c.args...)
					return err
				})
			}
			for n := 1; ; n++ {
				if !long && n%5 != 1 {
					continue
				}
				path := "PATH=" + killingGit(t, n) + string(filepath.ListSeparator) + os.Getenv("PATH")
				if try(fmt.Sprintf("git process %d", n), n, func(dir string) error {
					_, err := at(dir, []string{path}, "git-agentxchain", c.args...)
					return err
				}) {
					break
				}
			}
			random := 2
			if long {
				random = 60
			}
			for n := range random {
				after := time.Duration(rand.Int64N(int64(whole) * 5 / 4))
				try("after "+after.String(), n, func(dir string) error {
					cmd := exec.Command("git-agentxchain", c.args...)
					cmd.Dir = dir
					if err := cmd.Start(); err != nil {
						return err
					}
					time.Sleep(after)
					_ = cmd.Process.Kill()
					return cmd.Wait()
				})
			}
			t.Logf("%d kills, %d of them after the commit point", kills, done)
			if kills < 5 || done == 0 || done == kills {
				t.Errorf("%d kills, %d of them after the commit point", kills, done)
			}
		})
	}
}

// killingGit is a directory with a git that kills who starts it: the n-th does, half of
// them before it has done its work.
func killingGit(t *testing.T, n int) string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho x >>%[1]s/count\n[ $(grep -c x %[1]s/count) -eq %[2]d ] || exec %[3]s \"$@\"\n", dir, n, real)
	if n%2 == 0 {
		script += real + " \"$@\"\n"
	}
	script += "kill -9 $PPID\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// leftovers are the lock files and the held packs that nobody owns any more.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var left []string
	for _, top := range []string{".git", filepath.FromSlash(".agentxchain/locks")} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(p string, _ os.DirEntry, err error) error {
			if err == nil && slices.Contains([]string{".lock", ".keep", ".new"}, filepath.Ext(p)) {
				left = append(left, p)
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return left
}
