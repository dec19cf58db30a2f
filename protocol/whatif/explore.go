// What the reachable states show about a configuration: phases that cannot be left, gates that never open, rules
// that deadlock.

package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Node is a reachable state.
type Node struct {
	ID     int    `json:"id"`
	Phase  string `json:"phase"`
	Status string `json:"status"`
	On     string `json:"blocked_on,omitempty"`
	Depth  int    `json:"depth"`          // number of events from the start
	Dead   bool   `json:"dead,omitempty"` // the run cannot complete from here

	from  int // the node from which it was first reached, -1 for the start
	event Event
}

// Edge is an event that leads from one state to another. An event that the engine refuses has no edge.
type Edge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Event string `json:"event"`
}

// Graph is the reachable states of a configuration.
type Graph struct {
	Nodes     []*Node  `json:"nodes"`
	Edges     []Edge   `json:"edges"`
	Whole     bool     `json:"exhaustive"` // every reachable state was seen
	Completes bool     `json:"completes"`  // the end of the run was reached
	Path      []string `json:"path"`       // the shortest known events that reach it
	Stuck     []Stuck  `json:"stuck_phases"`
	Shut      []Stuck  `json:"shut_gates"`
	Deadlocks []Stuck  `json:"deadlocks"`
	Alone     []string `json:"opened_by_agents"` // gates that agents open without a person
}

// Stuck is something that cannot proceed, with the rules that prevent it.
type Stuck struct {
	Name  string   `json:"name"` // phase, gate or rule
	Rules []string `json:"rules"`
	Path  []string `json:"path"` // events that lead there
	Why   string   `json:"why"`
}

// DefaultStates is how many states an exploration visits.
const DefaultStates = 2000

// explorer collects a graph.
type explorer struct {
	g      *Graph
	cfg    *config.Config
	worlds []*World
	seen   map[string]int
	refuse map[int]map[string]string // node -> rule that refused an event there -> why
	left   map[string]bool           // phases that were left
	opened map[string]bool
	asked  map[string]map[string]string // gate -> finding it failed on -> why
	alone  map[string]bool
}

// Explore plays every event in every state until it finds no new state, or has most states.
func Explore(cfg *config.Config, most int) (*Graph, error) {
	w, err := NewWorld(cfg)
	if err != nil {
		return nil, err
	}
	x := &explorer{
		g: &Graph{
			Whole:     true,
			Path:      []string{},
			Stuck:     []Stuck{},
			Shut:      []Stuck{},
			Deadlocks: []Stuck{},
			Alone:     []string{},
		},
		cfg:    cfg,
		seen:   make(map[string]int),
		refuse: make(map[int]map[string]string),
		left:   make(map[string]bool),
		opened: make(
			map[string]bool),
		asked: make(map[string]map[string]string),
		alone: make(map[string]bool),
	}
	x.node(w, -1, Event{})
	for i := 0; i < len(x.worlds); i++ {
		if len(x.worlds) > most {
			x.g.Whole = false
			break
		}
		from := x.worlds[i]
		for _, e := range from.Events() {
			x.follow(i, from, e)
		}
	}
	x.conclude()
	return x.g, nil
}

func (x *explorer) node(w *World, from int, e Event) int {
	key := w.key()
	if i, ok := x.seen[key]; ok {
		return i
	}
	n := &Node{
		ID:     len(x.g.Nodes),
		Phase:  w.State.Phase,
		Status: string(w.State.Status),
		On:     wire.OrEmpty(w.State.BlockedOn),
		from:   from,
		event:  e,
	}
	if from >= 0 {
		n.Depth = x.g.Nodes[from].Depth + 1
	}
	x.seen[key] = n.ID
	x.g.Nodes = append(x.g.Nodes, n)
	x.worlds = append(x.worlds, w)
	if w.State.Status == wire.StatusCompleted && !x.g.Completes {
		x.g.Completes, x.g.Path = true, x.path(n.ID)
	}
	return n.ID
}

func (x *explorer) path(i int) []string {
	out := []string{}
	for ; x.g.Nodes[i].from >= 0; i = x.g.Nodes[i].from {
		out = append(out, x.g.Nodes[i].event.String())
	}
	slices.Reverse(out)
	return out
}

