package loop_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// stillClock is a clock that moves only when it is asked for the time, and whose
// timers never fire.
type stillClock struct{ now time.Time }

func (c *stillClock) Now() time.Time { c.now = c.now.Add(time.Millisecond); return c.now }

func (c *stillClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// The same clock, ids and agents give the same bytes, one turn at a time and, when turns are judged
// in the order of their launch, side by side.
func TestSameBytes(t *testing.T) {
	testrepo.Thorough(t)
	for _, slots := range []int{1, 3} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			var first map[string]string
			for range 2 {
				got := scripted(t, slots)
				if first == nil {
					first = got
					continue
				}
				if len(got) != len(first) || len(got) < 5 {
					t.Errorf("%d files, then %d", len(first), len(got))
				}
				for name, data := range first {
					if got[name] != data {
						t.Errorf("%s differs:\n%s\n---\n%s", name, data, got[name])
					}
				}
			}
		})
	}
}

// scripted drives a project of its own and returns what the run wrote.
func scripted(t *testing.T, slots int) map[string]string {
	t.Helper()
	p := newProject(t, slots, []string{"a", "b", "c"}, nil)
	seeds, at := 0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r, err := runner.Open(context.Background(), p.dir, runner.Options{
		Seed: func() string { seeds++; return fmt.Sprintf("%032x", seeds) },
		Now:  func() time.Time { at = at.Add(time.Second); return at },
	})
	p.must(err)
	defer func() { _ = r.Close() }()
	// Turns are assigned before any agent begins to write, and finish in any order.
	res := loop.Run(context.Background(), r, loop.Options{
		MaxTurns: 6,
		Ordered:  true,
		Clock:    &lockedClock{inner: stillClock{at}},
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			if d.Turn.Attempt == 1 && d.Turn.AssignedRole == "b" {
				return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "not yet"}
			}
			if slots > 1 {
				return returned(d.Turn)
			}
			name := "src/" + d.Turn.TurnID + ".txt"
			p.write(name, "x\n")
			return returned(d.Turn, "files_changed", []string{name}, "artifact", ojson.NewObject("type", "workspace"))
		},
	})
	if res.TurnsExecuted != 6 {
		t.Fatalf("%+v", res)
	}
	out := make(map[string]string)
	base := filepath.Join(p.dir, ".agentxchain")
	p.must(filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "locks") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(base, path)
		out[rel] = string(data)
		return err
	}))
	return out
}

// lockedClock makes a clock safe for the goroutines of the flights.
type lockedClock struct {
	mu    sync.Mutex
	inner stillClock
}

func (c *lockedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inner.Now()
}

func (c *lockedClock) After(d time.Duration) (<-chan time.Time, func()) { return c.inner.After(d) }
