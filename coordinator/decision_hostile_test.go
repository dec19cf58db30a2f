// Tests of forged decision records, and of genuine ones whose workspace has been moved.

package coordinator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

func gitOut(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestForeignDecisionMovesNothing uses a clone that an attacker has prepared: it claims to take part in a decision,
// whose record the attacker wrote too, naming a repository that does not take part.
func TestForeignDecisionMovesNothing(t *testing.T) {
	ctx := context.Background()
	victim := filepath.Join(clones(t), "repos", "web")
	if err := operate(ctx, victim, nil, "x", giveTurn); err != nil {
		t.Fatal(err)
	}
	gitOut(t, victim, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m",
		"one")
	gitOut(t, victim, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m",
		"two")
	run := gitOut(t, victim, "for-each-ref", "--format=%(refname)", git.RunRefPrefix)
	for _, c := range []struct {
		name, ref string
		own       bool // the clone itself is also a participant
	}{{"a run", run, false}, {"a run, with the clone", run, true}, {"a branch", "refs/heads/main", true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := clones(t)
			clone, evil := filepath.Join(dir, "repos", "api"), filepath.Join(dir, "repos", "api", "w")
			d := decision.NewDecision(initiative.Schema, evil)
			d.Outcome, d.BegunAt = decision.OutcomeMove, "2020-01-01T00:00:00Z"
			part := func(dir, ref string) decision.Participant {
				at := gitOut(t, dir, "rev-parse", ref)
				return decision.Participant{
					Repo:    "x",
					GitDir:  filepath.Join(dir, ".git"),
					Ref:     ref,
					Old:     at,
					New:     at,
					Reflog:  "x",
					Objects: "sha1",
					Refs:    "files",
				}
			}
			p := part(victim, c.ref)
			p.New = gitOut(t, victim, "rev-parse", c.ref+"^")
			d.Participants = append(d.Participants, p)
			if c.own {
				d.Participants = append(d.Participants,
					part(clone, gitOut(t, clone, "for-each-ref", "--format=%(refname)", git.RunRefPrefix)))
			}
			sum := sha256.Sum256([]byte(evil))
			notes := filepath.Join(clone, ".git", "agentxchain", "decisions")
			for _, dir := range []string{filepath.Join(evil, initiative.Dir), notes} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			lock := filepath.Join(victim, ".git", filepath.FromSlash(c.ref)+".lock")
			for name, data := range map[string][]byte{
				filepath.Join(evil, filepath.FromSlash(decision.DecisionFile)): ojson.Pretty(ojson.Marshal(d)),
				filepath.Join(notes, hex.EncodeToString(sum[:8])):              []byte(evil),
				lock: []byte(p.New + "\n"),
			} {
				if err := os.WriteFile(name, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			defer func() { _ = os.Remove(lock) }()
			// A command in the clone, then one on the workspace that came with it.
			err := operate(ctx, clone, nil, "y", giveTurn)
			if gitOut(t, victim, "rev-parse", c.ref) != p.Old {
				t.Fatalf("a foreign ref was moved (%v)", err)
			}
			if data, rerr := os.ReadFile(filepath.Join(dir, initiative.ConfigFile)); rerr != nil ||
				os.WriteFile(filepath.Join(evil, initiative.ConfigFile), data, 0o666) != nil {
				t.Fatal(rerr)
			}
			if tx, err := open(t, evil).lock(ctx, "next", time.Second, false); err == nil {
				tx.close()
			}
			if gitOut(t, victim, "rev-parse", c.ref) != p.Old {
				t.Fatal("a foreign ref was moved")
			}
			if _, err := os.Lstat(lock); err != nil {
				t.Fatal("a foreign lock was removed")
			}
		})
	}
}

// copyOf copies a directory in which gits whose parent was killed may still be removing their locks.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	for {
		to := filepath.Join(t.TempDir(), "copy")
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestDecisionFollowsTheWorkspace moves or copies a workspace and its repositories
// to another place in the middle of a decision.
func TestDecisionFollowsTheWorkspace(t *testing.T) {
	settle := func(dir string) {
		t.Helper()
		tx, err := open(t, dir).lock(context.Background(), "next", 5*time.Second, false)
		if err != nil {
			t.Fatal(err)
		}
		tx.close()
	}
	for _, point := range []string{"decision.made", "decision.moving:1", "decision.prepared:3"} {
		for _, copied := range []bool{false, true} {
			dir := clones(t)
			if !decideProcess(t, dir, faults.Env+"="+point) {
				t.Fatal("not killed")
			}
			to := filepath.Join(t.TempDir(), "to")
			if copied {
				to = copyOf(t, dir)
			} else if err := os.Rename(dir, to); err != nil {
				t.Fatal(err)
			}
			settle(to)
			if all := settledAll(t, to); all != (point != "decision.prepared:3") {
				t.Errorf("%s, copied %v: moved %v", point, copied, all)
			}
			if copied {
				settle(dir)
				if all := settledAll(t, dir); all != (point != "decision.prepared:3") {
					t.Errorf("%s, original: moved %v", point, all)
				}
			}
		}
	}
}
