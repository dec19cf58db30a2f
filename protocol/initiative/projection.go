// Projection: what a repository has accepted becomes a fact of the initiative (docs/coordinator.md#what-counts).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Acceptance is a turn that a repository has accepted.
type Acceptance struct {
	Repo         string
	Workstream   string
	RunID        string // the repository's run; "" means the one the coordinator has recorded
	TurnID       string
	Summary      string
	FilesChanged []string    // relative to the repository's root, or absolute
	Decisions    []any       // decision ids, or objects with an id
	Verification ojson.Value // nil when there is none
	Recovered    bool        // found by a resync, not reported when it happened
	Unproven     bool        // only the repository's working files say so, not its record
}

// DecodeAcceptance reads an accepted turn {turn_id, summary, files_changed,
// decisions, verification}; every member but turn_id may be absent or null. The
// error is invalid_argument.
func DecodeAcceptance(repo, workstream string, turn *ojson.Object) (Acceptance, *wire.Error) {
	in := Acceptance{Repo: repo, Workstream: workstream}
	var bad *wire.Error
	wrong := func(key, want string, v ojson.Value) {
		if bad == nil {
			bad = &wire.Error{Code: wire.CodeInvalidArgument, Field: key,
				Message: fmt.Sprintf("%s of the accepted turn must be %s, not %s.", key, want, ojson.Shown(v))}
		}
	}
	text := func(key string, dst *string) {
		switch v := turn.Value(key).(type) {
		case nil:
		case string:
			*dst = v
		default:
			wrong(key, "a string", v)
		}
	}
	list := func(key string) []any {
		v, _ := turn.Get(key)
		a, ok := v.([]any)
		if !ok && v != nil {
			wrong(key, "an array", v)
		}
		return a
	}
	text("turn_id", &in.TurnID)
	text("summary", &in.Summary)
	for i, v := range list("files_changed") {
		s, ok := v.(string)
		if !ok {
			wrong(fmt.Sprintf("files_changed[%d]", i), "a string", v)
		}
		in.FilesChanged = append(in.FilesChanged, s)
	}
	in.Decisions = list("decisions")
	in.Verification, _ = turn.Get("verification")
	return in, bad
}

// Workspace is everything the rules look at.
type Workspace struct {
	Config   *Config
	State    *State
	Barriers *Barriers
	History  *History
	Places   Places

	NextDecision int // number of the next DEC-COORD id, at least 1
}

// Change is the outcome of an operation: rows to append and documents to replace. The zero value changes nothing.
type Change struct {
	History       []*ojson.Object // rows of history.jsonl
	BarrierLedger []*ojson.Object // rows of barrier-ledger.jsonl
	Decisions     []*ojson.Object // rows of decision-ledger.jsonl
	HookAudit     []*ojson.Object // rows of hook-audit.jsonl
	HookNotes     []*ojson.Object // rows of hook-annotations.jsonl
	Barriers      *Barriers       // nil when unchanged
	State         *State          // nil when unchanged
	Files         []File          // contexts and reports, written before everything else

	ProjectionRef string          // of a projection
	Repeated      bool            // the turn was already projected; nothing was appended for it
	Effects       []BarrierChange // barriers that changed their status
	Invalidated   []string        // dispatched turns whose context this projection has overtaken
}

// Empty reports whether a change changes nothing.
func (c *Change) Empty() bool {
	return len(c.History)+len(c.BarrierLedger)+len(c.Decisions)+len(c.HookAudit)+len(c.HookNotes)+len(c.Files) == 0 &&
		c.Barriers == nil && c.State == nil
}

// BarrierChange is a barrier that went from one status to another.
type BarrierChange struct {
	Barrier, Workstream, Type string
	Previous, New             string
}

// Effect returns the change as a projection reports it: {barrier_id, previous_status, new_status}.
func (c BarrierChange) Effect() *ojson.Object {
	return ojson.NewObject("barrier_id", c.Barrier, "previous_status", c.Previous, "new_status", c.New)
}

// Row returns the change as a resync reports it: an effect with workstream_id and type.
func (c BarrierChange) Row() *ojson.Object {
	o := c.Effect()
	o.Set("workstream_id", c.Workstream)
	o.Set("type", c.Type)
	return o
}

// With returns the workspace after a change.
func (w *Workspace) With(c *Change) *Workspace {
	out := *w
	out.History = w.History.with(c.History)
	out.NextDecision += len(c.Decisions)
	if c.Barriers != nil {
		out.Barriers = c.Barriers
	}
	if c.State != nil {
		out.State = c.State
	}
	return &out
}

