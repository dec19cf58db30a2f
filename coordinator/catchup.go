// Updating the record with what the repositories have done, on every command that changes it
// (docs/coordinator.md#when-it-is-blocked).

package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CaughtUp is the result of updating the record.
type CaughtUp struct {
	Mismatches []initiative.Mismatch // those found
	Resync     *initiative.Resynced
}

// catchUp adopts what the repositories have done and calls the hooks for each acceptance. The error is run_blocked
// when this blocks the initiative; the findings are still recorded.
func (c *Coordinator) catchUp(ctx context.Context, tx *Tx) (*Seen, *CaughtUp, error) {
	s := c.see(ctx, tx.Docs, true)
	env := c.env(ctx)
	if ch := c.adopt(ctx, s, env); !ch.Empty() {
		if err := c.commit(ctx, tx, "adopt", "Took up a turn that was being assigned", ch); err != nil {
			return s, nil, err
		}
		s.Documents = tx.Docs
	}
	ch, r := initiative.Resync(&s.Workspace, s.Children, env)
	out := &CaughtUp{Mismatches: initiative.Divergence(&s.Workspace, s.Children), Resync: r}
	before := s.History
	if r.BlockedReason != "" && !c.hasReport() {
		ch.Files = append(ch.Files, reportFile(r.BlockedReason, env))
	}
	if !ch.Empty() {
		if err := c.commit(ctx, tx, "resync", "Took over what the repositories have done", ch); err != nil {
			return s, out, err
		}
		s.Documents = tx.Docs
	}
	faults.Point("coordinator.caught-up")
	if err := c.acceptances(ctx, tx, s, before, r); err != nil {
		return s, out, err
	}
	if r.BlockedReason != "" {
		c.escalate(ctx, tx, s)
		return s, out, blockedError(s.State)
	}
	return s, out, orNil(r.Behind)
}

// acceptances calls the hooks for every acceptance that counts now. A hook that changes a protected file blocks the
// initiative; the hooks are still called for the other acceptances (docs/siblings.md).
func (c *Coordinator) acceptances(ctx context.Context, tx *Tx, s *Seen, before *initiative.History,
	r *initiative.Resynced) error {
	if len(r.Projected) == 0 || len(s.Config.Hooks.Array(HookAfterAcceptance)) == 0 {
		return nil
	}
	reason := ""
	for _, p := range r.Projected {
		a := p.Acceptance
		effects := []*ojson.Object{}
		for _, b := range r.Barriers {
			if b.Workstream == a.Workstream {
				effects = append(effects, b.Row())
			}
		}
		run, _ := s.State.RepoRuns.Get(a.Repo)
		var runID any
		if run != nil && run.RunID != nil {
			runID = *run.RunID
		}
		out, err := c.fire(ctx, tx, s, HookAfterAcceptance, ojson.NewObject("workstream_id", a.Workstream,
			"repo_id", a.Repo, "repo_run_id", runID, "projection_ref", p.Ref, "repo_turn_id", a.TurnID,
			"summary", a.Summary, "files_changed", append([]string{}, a.FilesChanged...),
			"decisions", append([]any{}, a.Decisions...), "verification", ojson.CloneValue(a.Verification),
			"barrier_effects", effects, "context_invalidations", invalidations(before, a),
			"coordinator_status", string(s.State.Status), "coordinator_phase", s.State.Phase))
		if err != nil {
			return err
		}
		if e := stopped(HookAfterAcceptance, out); e != nil && reason == "" {
			reason = "coordinator_hook_violation: " + e.Message
		}
	}
	if reason == "" {
		return nil
	}
	if err := c.block(ctx, tx, s, reason); err != nil {
		return err
	}
	return blockedError(s.State)
}

// invalidations returns the contexts that an acceptance has made obsolete, in the form for hooks
// (docs/coordinator.md#what-counts).
func invalidations(h *initiative.History, a initiative.Acceptance) []*ojson.Object {
	out := []*ojson.Object{}
	for _, row := range h.Rows() {
		target, stream := row.String("target_repo_id"), row.String("workstream_id")
		if row.String("type") != initiative.RowContext || target == a.Repo {
			continue
		}
		why := ""
		switch {
		case slices.Contains(row.Strings("upstream_repo_ids"), a.Repo):
			why = fmt.Sprintf("Context %s told of %s before it had this turn accepted", row.String("context_ref"),
				a.Repo)
		case stream == a.Workstream || slices.Contains(row.Strings("relevant_workstream_ids"), a.Workstream):
			why = fmt.Sprintf("Context %s is about workstream %s too, in which %s has had a turn accepted",
				row.String("context_ref"), a.Workstream, a.Repo)
		default:
			continue
		}
		out = append(out, ojson.NewObject("target_repo_id", target, "context_ref", row.String("context_ref"),
			"workstream_id", stream, "source_repo_id", a.Repo, "files_changed", append([]string{}, a.FilesChanged...),
			"reason", why))
	}
	return out
}

// block blocks the initiative until a person resumes it, creates the report they will fill in and calls the hooks.
func (c *Coordinator) block(ctx context.Context, tx *Tx, s *Seen, reason string) error {
	env := c.env(ctx)
	ch := initiative.Block(&s.Workspace, reason, env)
	ch.Files = append(ch.Files, reportFile(reason, env))
	if err := c.commit(ctx, tx, "block", "The initiative is blocked", ch); err != nil {
		return err
	}
	s.Documents = tx.Docs
	c.escalate(ctx, tx, s)
	return nil
}

// escalate calls the on_escalation hooks. Whatever their result, the block stays.
func (c *Coordinator) escalate(ctx context.Context, tx *Tx, s *Seen) {
	if len(s.Config.Hooks.Array(HookOnEscalation)) == 0 {
		return
	}
	runs := ojson.NewObject()
	for repo, r := range s.State.RepoRuns.All() {
		runs.Set(repo, ojson.Marshal(r))
	}
	out, err := c.fire(ctx, tx, s, HookOnEscalation, ojson.NewObject("workstream_id", nil, "repo_id", nil,
		"repo_run_id", nil, "blocked_reason", s.State.BlockedReason, "coordinator_status", string(s.State.Status),
		"coordinator_phase", s.State.Phase, "repo_runs", runs))
	if err == nil {
		if e := stopped(HookOnEscalation, out); e != nil {
			err = e
		}
	}
	if err != nil {
		c.note("hooks of on_escalation: " + err.Error())
	}
}

// blockedError returns the error for a blocked initiative.
func blockedError(s *initiative.State) *wire.Error {
	if s.Abandoned() {
		return initiative.AbandonedError(s)
	}
	return &wire.Error{Code: wire.CodeRunBlocked, Field: "status",
		Message: "The initiative is blocked: " + cmp.Or(s.BlockedReason, "no reason is recorded"),
		Details: ojson.NewObject("blocked_reason", ojson.OrNull(s.BlockedReason)),
		Hint: "remove the cause of the block, fill in " + initiative.ReportPath + ", then: " + Program +
			" multi resume"}
}

// reportFile returns the report of a block; an existing report is kept.
func reportFile(reason string, env protocol.Env) initiative.File {
	return initiative.File{
		Path: initiative.ReportPath,
		Data: []byte(initiative.Report(reason, env.Time())),
		Keep: true,
	}
}

// hasReport reports whether a recovery report exists, or something in its place.
func (c *Coordinator) hasReport() bool {
	_, err := c.store.root.Lstat(initiative.ReportPath)
	return !errors.Is(err, fs.ErrNotExist)
}

// refusalOf returns the typed refusal in err, nil for other failures.
func refusalOf(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return nil
}
