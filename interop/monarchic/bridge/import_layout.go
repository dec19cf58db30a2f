// Fitting a plan to a project: levels become phases, or find a place in existing phases.

package bridge

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// FitOptions says what a plan leaves open.
type FitOptions struct {
	Role  string // of tasks that name none; dev when ""
	Agent string // program, with arguments, that does the work of every new role; "" means people
}

// Import is a plan as a governed run will work through it.
type Import struct {
	Plan     *Plan
	Phases   []*Phase
	Roles    []*RoleUse
	Config   []byte // agentxchain.json to write; nil in a project that has one
	Charters []*run.Charter
}

// Phase is one phase with its tasks.
type Phase struct {
	Name       string
	Level      int    // from 1; 0 for an existing phase
	Gate       string // "" for a phase that opens by itself
	Human      bool   // a person passes the gate
	Tasks      []string
	Roles      []string
	Concurrent int // maximum of turns side by side
}

// RoleUse is a role and how many tasks it has.
type RoleUse struct {
	ID        string
	Title     string
	Authority string
	Runtime   string
	New       bool
	Tasks     int
}

// Record returns what the run keeps of the plan besides its tasks.
func (im *Import) Record() *ojson.Object {
	p := im.Plan
	return ojson.NewObject("plan_id", p.ID, "kind", p.Kind, "objective", p.Objective, "project_key", p.ProjectKey,
		"rest", p.Rest)
}

const fitHint = "change the plan and import it again; --dry-run shows what would become of it"

// ForNewProject lays a plan out as a project of its own: every level of the graph
// is a phase, in parts of at most config.MaxConcurrentTurns tasks, with the roles
// of its tasks and a gate when they ask for gates (docs/monarchic-export.md#kinds). Errors:
// unknown_role, plan_unrepresentable, pipeline_invalid.
func ForNewProject(p *Plan, opt FitOptions) (*Import, *wire.Error) {
	im, bad := &Import{Plan: p}, &faults{}
	for _, t := range p.Tasks {
		im.newRole(t, opt, bad)
	}
	if err := bad.err(fitHint); err != nil {
		return nil, err
	}
	gates := map[string]bool{}
	for _, l := range laidOut(p) {
		ph := &Phase{Name: l.phase, Level: l.level}
		var asked []string
		for _, t := range l.tasks {
			im.place(t, ph, im.newRoleID(t, opt))
			ph.Human = ph.Human || t.Human
			for _, g := range t.Gates {
				if !slices.Contains(asked, g) {
					asked = append(asked, g)
				}
			}
		}
		ph.Concurrent = len(ph.Roles)
		ph.nameGate(asked, gates)
		im.Phases = append(im.Phases, ph)
		if l.part == 2 {
			p.note(fmt.Sprintf("level %d", l.level),
				fmt.Sprintf("a level of more than %d tasks is worked off in parts, as a phase runs no more turns side by side",
					config.MaxConcurrentTurns))
		}
	}
	im.remarks()
	cfg, err := im.propose(opt)
	if err != nil {
		return nil, err
	}
	return im, im.admit(cfg, run.FreshState(cfg, ""))
}

// layer is the tasks of one phase in a project made for the plan.
type layer struct {
	phase       string
	level, part int // from 1
	tasks       []*Task
}

// laidOut returns the tasks of the plan by the phases of a project made for it.
func laidOut(p *Plan) (out []layer) {
	for n, level := range levels(p.Tasks) {
		for part, tasks := range slices.Collect(slices.Chunk(level, config.MaxConcurrentTurns)) {
			name := fmt.Sprintf("level-%d", n+1)
			if part > 0 {
				name = fmt.Sprintf("level-%d-part-%d", n+1, part+1)
			}
			out = append(out, layer{name, n + 1, part + 1, tasks})
		}
	}
	return out
}

// admit asks the engine whether a run in state s would accept the charters, so that a refusal comes
// before anything is written.
func (im *Import) admit(cfg *config.Config, s *run.State) *wire.Error {
	s = s.Clone()
	if s.Run() == "" {
		run := "run_0000000000000000"
		s.RunID, s.Status = &run, wire.StatusActive
	}
	snap := &protocol.Snapshot{Config: cfg, State: s, Index: &run.Index{Run: s.Run()}}
	_, err := protocol.Apply(snap, &charters.QueueCharters{Plan: im.Record(), Charters: im.Charters},
		protocol.Env{Seed: strings.Repeat("0", 32)})
	return err
}