// Project records an accepted turn and moves the barriers of its workstream.
//
// It is idempotent by repository and turn: a turn that was already projected keeps its reference and appends
// nothing; barriers that an interrupted earlier call missed are updated. Errors: unknown_repo, unknown_workstream,
// invalid_argument, repo_not_in_workstream, repo_run_id_mismatch, cross_repo_write_violation, repo_unresolved,
// projection_conflict.
func Project(w *Workspace, in Acceptance, env protocol.Env) (*Change, *wire.Error) {
	if e := w.admit(&in); e != nil {
		return nil, e
	}
	stream := w.Config.Workstream(in.Workstream)
	c := &Change{}
	if row := w.History.Projection(in.Repo, in.TurnID); row != nil {
		if at := row.String("workstream_id"); at != in.Workstream {
			return nil, &wire.Error{
				Code:  CodeProjectionClash,
				Field: "workstream_id",
				Message: fmt.Sprintf(
					"Turn %s of %s counts for workstream %s already; one turn counts for one workstream.", in.TurnID,
					in.Repo, at),
			}
		}
		c.ProjectionRef, c.Repeated = row.String("projection_ref"), true
	} else {
		c.ProjectionRef = w.History.newRef("proj_"+in.Workstream+"_"+in.Repo, &env)
		c.History = []*ojson.Object{in.row(w.State.SuperRunID, c.ProjectionRef, &env)}
		c.Invalidated = w.overtaken(in.Repo, stream)
	}
	h := w.History.with(c.History)
	w.move(c, h, w.Barriers.Of(in.Workstream), &env, func(b *Barrier) *ojson.Object {
		return ojson.NewObject("super_run_id", w.State.SuperRunID, "workstream_id", in.Workstream, "repo_id", in.Repo,
			"barrier_type", b.Type)
	})
	return c, nil
}

// Evaluate gives every workstream that was added since the beginning its barrier, and updates every barrier from the
// history.
func Evaluate(w *Workspace, env protocol.Env) *Change {
	c := &Change{}
	for _, s := range w.Config.Workstreams.All() {
		if w.BarrierOf(s.ID) == nil {
			c.put(w, NewBarrier(s, env.Time()))
		}
	}
	w = w.With(c)
	w.move(c, w.History, w.Barriers.All(), &env, func(b *Barrier) *ojson.Object {
		return ojson.NewObject("super_run_id", w.State.SuperRunID, "workstream_id", b.Workstream,
			"barrier_type", b.Type)
	})
	return c
}

// move evaluates barriers and adds what changed to c; why is the causation of a
// transition.
func (w *Workspace) move(c *Change, h *History, list []*Barrier, env *protocol.Env, why func(*Barrier) *ojson.Object) {
	for _, b := range list {
		status, satisfied := b.Evaluate(w.Config, h)
		if status == b.Status && slices.Equal(satisfied, b.Satisfied) {
			continue
		}
		after := *b
		after.Status, after.Satisfied = status, satisfied
		c.put(w, &after)
		if status != b.Status {
			c.transition(b, status, env, why(b))
		}
	}
}

// put replaces a barrier.
func (c *Change) put(w *Workspace, b *Barrier) {
	if c.Barriers == nil {
		c.Barriers = w.Barriers
	}
	c.Barriers = c.Barriers.with(b)
}

// transition records that a barrier changed its status (docs/coordinator.md#barriers).
func (c *Change) transition(b *Barrier, status string, env *protocol.Env, causation *ojson.Object) {
	c.Effects = append(c.Effects, BarrierChange{b.ID, b.Workstream, b.Type, b.Status, status})
	c.BarrierLedger = append(c.BarrierLedger,
		ojson.NewObject("type", "barrier_transition", "timestamp", env.Time(), "barrier_id", b.ID,
			"previous_status", b.Status, "new_status", status, "causation", causation))
}