func (x *explorer) follow(i int, from *World, e Event) {
	next, decided := from.Next(e)
	for _, d := range decided {
		x.note(i, d)
	}
	to := x.node(next, i, e)
	if to != i {
		x.g.Edges = append(x.g.Edges, Edge{i, to, e.String()})
	}
	if next.State.Phase != from.State.Phase ||
		next.State.Status == wire.StatusCompleted && from.State.Status != wire.StatusCompleted {
		x.left[from.State.Phase] = true
		if r := x.cfg.Route(from.State.Phase); r != nil && r.ExitGate != "" {
			x.opened[r.ExitGate] = true
			if e.Role != "" {
				x.alone[r.ExitGate] = true
			}
		}
	}
}

// note remembers the rules that refuse something in a state.
func (x *explorer) note(i int, d *protocol.Decided) {
	for l := range d.Chain.All() {
		if l.Verdict != verdict.Fail {
			continue
		}
		gate := gateAround(l)
		if gate != "" && len(l.Steps) == 0 {
			if x.asked[gate] == nil {
				x.asked[gate] = make(map[string]string)
			}
			keep(x.asked[gate], name(l.Step), l.Why)
		}
	}
	s := d.Chain.Decisive()
	if s == nil || s.Verdict != verdict.Fail {
		return
	}
	if x.refuse[i] == nil {
		x.refuse[i] = make(map[string]string)
	}
	keep(x.refuse[i], name(s), cmp.Or(s.Why, d.Chain.Message))
}

// keep records only what was seen first, so that the same configuration gives the same words.
func keep(m map[string]string, key, text string) {
	if _, ok := m[key]; !ok {
		m[key] = text
	}
}

func name(s *verdict.Step) string { return strings.TrimSpace(s.Rule + " " + s.Subject) }

func gateAround(l verdict.Leaf) string {
	for _, s := range l.Path {
		if s.Rule == verdict.RuleGate {
			return s.Subject
		}
	}
	if l.Rule == verdict.RuleGate {
		return l.Subject
	}
	return ""
}

// conclude evaluates the graph. From a partial graph it does not conclude that something is missing.
func (x *explorer) conclude() {
	g := x.g
	for gate := range x.cfg.Gates.All() {
		if x.alone[gate] {
			g.Alone = append(g.Alone, gate)
		}
	}
	if !g.Whole {
		return
	}
	reached := make(map[string]int)
	for _, n := range g.Nodes {
		if _, ok := reached[n.Phase]; !ok {
			reached[n.Phase] = n.ID
		}
	}
	for _, phase := range x.cfg.Phases() {
		at, ok := reached[phase]
		if !ok || x.left[phase] {
			continue
		}
		rules, why := x.reasons(phase)
		g.Stuck = append(g.Stuck, Stuck{Name: phase, Rules: rules, Path: x.path(at), Why: why})
	}
	for phase, r := range x.cfg.Routing.All() {
		if r.ExitGate == "" || x.opened[r.ExitGate] || x.cfg.Gate(r.ExitGate) == nil {
			continue
		}
		s := Stuck{Name: r.ExitGate, Rules: []string{}, Path: []string{}, Why: "phase " + phase + " is never reached"}
		if at, ok := reached[phase]; ok {
			s.Path = x.path(at)
			s.Rules, s.Why = x.reasons(phase)
		}
		g.Shut = append(g.Shut, s)
	}
	x.deadlocks()
}