// nameGate gives the phase a gate of its own: an id may belong to one gate only.
func (ph *Phase) nameGate(asked []string, taken map[string]bool) {
	if len(asked) == 0 && !ph.Human {
		return
	}
	ph.Gate = strings.Join(asked, "+")
	if ph.Gate == "" {
		ph.Gate = "review"
	}
	if taken[ph.Gate] {
		ph.Gate += "-" + ph.Name
	}
	taken[ph.Gate] = true
}

// queuedBefore refuses a plan that the run already has: importing it again, as a repeated script
// does, is not an error of the plan.
func queuedBefore(p *Plan, s *run.State) *wire.Error {
	done := 0
	for _, t := range p.Tasks {
		c := s.Charter(t.ID)
		if c == nil || c.PlanID != p.ID {
			return nil
		}
		if c.Status == run.CharterCompleted {
			done++
		}
	}
	return &wire.Error{Code: CodeUnrepresentable, Field: "plan_id", Hint: "git agentxchain status shows how far it is",
		Message: fmt.Sprintf("Run %s has the plan %s already; %d of %d charters are done, and nothing was added.",
			s.Run(), ojson.Shown(p.ID), done, len(p.Tasks)),
		Details: ojson.NewObject("plan_id", p.ID, "charters", len(p.Tasks), "done", done)}
}

// ForProject finds a place for every task in the phases of a project: the phase that the task would
// have in a project made for the plan, if there is one, otherwise the first from the present one on.
// The phase comes no earlier than those of the task's dependencies, and routes to its role. ForProject
// changes nothing in agentxchain.json; if something is missing there, the error says what would have
// to be added. s is the run's state, or that of a run that has not begun.
func ForProject(p *Plan, cfg *config.Config, s *run.State, opt FitOptions) (*Import, *wire.Error) {
	if refusal := queuedBefore(p, s); refusal != nil {
		return nil, refusal
	}
	im, bad := &Import{Plan: p}, &faults{}
	names := cfg.Phases()
	start := max(0, slices.Index(names, s.Phase))
	index := make(map[string]int, len(p.Tasks))
	phases := make([]*Phase, len(names))
	for i, name := range names {
		phases[i] = &Phase{Name: name, Concurrent: 1}
		if r := cfg.Route(name); r != nil {
			phases[i].Gate, phases[i].Concurrent = r.ExitGate, max(1, r.MaxConcurrentTurns)
		}
		if g := cfg.Gate(phases[i].Gate); g != nil {
			phases[i].Human = g.RequiresHuman
		}
	}
	for _, l := range laidOut(p) {
		for _, t := range l.tasks {
			role := configuredRole(p, t, cfg, opt, bad)
			if s.Charter(t.ID) != nil {
				bad.add(CodeUnrepresentable, t.Pointer, t.ID,
					"the run has a charter %s already; tasks of another plan need other ids.", ojson.Shown(t.ID))
			}
			from := start
			for _, d := range t.DependsOn {
				from = max(from, index[d])
			}
			index[t.ID] = from
			if role == "" {
				continue
			}
			routes := func(name string) bool {
				roles := cfg.PhaseRoles(name)
				return len(roles) == 0 || slices.Contains(roles, role)
			}
			at := slices.Index(names[from:], l.phase)
			if at < 0 || !routes(l.phase) {
				at = slices.IndexFunc(names[from:], routes)
			}
			if at < 0 {
				bad.add(CodeUnrepresentable, pointer(t.Pointer, "role"), role,
					"no phase from %s on routes to role %s; add it to routing.%s.allowed_next_roles of agentxchain.json.",
					names[from], role, names[len(names)-1])
				continue
			}
			ph := phases[from+at]
			index[t.ID] = from + at
			im.place(t, ph, role)
			im.needs(t, phases[from+at:], bad)
		}
	}
	if err := bad.err("edit agentxchain.json or the plan, then import again; --output FILE writes the agentxchain.json a project of its own would have"); err != nil {
		return nil, err
	}
	last := len(phases)
	for last > start && len(phases[last-1].Tasks) == 0 {
		last--
	}
	for i, ph := range phases[:last] {
		switch {
		case len(ph.Tasks) > 0:
			im.Phases = append(im.Phases, ph)
		case i >= start:
			p.note("/routing/"+ph.Name, "no task belongs to this phase of agentxchain.json: the plan goes on when one of its turns asks for the next phase")
		}
	}
	for _, use := range im.Roles {
		r := cfg.Role(use.ID)
		use.Title, use.Authority, use.Runtime, use.New = r.Title, r.WriteAuthority, r.RuntimeID, false
	}
	im.remarks()
	return im, im.admit(cfg, s)
}

