// Isolated agents: what they cannot write, whatever they try.

package driver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/internal/confine"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// agentUser is the user as which isolation user runs agents in these tests.
const agentUser = "nobody"

// isolated returns a project whose developer runs a script in isolation; it skips the test where
// the machine does not support it.
func isolated(t *testing.T, kind, script string) *project {
	t.Helper()
	rt := shell(script)
	rt.Set("isolation", kind)
	if kind == confine.User {
		rt.Set("isolation_user", agentUser)
		if os.Geteuid() != 0 {
			t.Skip("only root may run an agent as another user")
		}
		if _, err := user.Lookup(agentUser); err != nil {
			t.Skip(err)
		}
	}
	p := newProject(t, rt, runner.Options{Trust: true})
	p.write("src/main.txt", "x\n")
	p.must(exec.Command("git", "-C", p.dir, "add", "src").Run())
	p.must(exec.Command("git", "-C", p.dir, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "src").Run())
	if kind == confine.User {
		for dir := p.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			p.must(os.Chmod(dir, 0o755))
		}
		p.must(exec.Command("chown", "-R", agentUser, filepath.Join(p.dir, "src")).Run())
	}
	if kind == confine.None {
		return p
	}
	plan := &confine.Plan{
		Kind:      kind,
		User:      agentUser,
		Protected: []string{filepath.Join(p.dir, ".git")},
	}
	free := filepath.Join(p.dir, "free")
	p.must(os.Mkdir(free, 0o755))
	if err := plan.Try(t.Context(), free); err != nil {
		t.Skipf("not on this machine: %v", err)
	}
	p.must(os.Remove(free))
	return p
}

// fingerprint returns the names and contents in a directory.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// The driver's own notes about git at the dispatch are not the agent's.
		if e.IsDir() && name == filepath.Join(dir, "agentxchain") {
			return filepath.SkipDir
		}
		_, _ = sum.Write([]byte(name + "\x00"))
		if e.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			_, _ = sum.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// attempts are what a patched copy of our program, or another tool, could do: each must fail.
var attempts = []string{
	`echo x > .git/x`,
	`echo x >> .git/config`,
	`: > .git/HEAD`,
	`truncate -s 0 .git/HEAD`,
	`mkdir .git/refs/agentxchain-evil`,
	`git update-ref refs/heads/evil HEAD`,
	`git commit -q --allow-empty -m evil`,
	`echo new | git hash-object -w --stdin`,
	`mv .git gone`,
	`rm -rf .git/refs`,
	`ln .git/config src/linked && echo evil >> src/linked`,
	`ln -s ../.git src/way && echo x > src/way/x`,
	`cp -r .git src/git && mv -T src/git .git`,
	`chmod -R a+w .git && echo x > .git/y`,
	`mount -o remount,rw,bind .git && echo x > .git/y`,
	`umount -l .git && echo x > .git/y`,
	`unshare -Urm sh -c "mount -o remount,rw,bind .git; umount -l .git; echo x > .git/z"`,
	`nsenter -t 1 -m sh -c "echo x > $PWD/.git/z"`,
	`mkdir src/m && unshare -Urm sh -c "mount --bind . src/m; echo x > src/m/.git/z"`,
	`mknod src/disk b $(stat -c '%Hd %Ld' .) && head -c 1 src/disk`,
	`echo x >> .agentxchain/state.json`,
	`mv .agentxchain/state.json src/`,
	`mv .agentxchain gone`,
	`echo '{}' >> .agentxchain/history.jsonl`,
	`rm -f .agentxchain/locks/*`,
	`echo ' ' >> agentxchain.json`,
}