// reasons returns the rules that refuse to leave a phase, wherever in it.
func (x *explorer) reasons(phase string) (rules []string, why string) {
	all := make(map[string]string)
	if r := x.cfg.Route(phase); r != nil {
		for rule, text := range x.asked[r.ExitGate] {
			keep(all, rule, text)
		}
	}
	for _, n := range x.g.Nodes {
		if n.Phase != phase {
			continue
		}
		for rule, text := range x.refuse[n.ID] {
			keep(all, rule, text)
		}
	}
	rules = []string{}
	for rule := range all {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	var texts []string
	for _, rule := range rules {
		if all[rule] != "" {
			texts = append(texts, all[rule])
		}
	}
	if len(texts) == 0 {
		return rules, "no role of the phase asks to leave it with success"
	}
	return rules, strings.Join(slices.Compact(texts[:min(3, len(texts))]), "; ")
}

// deadlocks finds states from which the run cannot complete, although it can from others; they are named after the
// rules that refuse there.
func (x *explorer) deadlocks() {
	g := x.g
	back := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		back[e.To] = append(back[e.To], e.From)
	}
	alive := make([]bool, len(g.Nodes))
	var queue []int
	for _, n := range g.Nodes {
		if n.Status == string(wire.StatusCompleted) {
			alive[n.ID] = true
			queue = append(queue, n.ID)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, p := range back[n] {
			if !alive[p] {
				alive[p] = true
				queue = append(queue, p)
			}
		}
	}
	found := make(map[string]bool)
	for _, n := range g.Nodes {
		n.Dead = !alive[n.ID]
		if !n.Dead || !g.Completes {
			continue
		}
		for rule, why := range x.refuse[n.ID] {
			if !found[rule] {
				found[rule] = true
				g.Deadlocks = append(g.Deadlocks, Stuck{
					Name:  rule,
					Rules: []string{rule},
					Path:  x.path(n.ID),
					Why:   why,
				})
			}
		}
		if len(x.refuse[n.ID]) == 0 && !found[n.On] && n.On != "" {
			found[n.On] = true
			g.Deadlocks = append(g.Deadlocks, Stuck{
				Name:  n.On,
				Rules: []string{},
				Path:  x.path(n.ID),
				Why:   "the run is " + n.Status + " on " + n.On,
			})
		}
	}
	slices.SortFunc(g.Deadlocks, func(a, b Stuck) int { return strings.Compare(a.Name, b.Name) })
}

// Codes of a simulation's findings (docs/spec/configuration.md#admission).
const (
	SimulationStuck = "SIM-001" // a run cannot complete
	SimulationAlone = "SIM-002" // agents open a gate without a person
	SimulationDead  = "SIM-003" // a run can reach a state from which it cannot complete
)

// validateStates is how many states validation explores: enough to find the end of a run by the direct way, and to
// cover small configurations completely.
const validateStates = 300

// Liveness checks whether a run can complete, and what agents decide without a person. It skips a configuration
// without phases, and reports nothing about a large one that it cannot explore completely.
func Liveness(cfg *config.Config) []config.AdmissionFinding {
	if cfg.Routing.Len() == 0 || cfg.Roles.Len() == 0 {
		return nil
	}
	g, err := Explore(cfg, validateStates)
	if err != nil {
		return []config.AdmissionFinding{{
			Code:     SimulationStuck,
			Severity: config.SeverityError,
			Phase:    cfg.FirstPhase(),
			Message:  err.Error(),
		}}
	}
	var out []config.AdmissionFinding
	if g.Whole && !g.Completes {
		for _, s := range g.Stuck {
			out = append(out, config.AdmissionFinding{
				Code:     SimulationStuck,
				Severity: config.SeverityError,
				Phase:    s.Name,
				Message: fmt.Sprintf("no run can complete: phase %s cannot be left, whatever roles and people do: %s",
					s.Name, s.Why),
			})
		}
		if len(out) == 0 {
			out = append(out, config.AdmissionFinding{
				Code:     SimulationStuck,
				Severity: config.SeverityError,
				Phase:    cfg.FinalPhase(),
				Message:  "no run can complete, whatever roles and people do",
			})
		}
		return out
	}
	for _, gate := range g.Alone {
		for phase, r := range cfg.Routing.All() {
			if r.ExitGate == gate {
				out = append(out, config.AdmissionFinding{
					Code:     SimulationAlone,
					Severity: config.SeverityWarning,
					Phase:    phase,
					Gate:     gate,
					Message:  fmt.Sprintf("phase %s: agents can open gate %s alone, without a person", phase, gate),
				})
				break
			}
		}
	}
	return out
}

// Simulated is one step of a simulation with given events.
type Simulated struct {
	Event   string           `json:"event"`
	Phase   string           `json:"phase"`
	Status  string           `json:"status"`
	Refused bool             `json:"refused"`
	Why     string           `json:"why,omitempty"`
	Chains  []*verdict.Chain `json:"chains"`
}

// Step plays an event and returns its outcome.
func (w *World) Step(e Event) (*World, Simulated) {
	next, decided := w.Next(e)
	out := Simulated{
		Event:  e.String(),
		Phase:  next.State.Phase,
		Status: string(next.State.Status),
		Chains: []*verdict.Chain{},
	}
	if on := wire.OrEmpty(next.State.BlockedOn); on != "" && next.State.Status == wire.StatusBlocked {
		out.Why = "blocked on " + on
	}
	for _, d := range decided {
		out.Chains = append(out.Chains, d.Chain)
		if f := d.Failure(); f != nil {
			out.Refused, out.Why = true, f.Message
		}
	}
	if run.HasPending(next.State) && out.Why == "" {
		out.Why = "a person approves"
	}
	return next, out
}
