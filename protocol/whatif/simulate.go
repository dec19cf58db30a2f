// Every state that a configuration can reach: roles and people act, the engine decides.

package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// The six events of a simulation. A role's turn works, asks to move the run on with the documents of the gate
// written and verified, or stops for a person; a person writes the documents, approves, or lifts a block.
const (
	EventWork    = "work"
	EventAsk     = "ask"
	EventStop    = "stop"
	EventWrite   = "write"
	EventApprove = "approve"
	EventUnblock = "unblock"
)

// Event is what happens next. Role is "" for a person's event.
type Event struct {
	Kind string
	Role string
}

func (e Event) String() string {
	if e.Role == "" {
		return e.Kind
	}
	return e.Role + " " + e.Kind
}

// ParseEvent reads "ROLE work", "ROLE ask", "ROLE stop", "write", "approve" or "unblock".
func ParseEvent(cfg *config.Config, text string) (Event, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 1 && slices.Contains([]string{EventWrite, EventApprove, EventUnblock}, words[0]):
		return Event{Kind: words[0]}, nil
	case len(words) == 2 && slices.Contains([]string{EventWork, EventAsk, EventStop}, words[1]):
		if cfg.Role(words[0]) == nil {
			return Event{}, fmt.Errorf("there is no role %s", wire.Quoted(words[0]))
		}
		return Event{Kind: words[1], Role: words[0]}, nil
	}
	return Event{}, fmt.Errorf("%s is not an event: write ROLE work, ROLE ask, ROLE stop, write, approve or unblock",
		wire.Quoted(text))
}

// document satisfies every evaluator that a gate can have; sections are the required sections of the project.
func document(sections []string) []byte {
	text := "# Simulated\n\nApproved: YES\n\n## Verdict: YES\n\n| Req # | Requirement | Status |\n|---|---|---|\n| R1 | it works | PASS |\n\n"
	for _, h := range []string{"## Purpose", "## Interface", "## Acceptance Tests", "## Changes", "## Verification",
		"## User Impact", "## Verification Summary"} {
		text += h + "\n\nsaid.\n\n"
	}
	for _, h := range sections {
		text += h + "\n\nsaid.\n\n"
	}
	return []byte(text)
}

// World is a play used by a simulation.
type World struct {
	Play
	documents map[string]map[string][]byte // phase -> path -> text that satisfies the gate
}

// NewWorld starts a run. Statements count as signed: a simulation has no keys.
func NewWorld(cfg *config.Config) (*World, error) {
	if cfg.Authority != nil {
		cfg = unsigned(cfg)
	}
	w := &World{documents: make(map[string]map[string][]byte)}
	for _, phase := range cfg.Phases() {
		w.documents[phase] = make(map[string][]byte)
		gate := cfg.Gate(cfg.Route(phase).ExitGate)
		if gate == nil {
			continue
		}
		for _, a := range config.GateArtifacts(cfg, gate, phase) {
			var sections []string
			for _, k := range a.Kit {
				sections = append(sections, k.RequiredSections...)
			}
			w.documents[phase][a.Path] = document(sections)
		}
	}
	p, d := NewPlay(cfg, nil)
	if f := d.Failure(); f != nil {
		return nil, fmt.Errorf("a run cannot begin: %s", f.Message)
	}
	w.Play = *p
	return w, nil
}

// unsigned returns the configuration with every approval rule reduced to the people it names.
func unsigned(cfg *config.Config) *config.Config {
	doc := cfg.Raw.Clone()
	authority := doc.Object("authority")
	for _, g := range authority.Object("gates").All() {
		if o, ok := g.(*ojson.Object); ok {
			o.Delete("signed")
			o.Delete("not_author")
		}
	}
	out, problems := config.DecodeObject(doc)
	if len(problems) > 0 {
		return cfg
	}
	return out
}

// Events lists what can happen in this state of the world, events that move the run on first.
func (w *World) Events() []Event {
	s := w.State
	switch {
	case s.Status == wire.StatusPaused:
		return []Event{{Kind: EventApprove}, {Kind: EventWrite}}
	case s.Status == wire.StatusBlocked:
		return []Event{{Kind: EventUnblock}, {Kind: EventWrite}}
	case s.Status != wire.StatusActive:
		return nil
	}
	roles := w.Config.PhaseRoles(s.Phase)
	if len(roles) == 0 {
		roles = w.Config.Roles.Keys()
	}
	var out []Event
	for _, kind := range []string{EventAsk, EventWork, EventStop} {
		for _, r := range roles {
			out = append(out, Event{kind, r})
		}
	}
	return append(out, Event{Kind: EventWrite})
}