func TestIsolatedAgentsCannotWriteTheRecord(t *testing.T) {
	for _, kind := range confine.Kinds() {
		t.Run(kind, func(t *testing.T) {
			script := ""
			for _, a := range attempts {
				script += "( " + a + " ) 2>/dev/null; "
			}
			script += `echo done > src/made; mkdir -p src/new; echo x > src/new/file; echo "review" > .agentxchain/reviews/note.md; `
			if kind != confine.User { // it cannot run the program of these tests
				script += "env -i PATH=$PATH " + os.Args[0] + " act approve $PWD > src/answer; "
				script += os.Args[0] + " act within $PWD > src/within; "
			}
			p := isolated(t, kind, script+stage)
			turn := p.assign()
			if kind == confine.User {
				p.must(os.MkdirAll(filepath.Join(p.dir, ".agentxchain/reviews"), 0o755))
			}
			before, config := fingerprint(t, filepath.Join(p.dir, ".git")), p.read(wire.ConfigPath)
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{
				TurnID:   turn.TurnID,
				Deadline: time.Now().Add(60 * time.Second),
			})
			if out.Kind != runtimes.Staged {
				t.Fatalf("%+v\n%s", out, p.read(wire.BundleDir(turn.TurnID)+"/stdout.log"))
			}
			if fingerprint(t, filepath.Join(p.dir, ".git")) != before {
				b, _ := exec.Command("git", "-C", p.dir, "for-each-ref").CombinedOutput()
				t.Errorf("the agent changed .git: %s", b)
			}
			if p.read(wire.ConfigPath) != config {
				t.Error("the agent changed the configuration")
			}
			if p.read("src/made") != "done\n" || p.read("src/new/file") != "x\n" ||
				p.read(".agentxchain/reviews/note.md") != "review\n" {
				t.Error("the agent could not do its work")
			}
			if kind == confine.User {
				return
			}
			if got := p.read("src/answer"); got != "approve: "+wire.CodeInsideTurn+"\n" {
				t.Errorf("an approval got %q", got)
			}
			if got := p.read("src/within"); got != "within: "+turn.TurnID+"\n" {
				t.Errorf("its turn is %q", got)
			}
		})
	}
}

// TestTheAttemptsSucceedWithout checks that without isolation the same attempts change the record,
// or the driver finds their changes and puts them back.
func TestTheAttemptsSucceedWithout(t *testing.T) {
	testrepo.Serving(t)
	for _, a := range []string{attempts[0], attempts[1], attempts[4], attempts[5], attempts[6], attempts[7],
		attempts[8], attempts[10]} {
		t.Run(a, func(t *testing.T) {
			p := isolated(t, confine.None, a+"; "+stage)
			turn := p.assign()
			before := fingerprint(t, filepath.Join(p.dir, ".git"))
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{
				TurnID:   turn.TurnID,
				Deadline: time.Now().Add(30 * time.Second),
			})
			putBack := out.Kind == runtimes.Blocked && out.Class == tamper.CodeGitTampered
			if !putBack && p.exists(".git") && fingerprint(t, filepath.Join(p.dir, ".git")) == before {
				t.Error("nothing was changed")
			}
		})
	}
}

// TestIsolationThatCannotBeHad refuses the dispatch; the agent is not started without isolation.
func TestIsolationThatCannotBeHad(t *testing.T) {
	for name, edit := range map[string]func(*ojson.Object){
		"no such user": func(rt *ojson.Object) {
			rt.Set("isolation", "user")
			rt.Set("isolation_user", "agentxchain-no-such-user")
		},
		"root": func(rt *ojson.Object) { rt.Set("isolation", "user"); rt.Set("isolation_user", "root") },
	} {
		t.Run(name, func(t *testing.T) {
			rt := shell("touch ran; " + stage)
			edit(rt)
			p := newProject(t, rt, runner.Options{Trust: true})
			turn := p.assign()
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID})
			if out.Kind != runtimes.Aborted || out.Class != runtimes.CodeIsolationUnavailable ||
				runner.ErrorCode(out.Err) != out.Class {
				t.Errorf("%+v", out)
			}
			if p.exists("ran") || p.exists(".agentxchain/locks/dispatch-"+turn.TurnID+".lock") {
				t.Error("the agent ran")
			}
		})
	}
}

// TestUserThatMayWriteTheRecord: the helper refuses a user that may write what isolation protects.
func TestUserThatMayWriteTheRecord(t *testing.T) {
	p := isolated(t, confine.User, "touch src/ran; "+stage)
	turn := p.assign()
	p.must(exec.Command("chown", agentUser, filepath.Join(p.dir, ".git", "refs", "heads")).Run())
	out := newDriver(p.r).Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID})
	if out.Kind != runtimes.Blocked || p.exists("src/ran") ||
		!strings.Contains(p.read(wire.BundleDir(turn.TurnID)+"/stdout.log"), "may write") {
		t.Errorf("%+v", out)
	}
}
