// Barriers: when the repositories of a workstream have done what the barrier waits for
// (docs/coordinator.md#barriers).

package initiative

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Barrier statuses. Satisfied is final.
const (
	Pending            = "pending"
	PartiallySatisfied = "partially_satisfied"
	Satisfied          = "satisfied"
)

// Barrier is one entry of barriers.json. Members that are not fields survive.
type Barrier struct {
	ID         string
	Workstream string
	Type       string
	Status     string
	Required   []string // repositories
	Satisfied  []string // repositories
	ApprovedAt string   // when a person approved it, else ""

	raw *ojson.Object
}

// BarrierID returns the id of the barrier a workstream starts with.
func BarrierID(workstream string) string { return workstream + "_completion" }

// NewBarrier returns the barrier a workstream starts with (docs/coordinator.md#barriers).
func NewBarrier(w *Workstream, at string) *Barrier {
	var ids, alignment *ojson.Object
	switch w.Barrier {
	case NamedDecisions:
		ids = w.decisionMap()
	case InterfaceAlignment:
		ids, alignment = w.decisionMap(), w.decisionMap()
	}
	return newBarrier(BarrierID(w.ID), ojson.NewObject("workstream_id", w.ID, "type", w.Barrier, "status", Pending,
		"required_repos", w.Repos, "satisfied_repos", []string{}, "required_decision_ids_by_repo", ids,
		"alignment_decision_ids", alignment,
		"created_at", at))
}

func newBarrier(id string, o *ojson.Object) *Barrier {
	return &Barrier{
		ID:         id,
		Workstream: o.String("workstream_id"),
		Type:       o.String("type"),
		Status:     o.String("status"),
		Required:   union(nil, o.Strings("required_repos")),
		Satisfied:  o.Strings("satisfied_repos"),
		ApprovedAt: o.String("approved_at"),
		raw:        o,
	}
}

// Object returns the entry as it is written: as it was read, with the changes.
func (b *Barrier) Object() *ojson.Object {
	o := b.raw.Clone()
	if o.String("status") != b.Status {
		o.Set("status", b.Status)
	}
	if !slices.Equal(o.Strings("satisfied_repos"), b.Satisfied) {
		o.Set("satisfied_repos", b.Satisfied)
	}
	if o.String("approved_at") != b.ApprovedAt {
		o.Set("approved_at", b.ApprovedAt)
	}
	return o
}

// Decisions returns the decision ids that a repository must have accepted. For a barrier without
// required_decision_ids_by_repo it uses alignment_decision_ids.
func (b *Barrier) Decisions(repo string) []string {
	ids := b.raw.Object("required_decision_ids_by_repo")
	if ids == nil {
		ids = b.raw.Object("alignment_decision_ids")
	}
	return ids.Strings(repo)
}

// Differs reports whether a workstream now asks for something else than its barrier has asked for since it began: its
// type, its repositories or their decisions.
func (b *Barrier) Differs(w *Workstream) bool {
	anew := NewBarrier(w, "")
	return b.Type != anew.Type || !sameSet(b.Required, anew.Required) ||
		slices.ContainsFunc(b.Required, func(repo string) bool { return !sameSet(b.Decisions(repo), anew.Decisions(repo)) })
}

func sameSet(a, b []string) bool { return len(union(a, b)) == len(a) && len(union(b, a)) == len(b) }

// list reads a member that names repositories, such as downstream_repos.
func (b *Barrier) list(member string) []string { return b.raw.Strings(member) }

// Notes returns the notes written beside the barrier.
func (b *Barrier) Notes() string { return b.raw.String("notes") }

// Evaluate returns the barrier's status and satisfied repositories after the given history. Satisfied barriers stay
// satisfied; only approval moves shared human gates; a type unknown to this engine never moves.
//
// The sequence of an ordered barrier is open once its entry repository has accepted: its status says that later
// repositories may go on, not that they are done. Its satisfied repositories are tracked to the end
// (docs/siblings.md).
func (b *Barrier) Evaluate(cfg *Config, h *History) (status string, satisfied []string) {
	if b.Status == Satisfied && b.Type != OrderedSequence {
		return b.Status, b.Satisfied
	}
	accepted := h.Accepted(b.Workstream)
	satisfied = intersect(accepted, b.Required)
	started := len(satisfied)
	if len(b.Required) == 0 {
		// A barrier that requires no repository is started by any and satisfied by none.
		started = len(accepted)
	}
	switch b.Type {
	case AllReposAccepted:
		return progress(len(satisfied), len(b.Required), started), satisfied
	case InterfaceAlignment, NamedDecisions:
		satisfied = b.aligned(h)
		return progress(len(satisfied), len(b.Required), started), satisfied
	case OrderedSequence:
		w := cfg.Workstream(b.Workstream)
		switch {
		case w == nil:
			return b.Status, b.Satisfied
		case b.Status == Satisfied:
			return Satisfied, union(b.Satisfied, satisfied)
		case slices.Contains(accepted, w.EntryRepo):
			return Satisfied, satisfied
		case len(intersect(accepted, w.Repos)) > 0:
			return PartiallySatisfied, satisfied
		}
		return Pending, satisfied
	}
	return b.Status, b.Satisfied
}

