// Runtime manual: a turn in a person's hands (docs/runtimes.md#manual).

// Package manual leaves a turn to a person: it says what to do and, on request, waits until the
// result is in its place.
package manual

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Default times of Wait (docs/runtimes.md#manual).
const (
	DefaultPoll = 2 * time.Second
	DefaultWait = 20 * time.Minute
)

// Runtime dispatches by doing nothing: the person works from the bundle.
type Runtime struct{}

// New returns the runtime; it has no state.
func New() *Runtime { return &Runtime{} }

// Dispatch checks whether the person is done already; it never waits.
func (*Runtime) Dispatch(ctx context.Context, req *runtimes.Request) *runtimes.Outcome {
	switch ready, err := staged(req.Root, req.StagingPath); {
	case ctx.Err() != nil:
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	case err == nil && ready:
		return &runtimes.Outcome{Kind: runtimes.Staged}
	}
	return &runtimes.Outcome{
		Kind:   runtimes.Pending,
		Reason: "Turn " + req.TurnID + " is for a person; its result goes to " + req.StagingPath + ".",
	}
}

// Probe has nothing to check: a person is there or is not.
func (*Runtime) Probe(context.Context, *runtimes.ProbeRequest) []runtimes.Finding {
	return []runtimes.Finding{{OK: true, Code: "manual", Message: "a person carries out its turns"}}
}

// Wait looks for the result of a turn every poll until it is there, wait is over or ctx ends:
// Staged, TimedOut or Aborted. The turn stays as it is in every case. Zero times mean the defaults.
func Wait(ctx context.Context, root, turnID string, poll, wait time.Duration) *runtimes.Outcome {
	if poll <= 0 {
		poll = DefaultPoll
	}
	if wait <= 0 {
		wait = DefaultWait
	}
	path := wire.StagingPath(turnID)
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		// An unreadable file may be in the middle of being written.
		if ready, err := staged(root, path); err == nil && ready {
			return &runtimes.Outcome{Kind: runtimes.Staged}
		}
		select {
		case <-ctx.Done():
			return &runtimes.Outcome{Kind: runtimes.Aborted}
		case <-end.C:
			return &runtimes.Outcome{
				Kind:   runtimes.TimedOut,
				Reason: fmt.Sprintf("No result was staged within %s; the turn stays assigned.", wait),
			}
		case <-tick.C:
		}
	}
}

// staged reports whether the staging file holds a complete result: an editor saves in steps, and
// half a document is not an answer yet. A document that is not JSON but has stopped growing is left
// to acceptance, which says what is wrong with it.
func staged(rootDir, name string) (bool, error) {
	root, err := os.OpenRoot(rootDir)
	if err != nil {
		return false, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, protocol.MaxStagedBytes+1))
	if err != nil || !protocol.StagedProof(data) {
		return false, err
	}
	if _, err := ojson.Decode(data); err != nil && time.Since(info.ModTime()) < settle {
		return false, nil
	}
	return true, nil
}

// settle is how long a document that is not JSON is taken for half-written.
const settle = 2 * time.Second
