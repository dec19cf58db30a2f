// Intents of a run: which is handed out next, and what becomes of it (docs/intake.md).

package intents

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Statuses of an intent.
const (
	Approved   = "approved"
	Planned    = "planned"
	Executing  = "executing"
	Completed  = "completed"
	Satisfied  = "satisfied"
	Suppressed = "suppressed"
)

// File is the file of an intent as found in the work tree.
type File struct {
	Path     string         `json:"path"`
	Blob     *evidence.Blob `json:"blob"` // nil when it does not exist
	Source   string         `json:"source,omitempty"`
	Category string         `json:"category,omitempty"` // both from the intent's event
}

// Open reports whether an intent waits to be handed out.
func Open(doc *ojson.Object) bool {
	return slices.Contains([]string{Approved, Planned}, doc.String("status"))
}

// Of reports whether a waiting intent is for the run: approved in it, or before any run began.
func Of(doc *ojson.Object, id string) bool {
	durable := doc.Bool("cross_run_durable")
	of := doc.String("approved_run_id")
	return of == id && id != "" || of == "" && durable
}

// Recorded returns the recorded document of an intent, or nil.
func Recorded(s *run.State, id string) *ojson.Object {
	if i := intentAt(s, id); i >= 0 {
		return s.Intents[i].Object("document")
	}
	return nil
}

func intentAt(s *run.State, id string) int {
	return slices.IndexFunc(s.Intents, func(e *ojson.Object) bool {
		return id != "" && e.Object("document").String("intent_id") == id
	})
}

// Take records the intents that wait on disk. While turns are at work only the record counts: a file that differs
// may be the agent's.
func Take(t *change.Draft, files []File) (warnings []string) {
	s := t.State
	busy := s.ActiveTurns.Len() > 0
	for _, f := range files {
		var doc *ojson.Object
		if f.Blob != nil {
			doc, _ = ojson.DecodeObject(f.Blob.Data)
		}
		id := doc.String("intent_id")
		at := slices.IndexFunc(s.Intents, func(e *ojson.Object) bool {
			return Path(e.Object("document").String("intent_id")) == f.Path
		})
		switch {
		case at >= 0 && (busy || doc == nil || Path(id) != f.Path):
			if f.Blob == nil || doc == nil || !sameObject(doc, s.Intents[at].Object("document")) {
				putIntent(t, s.Intents[at].Object("document"))
				warnings = append(warnings, f.Path+" was not as recorded; it is put back.")
			}
			continue
		case doc == nil || Path(id) != f.Path:
			warnings = append(warnings, f.Path+" is left out: it is not the file of an intent.")
			continue
		case at >= 0 && !Open(doc):
			s.Intents = slices.Delete(slices.Clone(s.Intents), at, at+1) // a person has settled it with another tool
			continue
		case !Open(doc) || !Of(doc, s.Run()):
			continue
		}
		if why := CheckDocument(doc); why != "" {
			warnings = append(warnings, f.Path+" is left out: "+why+".")
			continue
		}
		doc = doc.Clone()
		if doc.String("approved_run_id") == "" {
			doc.Delete("cross_run_durable")
			doc.Set("approved_run_id", s.Run())
			moveIntent(t, doc, doc.String("status"), "pre-run durable approval bound to run "+s.Run())
			putIntent(t, doc)
		}
		s.Intents = slices.Clone(s.Intents)
		switch {
		case at >= 0:
			s.Intents[at] = Entry(doc, f.Source, f.Category)
		case len(s.Intents) >= Max:
			warnings = append(warnings,
				fmt.Sprintf("%s is left out: %d intents of the run are not over.", f.Path, Max))
		default:
			s.Intents = append(s.Intents, Entry(doc, f.Source, f.Category))
		}
	}
	return warnings
}

func sameObject(a, b *ojson.Object) bool { return bytes.Equal(ojson.Compact(a), ojson.Compact(b)) }

