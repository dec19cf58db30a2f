package loop_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// What a person does in another clone reaches a loop that claims its turns long before it renews the claim: the agent
// is stopped, not only its result refused.
func TestAgentIsStoppedFromElsewhere(t *testing.T) {
	testrepo.Thorough(t)
	for name, end := range map[string]func(b *project) error{
		"abandoned": func(b *project) error {
			_, err := b.r.Abandon(t.Context(), "stop that")
			return err
		},
		"taken": func(b *project) error {
			_, err := b.r.ClaimTurn(t.Context(), runner.ClaimOptions{Action: protocol.ClaimSteal, Because: "stop that"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newProject(t, 1, []string{"dev"}, nil)
			root := t.TempDir()
			b := &project{t: t, dir: filepath.Join(root, "B")}
			git := func(dir string, args ...string) {
				if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).
					CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			git(root, "init", "-q", "--bare", "-b", "main", "server.git")
			git(a.dir, "remote", "add", "origin", filepath.Join(root, "server.git"))
			git(a.dir, "push", "-q", "-u", "origin", "HEAD:main")
			git(root, "clone", "-q", "server.git", "B")
			b.open()
			sync := func(p *project) {
				_, err := p.r.Sync(t.Context(), runner.SyncOptions{})
				p.must(err)
			}
			var stopped atomic.Bool
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			loop.Run(ctx, a.r, loop.Options{
				MaxTurns: 1,
				Claim:    time.Hour,
				Clock:    &hastyClock{},
				Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
					sync(b)
					b.must(end(b))
					sync(b)
					select {
					case <-ctx.Done():
						stopped.Store(true)
						cancel()
					case <-time.After(time.Minute):
					}
					return returned(d.Turn)
				},
			})
			if !stopped.Load() {
				t.Error("the agent went on, though a person in another clone ended its turn")
			}
		})
	}
}
