// The operations on a coordinator of several repositories (docs/conformance.md#becoming-a-target).

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// validateCoordinatorConfig checks setup.coordinator_config by itself, without the repositories.
func validateCoordinatorConfig(w *workspace) (outcome, error) {
	if _, err := newInitiative(w.fixture.Setup); err != nil {
		return nil, err
	}
	var problems wire.Problems
	switch v := w.fixture.Setup.Value("coordinator_config").(type) {
	case nil:
		return nil, fmt.Errorf("setup.coordinator_config is missing")
	case *ojson.Object:
		_, problems = multirepo.DecodeObject(v)
	default:
		problems = wire.Problems{{
			Code:    "config_invalid",
			Message: multirepo.ConfigFile + " must hold a JSON object, not " + ojson.TypeName(v),
		}}
	}
	if refused := multirepo.ConfigError(problems); refused != nil {
		return ojson.NewObject("result", "error", "error_type", refused.Code, "errors", multirepo.Lines(problems)), nil
	}
	return ojson.NewObject("result", "success", "errors", []string{}), nil
}

// projectRepoAcceptance projects args.accepted_turn in a workspace on disk, then updates all barriers and reads
// their statuses.
func projectRepoAcceptance(w *workspace) (outcome, error) {
	repo, err := w.textArg("repo_id")
	if err != nil {
		return nil, err
	}
	stream, err := w.textArg("workstream_id")
	if err != nil {
		return nil, err
	}
	turn, err := w.objectArg("accepted_turn")
	if err != nil {
		return nil, err
	}
	initiative, err := newInitiative(w.fixture.Setup)
	if err != nil {
		return nil, err
	}
	store, remove, err := initiative.onDisk()
	if err != nil {
		return nil, err
	}
	defer remove()

	env := protocol.Env{Now: w.now, Seed: w.seed, Actor: evidence.Actor{Name: "conformance"}}
	update := func(decide func(*coordinator.Documents) (*multirepo.Change, *wire.Error)) (*multirepo.Change, error) {
		_, c, err := store.Update(context.Background(), "conformance", time.Second, decide)
		return c, err
	}
	projected, err := update(func(d *coordinator.Documents) (*multirepo.Change, *wire.Error) {
		in, e := multirepo.DecodeAcceptance(repo, stream, turn)
		if e != nil {
			return nil, e
		}
		return multirepo.Project(&d.Workspace, in, env)
	})
	if err != nil {
		return refusedProjection(err)
	}
	if _, err = update(func(d *coordinator.Documents) (*multirepo.Change, *wire.Error) {
		return multirepo.Evaluate(&d.Workspace, env), nil
	}); err != nil {
		return nil, err
	}
	after, err := store.Read()
	if err != nil {
		return nil, err
	}
	return projectionOutcome(projected, after.Barriers), nil
}

func projectionOutcome(c *multirepo.Change, barriers *multirepo.Barriers) outcome {
	effects := ojson.List(c.Effects, multirepo.BarrierChange.Effect)
	snapshot := ojson.NewObject()
	for _, b := range barriers.All() {
		snapshot.Set(b.ID, ojson.NewObject("status", b.Status))
	}
	return ojson.NewObject("result", "success", "projection_ref", c.ProjectionRef, "barrier_effects", effects,
		"barrier_snapshot", snapshot, "context_invalidations", append([]string{}, c.Invalidated...))
}

// refusedProjection returns the outcome of a refusal; a workspace without a coordinator is an error.
func refusedProjection(err error) (outcome, error) {
	var e *wire.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	kind := "projection_failed"
	switch e.Code {
	case multirepo.CodeConfigMissing, multirepo.CodeNoCoordinator, wire.CodeInvalidState, wire.CodeInvalidJSON:
		return nil, fmt.Errorf("the fixture's workspace cannot be read: %w", err)
	case multirepo.CodeCrossRepoWrite:
		kind = e.Code
	}
	return ojson.NewObject("result", "error", "error_type", kind, "error", e.Message), nil
}