// Next returns the recorded intent to hand out next in a phase: the most urgent, then the one approved first.
func Next(s *run.State) *ojson.Object {
	var out *ojson.Object
	for _, e := range s.Intents {
		doc := e.Object("document")
		if scope := doc.String("phase_scope"); !Open(doc) || scope != "" && scope != s.Phase {
			continue
		}
		if out == nil || Order(doc, out) < 0 {
			out = doc
		}
	}
	return out
}

// Order compares intents by the order in which they are handed out.
func Order(a, b *ojson.Object) int {
	return cmp.Or(cmp.Compare(intentRank(a), intentRank(b)),
		cmp.Compare(a.String("created_at"), b.String("created_at")),
		cmp.Compare(a.String("intent_id"), b.String("intent_id")))
}

func intentRank(doc *ojson.Object) int {
	if i := slices.Index(Priorities(), doc.String("priority")); i >= 0 {
		return i
	}
	return len(Priorities())
}

// UrgentRole returns the role for which the next urgent intent asks, or "".
func UrgentRole(t *change.Draft) string {
	doc := Next(t.State)
	role := doc.String("preferred_role")
	if doc.String("priority") != "p0" || t.Config.Role(role) == nil || t.Config.Routed(t.State.Phase, role) != nil {
		return ""
	}
	return role
}

// Bind gives the next intent to a turn. An urgent intent goes before delegated and planned work, any other to a
// turn that has neither.
func Bind(t *change.Draft, turn *run.Turn, urgent bool) bool {
	if turn.IntakeContext != nil || turn.DelegationContext != nil || turn.DelegationReview != nil {
		return false
	}
	doc := Next(t.State)
	if doc == nil || urgent != (doc.String("priority") == "p0") {
		return false
	}
	if role := doc.String("preferred_role"); !urgent && role != "" && role != turn.AssignedRole {
		return false
	}
	i := intentAt(t.State, doc.String("intent_id"))
	entry := t.State.Intents[i]
	doc = doc.Clone()
	if doc.String("status") == Approved {
		moveIntent(t, doc, Planned, "handed out without planning documents of its own")
	}
	now := t.Env.Time()
	step := moveIntent(t, doc, Executing, "governed execution started")
	step.Set("run_id", t.State.Run())
	step.Set("turn_id", turn.TurnID)
	step.Set("role", turn.AssignedRole)
	doc.Set("target_run", t.State.Run())
	doc.Set("target_turn", turn.TurnID)
	doc.Set("started_at", now)
	setIntent(t, i, entry, doc)
	turn.IntakeContext = ojson.NewObject(
		"intent_id", doc.String("intent_id"),
		"event_id", doc.String("event_id"),
		"source", entry.Value("source"),
		"category", entry.Value("category"),
		"charter", ojson.OrNull(doc.String("charter")),
		"acceptance_contract", wire.NonNil(doc.Strings("acceptance_contract")),
		"phase_scope", doc.Value("phase_scope"),
	)
	return true
}

// moveIntent sets the status of a document, a clone, and notes why.
func moveIntent(t *change.Draft, doc *ojson.Object, to, reason string) *ojson.Object {
	step := ojson.NewObject("from", doc.String("status"), "to", to, "at", t.Env.Time(), "reason", reason)
	doc.Set("status", to)
	doc.Set("updated_at", t.Env.Time())
	doc.Set("history", append(slices.Clip(doc.Objects("history")), step))
	return step
}

func setIntent(t *change.Draft, i int, entry, doc *ojson.Object) {
	entry = entry.Clone()
	entry.Set("document", doc)
	t.State.Intents = slices.Clone(t.State.Intents)
	t.State.Intents[i] = entry
	putIntent(t, doc)
}

// putIntent writes the file of an intent, which other tools read.
func putIntent(t *change.Draft, doc *ojson.Object) {
	path := Path(doc.String("intent_id"))
	t.Files = slices.DeleteFunc(t.Files, func(f change.FileWrite) bool { return f.Path == path })
	t.Write(path, ojson.Pretty(doc))
}

