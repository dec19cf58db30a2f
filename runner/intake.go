// Inject: work that people put in front of the run (docs/intake.md).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
)

// IntentSpec is work a person asks for.
type IntentSpec = intents.Spec

// Injected is the outcome of Inject.
type Injected struct {
	Done
	Intent    *ojson.Object
	Duplicate bool // an unfinished intent with the same words was found
}

// Inject records approved work for the run. Before a run has begun, or after it is over, the intent
// is a file that the next run takes. An unfinished intent with the same description and priority is
// returned instead. It is refused inside a dispatched turn.
//
// Errors: inside_dispatched_turn, invalid_argument and those of every change.
func (r *Runner) Inject(ctx context.Context, spec *IntentSpec) (*Injected, error) {
	out := &Injected{}
	v, err := r.View(ctx)
	if err != nil {
		return out, err
	}
	if refusal := intents.CheckInjector(r.actor(ctx)); refusal != nil {
		return out, refusal
	}
	if refusal := spec.Check(v.Config); refusal != nil {
		return out, refusal
	}
	all, err := intake.List(r.store.Dir(), v)
	if err != nil {
		return out, err
	}
	for _, x := range all {
		signal := x.Event.Object("signal")
		if !v.State.Status.Ended() && x.Waits && signal.String("description") == wire.TrimSpace(spec.Description) &&
			signal.String("priority") == spec.Priority {
			out.Intent, out.Duplicate = x.Document, true
			return out, nil
		}
	}
	over := func(s *run.State) bool { return s.Run() == "" || s.Status.Ended() }
	if over(v.State) {
		out.Intent, err = r.forNextRun(spec, v.State)
		return out, err
	}
	var ended *run.State // what the run has become meanwhile
	done, err := r.do(ctx, "inject", func(_ context.Context, c *change) (*plan, error) {
		if over(c.view.State) {
			ended = c.view.State
			return nil, nil
		}
		return &plan{op: &intents.InjectIntent{Spec: *spec}}, nil
	})
	out.Done = *done
	if err == nil && ended != nil {
		out.Intent, err = r.forNextRun(spec, ended)
		return out, err
	}
	if done.Transition != nil {
		if res, ok := done.Transition.Result.(*intents.InjectResult); ok {
			out.Intent = res.Recorded
		}
	}
	return out, err
}

// forNextRun puts an intent where the next run takes it from.
func (r *Runner) forNextRun(spec *intents.Spec, s *run.State) (*ojson.Object, error) {
	env := protocol.Env{Now: r.Now(), Seed: r.opt.Seed()}
	intent, event := intents.New(spec, &env, "")
	intake.ClearMarker(r.store.Dir(), s)
	var files []gitstore.NewFile
	for _, f := range intents.Files(intent, event, env.Time()) {
		if data, err := projectfile.Read(r.store.Dir(), f.Path,
			intents.MaxBytes); f.Path == intents.PriorityMarker && (err != nil || data != nil) {
			continue // another urgent intent is marked
		}
		files = append(files, gitstore.NewFile{Path: f.Path, Data: f.Data})
	}
	return intent, r.store.WriteNew(files)
}

// Intents lists the intents of the project, the newest first.
func (r *Runner) Intents(ctx context.Context) ([]*intake.Intent, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return intake.List(r.store.Dir(), v)
}