// needs compares the gates that a task asks for with those that the run still has to pass.
func (im *Import) needs(t *Task, ahead []*Phase, bad *faults) {
	for i, g := range t.Gates {
		if !slices.ContainsFunc(ahead, func(ph *Phase) bool { return ph.Gate == g }) {
			bad.add(CodeUnrepresentable, pointer(t.Pointer, "gates_required", i), g,
				"gate %s is not the exit gate of phase %s or a later one; define gates.%s and make it the exit_gate in routing of agentxchain.json.",
				ojson.Shown(g), ahead[0].Name, g)
		}
	}
	if t.Human && !slices.ContainsFunc(ahead, func(ph *Phase) bool { return ph.Human }) {
		bad.add(CodeUnrepresentable, t.Pointer, "",
			"the task wants a person's review, but no gate from phase %s on asks for one; set requires_human_approval of a gate in agentxchain.json.",
			ahead[0].Name)
	}
}

// place puts a task into a phase.
func (im *Import) place(t *Task, ph *Phase, role string) {
	ph.Tasks = append(ph.Tasks, t.ID)
	if !slices.Contains(ph.Roles, role) {
		ph.Roles = append(ph.Roles, role)
	}
	i := slices.IndexFunc(im.Roles, func(r *RoleUse) bool { return r.ID == role })
	if i < 0 {
		i = len(im.Roles)
		im.Roles = append(im.Roles, &RoleUse{ID: role, New: true})
	}
	im.Roles[i].Tasks++
	c := &run.Charter{
		CharterID:          t.ID,
		Phase:              ph.Name,
		Role:               role,
		Charter:            t.Goal,
		AcceptanceContract: t.Contract,
		DependsOn:          t.DependsOn,
		GatesRequired:      t.Gates,
		Source:             t.Source,
	}
	if t.Told.Len() > 0 {
		c.Task = t.Told
	}
	if t.Human {
		c.Extra.Set("requires_human", true)
	}
	im.Charters = append(im.Charters, c)
}

// remarks notes what the layout means for the authors of the plan.
func (im *Import) remarks() {
	for _, ph := range im.Phases {
		if len(ph.Tasks) > len(ph.Roles) && ph.Concurrent > 1 || ph.Level > 0 && len(ph.Tasks) > len(ph.Roles) {
			im.Plan.note("phase "+ph.Name, "tasks of one role run one after another, as a role has one turn at a time")
		}
	}
	for _, t := range im.Plan.Tasks {
		if utf8.RuneCountInString(t.Goal) > maxPromptGoal {
			im.Plan.note(t.Pointer, fmt.Sprintf(
				"a goal of more than %d characters is cut in the prompt; ASSIGNMENT.json has all of it", maxPromptGoal,
			))
		}
	}
}

const maxPromptGoal = 8000 // limit for a text quoted in a prompt

// levels sorts tasks by the longest path to them; within a level they keep their order. The graph
// has no cycles.
func levels(tasks []*Task) [][]*Task {
	byID := make(map[string]*Task, len(tasks))
	waits := make(map[*Task]int, len(tasks))
	needed := make(map[*Task][]*Task, len(tasks))
	level := make(map[*Task]int, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	var free []*Task
	for _, t := range tasks {
		for _, d := range t.DependsOn {
			waits[t]++
			needed[byID[d]] = append(needed[byID[d]], t)
		}
		if waits[t] == 0 {
			free = append(free, t)
		}
	}
	deepest := 0
	for i := 0; i < len(free); i++ {
		t := free[i]
		deepest = max(deepest, level[t])
		for _, n := range needed[t] {
			level[n] = max(level[n], level[t]+1)
			if waits[n]--; waits[n] == 0 {
				free = append(free, n)
			}
		}
	}
	out := make([][]*Task, deepest+1)
	for _, t := range tasks {
		out[level[t]] = append(out[level[t]], t)
	}
	return out
}