// Next returns the world after an event, and the decisions it took; the last decision is the event's outcome. The
// world itself stays unchanged.
func (w *World) Next(e Event) (*World, []*protocol.Decided) {
	next := *w
	next.Index = w.Index
	switch e.Kind {
	case EventWrite:
		files := make(map[string][]byte)
		for path := range w.documents[w.State.Phase] {
			files[path] = w.draft(path)
		}
		next.Write(files)
		return &next, nil
	case EventApprove:
		signed := make(map[string][]byte)
		for path, data := range w.documents[w.State.Phase] {
			if _, ok := w.Files[path]; ok {
				signed[path] = data // the approving person signs the present document
			}
		}
		next.Write(signed)
		return &next, []*protocol.Decided{next.Approve()}
	case EventUnblock:
		return &next, []*protocol.Decided{next.Do(&protocol.Reactivate{})}
	}
	var out []*protocol.Decided
	turn := next.State.OnlyTurn()
	if turn == nil {
		d := next.Assign(e.Role)
		out = append(out, d)
		if turn = next.State.OnlyTurn(); d.Failure() != nil || turn == nil {
			return w, out
		}
	}
	d := next.turn(turn, e.Kind)
	out = append(out, d)
	if d.Failure() != nil && next.State.OnlyTurn() != nil && next.State.Status == wire.StatusActive {
		// A person takes the refused turn back, which also undoes what it spoiled.
		back := *w
		return &back, out
	}
	return &next, out
}

// turn lets the active turn hand in a result.
func (w *World) turn(turn *run.Turn, kind string) *protocol.Decided {
	role := w.Config.Role(turn.AssignedRole)
	members := ojson.NewObject("verification",
		ojson.NewObject("status", "pass", "commands", []any{"true"}, "evidence_summary", "ran it",
			"machine_evidence", []any{ojson.NewObject("command", "true", "exit_code", 0)}))
	var changed []any
	var paths []string
	switch kind {
	case EventStop:
		members.Set("status", wire.ResultNeedsHuman)
		members.Set("needs_human_reason", "a question")
	case EventAsk:
		if next := w.Config.NextPhase(w.State.Phase); next != "" {
			members.Set("phase_transition_request", next)
		} else {
			members.Set("run_completion_request", true)
		}
		if config.WriteContract(w.Config, turn.AssignedRole).CanProduceFiles {
			docs := w.documents[w.State.Phase]
			for _, path := range slices.Sorted(maps.Keys(docs)) {
				if role.WriteAuthority == wire.ReviewOnly && !strings.HasPrefix(path, ".planning/") {
					continue
				}
				paths, changed = append(paths, path), append(changed, path)
			}
		}
	}
	if role != nil && role.WriteAuthority == wire.Authoritative && kind != EventStop {
		paths, changed = append(paths, "src/simulated.txt"), append(changed, "src/simulated.txt")
	}
	if changed != nil {
		members.Set("files_changed", changed)
		files := map[string][]byte{}
		for _, path := range paths {
			if files[path] = w.draft(path); files[path] == nil {
				files[path] = fmt.Appendf(nil, "%d", w.step)
			}
		}
		w.Write(files)
	}
	w.replay = &result.ReplayOutcome{Overall: result.ReplayMatch, ReplayedCommands: 1, MatchedCommands: 1}
	return w.Accept(turn, w.Result(turn, members), paths)
}

// draft returns a document of the phase's gate before a person signs it; nil for any other path.
func (w *World) draft(path string) []byte {
	data := w.documents[w.State.Phase][path]
	if data == nil || !w.Config.PersonSigns() {
		return data
	}
	return []byte(strings.NewReplacer("Approved: YES", "Approved: NO", "## Verdict: YES",
		"## Verdict: NO").Replace(string(data)))
}

// key identifies a state by what the rules can see, with counts capped where the rules stop counting.
func (w *World) key() string {
	s, x := w.State, w.Index
	most := 0
	for _, pol := range w.Config.Policies {
		most = max(most, int(min(pol.Limit, 1000))+1)
	}
	inPhase, _ := x.PhaseAccepted.Get(s.Phase)
	roles, _ := x.Participants.Get(s.Phase)
	roles = slices.Clone(roles)
	slices.Sort(roles)
	var visited []string
	for _, phase := range w.Config.Phases() {
		if x.PhaseAccepted.Has(phase) {
			visited = append(visited, phase)
		}
	}
	var here []string
	for path := range w.documents[s.Phase] {
		if _, ok := w.Files[path]; ok {
			here = append(here, path)
		}
	}
	slices.Sort(here)
	streak := ""
	if most > 0 {
		streak = fmt.Sprintf("%s %d %d %d", x.StreakRole, min(x.Streak, most), min(x.Accepted, most),
			min(inPhase, most))
	}
	return fmt.Sprintf("%s|%s|%s|%v|%v|%v|%s|%d|%d|%v", s.Phase, s.Status, wire.OrEmpty(s.BlockedOn), roles, visited,
		here, streak,
		s.NonProgressCount, len(s.GateVotes), s.OnlyTurn() != nil)
}