// admit checks that the coordinator may believe the acceptance, and fills in its run.
func (w *Workspace) admit(in *Acceptance) *wire.Error {
	if w.Config.Repo(in.Repo) == nil {
		return &wire.Error{
			Code:    CodeUnknownRepo,
			Field:   "repo_id",
			Message: fmt.Sprintf("There is no repository %s in %s.", ojson.Shown(in.Repo), ConfigFile),
		}
	}
	stream := w.Config.Workstream(in.Workstream)
	switch {
	case stream == nil:
		return &wire.Error{
			Code:    CodeUnknownWorkstream,
			Field:   "workstream_id",
			Message: fmt.Sprintf("There is no workstream %s in %s.", ojson.Shown(in.Workstream), ConfigFile),
		}
	case strings.TrimSpace(in.TurnID) == "":
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "turn_id",
			Message: "The accepted turn does not say which turn it is (turn_id).",
		}
	case !slices.Contains(stream.Repos, in.Repo):
		return &wire.Error{
			Code:  CodeNotInWorkstream,
			Field: "repo_id",
			Message: fmt.Sprintf("Repository %s is not part of workstream %s, which belongs to %s.", in.Repo,
				in.Workstream, strings.Join(stream.Repos, ", ")),
		}
	}
	recorded := w.State.RunOf(in.Repo)
	if in.RunID == "" {
		in.RunID = recorded
	}
	if recorded != "" && in.RunID != recorded {
		return &wire.Error{
			Code:    CodeRunMismatch,
			Field:   "repo_run_id",
			Message: driftText(in.Repo, recorded, in.RunID),
			Details: ojson.NewObject("repo_id", in.Repo, "expected_run_id", recorded, "actual_run_id", in.RunID),
		}
	}
	return w.isolated(in.Repo, in.FilesChanged)
}

// driftText says that a repository is on a run other than the initiative's.
func driftText(repo, expected, actual string) string {
	if actual == "" {
		actual = "no run"
	}
	if expected == "" {
		return fmt.Sprintf("Repository %s is on %s, which the initiative does not know.", repo, actual)
	}
	return fmt.Sprintf("Repository %s is on %s, but the initiative goes on with its run %s.", repo, actual, expected)
}

// isolated refuses files outside the repository that reports them.
func (w *Workspace) isolated(repo string, files []string) *wire.Error {
	if w.Places == nil {
		return &wire.Error{
			Code:    CodeRepoUnresolved,
			Field:   repo,
			Message: fmt.Sprintf("It is not known where repository %s is.", repo),
		}
	}
	for _, file := range files {
		owner, e := w.Places.Owner(repo, file)
		switch {
		case e != nil:
			return e
		case owner == repo:
			continue
		}
		e = &wire.Error{
			Code:    CodeCrossRepoWrite,
			Field:   "files_changed",
			Details: ojson.NewObject("file", file, "repo_id", repo),
			Message: fmt.Sprintf("The turn of %s changed %s, which is outside of %s.", repo, ojson.Shown(file), repo),
			Hint:    "a turn changes files of its own repository only; give the other repository a turn of its own",
		}
		if owner != "" {
			e.Details.Set("owner_repo_id", owner)
			e.Message = fmt.Sprintf("The turn of %s changed %s, which belongs to %s.", repo, ojson.Shown(file), owner)
		}
		return e
	}
	return nil
}

// row returns the projection as it is recorded (docs/coordinator.md#what-counts).
func (in *Acceptance) row(superRun, ref string, env *protocol.Env) *ojson.Object {
	files := in.FilesChanged
	if files == nil {
		files = []string{}
	}
	decisions := in.Decisions
	if decisions == nil {
		decisions = []any{}
	}
	o := ojson.NewObject("type", rowProjection, "timestamp", env.Time(), "super_run_id", superRun,
		"projection_ref", ref,
		"workstream_id", in.Workstream, "repo_id", in.Repo, "repo_run_id", ojson.OrNull(in.RunID),
		"repo_turn_id", in.TurnID,
		"summary", in.Summary, "files_changed", files, "decisions", ojson.CloneValue(decisions),
		"verification", ojson.CloneValue(in.Verification))
	if in.Recovered {
		o.Set("recovery", true)
	}
	if in.Unproven {
		o.Set("unproven", true)
	}
	return o
}

// newRef returns an unused reference prefix_<8 hex>.
func (h *History) newRef(prefix string, env *protocol.Env) string {
	for {
		// An engine id has 16 digits; we use the first half.
		id := env.ID(prefix)
		if id = id[:len(id)-8]; !h.refs[id] {
			return id
		}
	}
}

// overtaken returns the turns dispatched and not yet accepted whose context lacks what repo has just had accepted:
// those of other repositories in the workstream, then those of workstreams that depend on it
// (docs/coordinator.md#what-counts).
func (w *Workspace) overtaken(repo string, stream *Workstream) []string {
	var same, dependent []string
	for _, row := range w.History.Open() {
		turn := row.String("repo_turn_id")
		switch of := w.Config.Workstream(row.String("workstream_id")); {
		case of == nil:
		case of.ID == stream.ID:
			if row.String("repo_id") != repo {
				same = append(same, turn)
			}
		case slices.Contains(of.DependsOn, stream.ID):
			dependent = append(dependent, turn)
		}
	}
	return union(union([]string{}, same), dependent)
}
