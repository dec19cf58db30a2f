// What a repository is told of its siblings with a turn: COORDINATOR_CONTEXT (docs/coordinator.md#a-turn).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Context is the cross-repository context of one turn.
type Context struct {
	Ref  string        // ctx_<workstream>_<repository>_<8 hex>
	JSON *ojson.Object // COORDINATOR_CONTEXT.json
	Text string        // COORDINATOR_CONTEXT.md
}

// NewContext builds the context of a turn about to be dispatched, and the change that records it. It contains what
// the other repositories have had accepted in the workstream and those it depends on, and the barriers that still
// concern the repository.
func NewContext(w *Workspace, a *Assignment, env protocol.Env) (*Context, *Change) {
	stream := w.Config.Workstream(a.Workstream)
	related := append([]string{a.Workstream}, stream.DependsOn...)
	id := env.ID("ctx_" + a.Workstream + "_" + a.Repo)
	ctx := &Context{Ref: id[:len(id)-8]}

	upstream := w.upstream(a.Repo, related)
	barriers := w.concerning(a, related)
	ctx.JSON = ojson.NewObject("schema_version", Schema, "super_run_id", w.State.SuperRunID,
		"workstream_id", a.Workstream, "target_repo_id", a.Repo,
		"context_ref", ctx.Ref, "generated_at", env.Time(), "upstream_acceptances", upstream,
		"active_barriers", barrierRows(barriers),
		"required_followups", followups(a, stream, upstream, barriers), "intake_handoffs", []any{})
	ctx.Text = ctx.text()

	var repos []string
	for _, row := range upstream {
		repos = union(repos, []string{row.String("repo_id")})
	}
	c := &Change{}
	c.Record(w, &env, RowContext, "context_ref", ctx.Ref, "workstream_id", a.Workstream, "target_repo_id", a.Repo,
		"relevant_workstream_ids", related, "upstream_repo_ids", append([]string{}, repos...))
	return ctx, c
}

// BeginsRun adds to the row of a context that the repository starts this run for the turn.
func (c *Change) BeginsRun(run string) { c.History[len(c.History)-1].Set("begins_run_id", run) }

// Dispatched records that a turn was dispatched. run is the turn's run, which is a new one when the repository had
// to start one: the record follows it (docs/siblings.md).
func Dispatched(w *Workspace, a *Assignment, run, turn, contextRef string, env protocol.Env) *Change {
	c := &Change{}
	c.Record(w, &env, RowDispatched, "workstream_id", a.Workstream, "repo_id", a.Repo, "repo_run_id",
		ojson.OrNull(run), "repo_turn_id", turn,
		"role", a.Role, "context_ref", ojson.OrNull(contextRef))
	c.Decide(w, &env, w.State.Phase, decidedDispatch,
		fmt.Sprintf("Gave a turn of workstream %s to %s in the role %s", a.Workstream, a.Repo, a.Role),
		"repo_id", a.Repo, "repo_run_id", run, "repo_turn_id", turn, "workstream_id", a.Workstream, "context_ref",
		contextRef)
	if run == "" || run == w.State.RunOf(a.Repo) {
		return c
	}
	c.State = w.State.Clone()
	c.State.UpdatedAt = env.Time()
	c.State.RepoRuns.Set(a.Repo, &RepoRun{
		RunID:       &run,
		Status:      RepoInitialized,
		Phase:       w.State.Phase,
		Initialized: true,
	})
	return c
}

// upstream returns what other repositories have had accepted in the workstreams,
// oldest first.
func (w *Workspace) upstream(target string, streams []string) []*ojson.Object {
	out := []*ojson.Object{}
	for _, row := range w.History.Rows() {
		if row.String("type") != rowProjection || row.String("repo_id") == target ||
			!slices.Contains(streams, row.String("workstream_id")) {
			continue
		}
		verification, _ := row.Get("verification")
		out = append(out, ojson.NewObject("projection_ref", ojson.OrNull(row.String("projection_ref")),
			"workstream_id", row.String("workstream_id"),
			"repo_id", row.String("repo_id"), "repo_turn_id", ojson.OrNull(row.String("repo_turn_id")),
			"summary", row.String("summary"),
			"decisions", append([]any{}, row.Array("decisions")...),
			"files_changed", append([]string{}, row.Strings("files_changed")...), "verification", verification))
	}
	return out
}