// progress returns the status when done of all repositories have done everything and started of them have begun.
// With no repositories nothing is ever satisfied.
func progress(done, all, started int) string {
	switch {
	case all > 0 && done == all:
		return Satisfied
	case started > 0:
		return PartiallySatisfied
	}
	return Pending
}

// aligned returns the required repositories that have accepted all their decisions. A repository without any
// decision to accept is never aligned.
func (b *Barrier) aligned(h *History) []string {
	var out []string
	for _, repo := range b.Required {
		ids := b.Decisions(repo)
		if len(ids) > 0 && len(h.Missing(b.Workstream, repo, ids)) == 0 {
			out = append(out, repo)
		}
	}
	return out
}

// Waiting returns what the barrier still waits for, by repository in their order: the missing decisions, or nil for
// an acceptance. A barrier that waits for a person alone has no entries.
func (b *Barrier) Waiting(h *History) *ojson.Map[[]string] {
	out := &ojson.Map[[]string]{}
	if b.Status == Satisfied && b.Type != OrderedSequence {
		return out
	}
	accepted := h.Accepted(b.Workstream)
	for _, repo := range b.Required {
		ids := b.Decisions(repo)
		switch {
		case b.Type == InterfaceAlignment || b.Type == NamedDecisions:
			if missing := h.Missing(b.Workstream, repo, ids); len(missing) > 0 || len(ids) == 0 {
				out.Set(repo, missing)
			}
		case !slices.Contains(accepted, repo):
			out.Set(repo, nil)
		}
	}
	return out
}

// intersect returns the members of a that are in b, in the order of a.
func intersect(a, b []string) []string {
	out := []string{}
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// union returns a followed by the members of b that are not in it.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Barriers is barriers.json: the entries in the order of the file.
type Barriers struct {
	doc  *ojson.Object
	list ojson.Map[*Barrier]
}

// DecodeBarriers reads barriers.json; nil means an empty one. Entries that are not objects are kept and reported,
// but otherwise ignored.
func DecodeBarriers(o *ojson.Object) (*Barriers, wire.Problems) {
	b := &Barriers{doc: o}
	var problems wire.Problems
	for id, v := range o.All() {
		e, ok := v.(*ojson.Object)
		if !ok {
			problems = append(problems, wire.Problem{Code: wire.CodeInvalidState, Field: id,
				Message: "the barrier " + ojson.Shown(id) + " must be an object, not " + ojson.Shown(v)})
			continue
		}
		b.list.Set(id, newBarrier(id, e))
	}
	return b, problems
}

// NewBarriers returns the barriers with which an initiative starts, one per workstream.
func NewBarriers(cfg *Config, at string) *Barriers {
	b := &Barriers{}
	for _, w := range cfg.Workstreams.All() {
		e := NewBarrier(w, at)
		b.list.Set(e.ID, e)
	}
	return b
}

// Get returns the barrier with that id, or nil.
func (b *Barriers) Get(id string) *Barrier { e, _ := b.list.Get(id); return e }

// All returns the barriers in the order of the file. The caller must not change
// them.
func (b *Barriers) All() []*Barrier {
	out := make([]*Barrier, 0, b.list.Len())
	for _, e := range b.list.All() {
		out = append(out, e)
	}
	return out
}

// Of returns the barriers of a workstream.
func (b *Barriers) Of(workstream string) []*Barrier {
	return slices.DeleteFunc(b.All(), func(e *Barrier) bool { return e.Workstream != workstream })
}

// with returns the barriers with e in place of the one with its id.
func (b *Barriers) with(e *Barrier) *Barriers {
	c := &Barriers{doc: b.doc, list: b.list.Clone(nil)}
	c.list.Set(e.ID, e)
	return c
}

// Object returns barriers.json as it is written. Entries that were not read as barriers stay as they were.
func (b *Barriers) Object() *ojson.Object {
	out := ojson.NewObject()
	for id, v := range b.doc.All() {
		out.Set(id, v)
	}
	for id, e := range b.list.All() {
		out.Set(id, e.Object())
	}
	return out
}