// Answer completes the intent of an accepted turn, and restores files of other intents that the turn may have
// touched.
func Answer(t *change.Draft, turn *run.Turn, status string, touched []string,
	file *evidence.Blob) (warnings []string) {
	for _, id := range touched {
		if doc := Recorded(t.State, id); doc != nil {
			putIntent(t, doc)
			warnings = append(warnings, "The file of "+wire.OneLine(id)+" was not as recorded; it is put back.")
		}
	}
	id := turn.IntakeContext.String("intent_id")
	if id == "" || status != wire.ResultCompleted {
		return warnings
	}
	i := intentAt(t.State, id)
	var doc *ojson.Object
	switch {
	case i >= 0:
		doc = t.State.Intents[i].Object("document").Clone()
		t.State.Intents = slices.Delete(slices.Clone(t.State.Intents), i, i+1)
	case file != nil:
		doc, _ = ojson.DecodeObject(file.Data)
		if doc.String("intent_id") != id || doc.String("status") != Executing || !ValidID(id) {
			return warnings
		}
	default:
		return warnings
	}
	now := t.Env.Time()
	step := moveIntent(t, doc, Completed, "turn accepted: its acceptance contract is answered")
	step.Set("turn_id", turn.TurnID)
	step.Set("role", turn.AssignedRole)
	step.Set("run_id", t.State.Run())
	doc.Set("completed_at", now)
	doc.Set("run_completed_at", now)
	doc.Set("run_final_turn", turn.TurnID)
	doc.Set("satisfying_turn", turn.TurnID)
	putIntent(t, doc)
	return warnings
}

// Follow updates the intents of the run after an operation: an intent whose turn is gone waits again, one whose
// phase was left is over.
func Follow(t *change.Draft) {
	s := t.State
	var retired []string
	for i := 0; i < len(s.Intents); i++ {
		entry := s.Intents[i]
		doc := entry.Object("document")
		id, turn := doc.String("intent_id"), doc.String("target_turn")
		switch {
		case doc.String("status") == Executing && !s.ActiveTurns.Has(turn):
			doc = doc.Clone()
			if next := turnWithIntent(s, id); next != "" {
				doc.Set("target_turn", next)
				doc.Set("updated_at", t.Env.Time())
			} else {
				moveIntent(t, doc, Approved, "turn "+turn+" ended without completing it")
				doc.Set("target_turn", nil)
			}
			setIntent(t, i, entry, doc)
		case Open(doc) && t.Before.State.Run() == s.Run() && t.Before.State.Phase != s.Phase &&
			doc.String("phase_scope") == t.Before.State.Phase:
			doc = doc.Clone()
			reason := "phase " + t.Before.State.Phase + " was left"
			step := moveIntent(t, doc, Satisfied, reason)
			step.Set("exited_phase", t.Before.State.Phase)
			step.Set("entered_phase", s.Phase)
			doc.Set("satisfied_at", t.Env.Time())
			doc.Set("satisfied_reason", reason)
			putIntent(t, doc)
			s.Intents = slices.Delete(slices.Clone(s.Intents), i, i+1)
			retired = append(retired, id)
			i--
		}
	}
	if len(retired) > 0 {
		t.Event("intent_retired_by_phase_advance", nil, "exited_phase", t.Before.State.Phase, "entered_phase", s.Phase,
			"retired_count", len(retired), "retired_intent_ids", retired)
	}
}

func turnWithIntent(s *run.State, id string) string {
	for turn, t := range s.ActiveTurns.All() {
		if t != nil && t.IntakeContext.String("intent_id") == id {
			return turn
		}
	}
	return ""
}

// Archive ends the waiting intents of a run that is over: they were approved for it, not for the next run.
func Archive(t *change.Draft) {
	for _, e := range t.State.Intents {
		doc := e.Object("document")
		if doc == nil {
			continue
		}
		doc = doc.Clone()
		reason := "stale: approved under run " + doc.String("approved_run_id") + ", which is over"
		moveIntent(t, doc, Suppressed, reason)
		doc.Set("archived_reason", reason)
		putIntent(t, doc)
	}
	t.State.Intents = nil
}
