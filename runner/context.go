// LoadContext and LoadState: what a runner knows before it does anything.

package runner

import (
	"context"
	"errors"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// protocolVersion is the version of a governed configuration (schema_version "1.0"
// or 4; docs/spec/configuration.md).
const protocolVersion = 4

// Context is the project a Runner drives.
type Context struct {
	Outcome
	Root      string  // absolute directory of the project
	RawConfig *Object // agentxchain.json as written, unknown members included
	Config    *Config // normalised; nil when agentxchain.json cannot be read
	Version   int     // 4
	Problems  []string
}

// LoadContext reads the project's configuration. It returns an invalid configuration together with
// the error (invalid_config), which has every problem. It needs no run and no lock.
func (r *Runner) LoadContext(context.Context) (*Context, error) {
	out := &Context{Root: r.store.Dir(), Version: protocolVersion}
	docs := r.CheckDocuments()
	if docs.ConfigErr != nil {
		return out, out.settle(docs.ConfigErr)
	}
	out.Config, out.RawConfig = docs.Config, docs.Config.Raw
	for _, p := range docs.ConfigProblems {
		out.Problems = append(out.Problems, p.Message)
	}
	if len(docs.ConfigProblems) > 0 {
		return out, out.settle(config.Refusal(docs.ConfigProblems))
	}
	return out, out.settle(nil)
}

// LoadContext opens the governed project around dir, reads its configuration and closes it again.
// Errors: those of Open and of Runner.LoadContext.
func LoadContext(ctx context.Context, dir string) (*Context, error) {
	r, err := Open(ctx, dir, Options{})
	if err != nil {
		return &Context{Outcome: OutcomeOf(err)}, err
	}
	out, err := r.LoadContext(ctx)
	return out, errors.Join(err, r.Close())
}

// LoadedState is a run as it is recorded.
type LoadedState struct {
	Outcome
	Run     string
	Op      OpID // newest recorded operation, "" when nothing is recorded
	State   *State
	Turn    *Turn    // the only active turn; nil when there is none or several
	Notices []string // differences between the working files and the record
}

// LoadState reads the run without locking it or changing anything. A project without a run is idle. A state
// that cannot be read is an error and is never taken for an idle one
// (docs/compatibility.md#where-we-differ-on-purpose row 10): invalid_state, state_tampered, ledger_tampered.
func (r *Runner) LoadState(ctx context.Context) (*LoadedState, error) {
	out := &LoadedState{}
	v, err := r.View(ctx)
	if v != nil {
		out.Notices = v.Notices
	}
	if err != nil {
		return out, out.settle(err)
	}
	out.Run, out.Op, out.State, out.Turn = v.Run, v.Op, v.State, ActiveTurn(v.State)
	return out, out.settle(nil)
}
