// What a run loop needs beside the operations of a person: how far a dispatch has
// come, its end by timeout, and that one loop drives at a time.

package runner

import (
	"context"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Advanced is the outcome of AdvanceTurn.
type Advanced struct {
	Done
	Turn *Turn
}

// AdvanceTurn records how far the dispatch of a turn has come: dispatched, starting
// or running, with the process at work and the stream of its first output, 0 and ""
// when unknown (docs/spec/lifecycle.md#the-life-of-a-dispatch). Errors: turn_not_active, invalid_state_transition,
// run_blocked, invalid_argument.
func (r *Runner) AdvanceTurn(ctx context.Context, op protocol.AdvanceTurn) (*Advanced, error) {
	out := &Advanced{}
	done, err := r.do(ctx, "advance", func(context.Context, *change) (protocol.Operation, error) { return &op, nil })
	out.Done = *done
	if err == nil {
		out.Turn = done.Transition.Result.(*protocol.AdvanceResult).Turn
	}
	return out, err
}

// DispatchTimedOut blocks the run because the dispatch of a turn was not done in
// its time (docs/run-loop.md#what-becomes-of-a-turn): timeout:<scope>, owner operator, the turn is kept.
func (r *Runner) DispatchTimedOut(ctx context.Context, op protocol.DispatchTimeout) (*Blocked, error) {
	return r.blocked(ctx, "timeout", &op)
}

// loopLock names the process that drives the run of this work tree.
const loopLock = ".agentxchain/locks/run-loop.lock"

// Drive makes the caller the one run loop of this work tree until release is
// called or the process ends, however it ends. The error has the code locked and
// names the other loop.
func (r *Runner) Drive(ctx context.Context) (release func(), err error) {
	if err := r.store.MakeDir(filepath.ToSlash(filepath.Dir(loopLock))); err != nil {
		return nil, err
	}
	l, err := lockfile.Acquire(ctx, filepath.Join(r.store.Dir(), filepath.FromSlash(loopLock)), "run", 0)
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil
}

// PriorityIntent is an intent that asks to be worked on before anything else.
type PriorityIntent struct {
	ID, Priority string

	doc *ojson.Object
}

// For reports whether the intent is handed out to a turn of the run, so that a loop need
// not yield for it.
func (p *PriorityIntent) For(run string) bool {
	return protocol.IntentOf(p.doc, run) && protocol.IntentOpen(p.doc)
}

// PriorityIntent returns the intent that .agentxchain/intake/injected-priority.json
// names, nil when there is none or it has been dealt with (docs/run-loop.md#what-becomes-of-a-turn). A file
// that cannot be read says nothing.
func (r *Runner) PriorityIntent() *PriorityIntent {
	read := func(path string) *ojson.Object {
		data, err := projectfile.Read(r.store.Dir(), path, 1<<20)
		if err != nil || data == nil {
			return nil
		}
		o, err := ojson.DecodeObject(data)
		if err != nil {
			return nil
		}
		return o
	}
	marker := read(".agentxchain/intake/injected-priority.json")
	id := marker.String("intent_id")
	path := ".agentxchain/intake/intents/" + id + ".json"
	if clean, problem := wire.CleanPath(path); id == "" || problem != "" || clean != path {
		return nil
	}
	doc := read(path)
	switch doc.String("status") {
	case "approved", "planned", "triaged", "detected":
		return &PriorityIntent{ID: id, Priority: marker.String("priority"), doc: doc}
	}
	return nil
}

// View is a run as it was read: config, state, index and the operation it is at.
type View = gitstore.View