// concerning returns the unsatisfied barriers of the workstreams that concern the repository.
func (w *Workspace) concerning(a *Assignment, streams []string) []*Barrier {
	var out []*Barrier
	for _, b := range w.Barriers.All() {
		if b.Status == Satisfied || b.Type == AllReposAccepted || !slices.Contains(streams, b.Workstream) {
			continue
		}
		if b.Workstream == a.Workstream || slices.Contains(b.Required, a.Repo) || b.blocks(a.Repo, a.Role) {
			out = append(out, b)
		}
	}
	return out
}

func barrierRows(list []*Barrier) []*ojson.Object {
	out := []*ojson.Object{}
	for _, b := range list {
		o := ojson.NewObject("barrier_id", b.ID, "workstream_id", b.Workstream, "type", b.Type, "status", b.Status,
			"notes", ojson.OrNull(b.Notes()))
		for _, key := range []string{"required_decision_ids_by_repo", "alignment_decision_ids"} {
			o.Set(key, ojson.CloneValue(b.raw.Value(key)))
		}
		out = append(out, o)
	}
	return out
}

// followups says in sentences what the repository must do about its siblings.
func followups(a *Assignment, stream *Workstream, upstream []*ojson.Object, barriers []*Barrier) []string {
	var out []string
	say := func(format string, args ...any) { out = union(out, []string{fmt.Sprintf(format, args...)}) }
	for _, dep := range stream.DependsOn {
		if slices.ContainsFunc(upstream, func(row *ojson.Object) bool { return row.String("workstream_id") == dep }) {
			say("Build on what workstream %s has accepted before you change %s.", dep, a.Repo)
		}
	}
	for _, row := range upstream {
		say("Look at what %s has accepted: %s", row.String("repo_id"), wire.OneLine(row.String("summary")))
	}
	for _, b := range barriers {
		if ids := b.Decisions(a.Repo); len(ids) > 0 && b.Workstream == a.Workstream {
			say("Record the decisions that %s must accept for barrier %s: %s.", a.Repo, b.ID, strings.Join(ids, ", "))
		}
		if notes := wire.OneLine(b.Notes()); notes != "" {
			say("%s", notes)
		} else {
			say("Keep to barrier %s (%s).", b.ID, b.Type)
		}
	}
	return append([]string{}, out...)
}

// text returns COORDINATOR_CONTEXT.md. Text from siblings is put on one line each, so that no summary can pose as
// one of our headings.
func (ctx *Context) text() string {
	o := ctx.JSON
	var b strings.Builder
	fmt.Fprintf(&b,
		"# Coordinator Context\n\n- Super Run: %s\n- Workstream: %s\n- Target Repo: %s\n- Context Ref: %s\n- Generated At: %s\n",
		o.String("super_run_id"), o.String("workstream_id"), o.String("target_repo_id"), ctx.Ref,
		o.String("generated_at"))
	section := func(title string, items []string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if len(items) == 0 {
			items = []string{"None"}
		}
		for _, item := range items {
			fmt.Fprintf(&b, "- %s\n", item)
		}
	}
	var items []string
	for _, row := range o.Objects("upstream_acceptances") {
		item := fmt.Sprintf("%s (%s): %s", row.String("repo_id"), row.String("workstream_id"),
			wire.OneLine(row.String("summary")))
		if ids := DecisionIDs(row.Array("decisions")); len(ids) > 0 {
			item += " [" + wire.OneLine(strings.Join(ids, ", ")) + "]"
		}
		items = append(items, item)
	}
	section("Upstream Acceptances", items)
	items = nil
	for _, row := range o.Objects("active_barriers") {
		item := fmt.Sprintf("%s: %s (%s)", row.String("barrier_id"), row.String("type"), row.String("status"))
		if ids := newBarrier("", row).Decisions(o.String("target_repo_id")); len(ids) > 0 {
			item += " requires " + strings.Join(ids, ", ")
		}
		items = append(items, item)
	}
	section("Active Barriers", items)
	section("Required Follow-ups", o.Strings("required_followups"))
	return b.String()
}
