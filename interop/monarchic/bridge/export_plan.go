// The Plan: what happened, is happening and waits, as steps (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// step is one turn, or one piece of work that no turn has started.
type step struct {
	id        string
	role      string
	phase     string
	attempt   int
	about     string   // description
	dependsOn []string // ids of steps
	source    *ojson.Object
	row       *ojson.Object // of history; nil until it is accepted
	turn      *run.Turn     // nil unless it is active
	charter   *run.Charter
}

// steps returns the accepted turns, the active ones, then delegations and charters that wait for a
// turn. Turns that were replaced by others are not steps.
func (x *Export) steps() []*step {
	f := x.facts
	var out []*step
	byID := make(map[string]*step)
	add := func(s *step) {
		if byID[s.id] == nil { // a row that repeats an id came from outside
			byID[s.id] = s
			out = append(out, s)
		}
	}
	for i, row := range f.history {
		s := &step{
			id:        row.String("turn_id"),
			role:      row.String("role"),
			phase:     row.String("phase"),
			attempt:   x.attempt(row.String("turn_id")),
			about:     row.String("summary"),
			source:    asAccepted(row),
			row:       row,
			charter:   f.state.Charter(row.String("charter_id")),
			dependsOn: []string{},
		}
		for j := i - 1; j >= 0; j-- {
			if before := f.history[j]; !beside(row, before) {
				s.dependsOn = []string{before.String("turn_id")}
				break
			}
		}
		x.bind(s, row.Object("delegation_context"))
		add(s)
	}
	for id, turn := range f.state.ActiveTurns.All() {
		s := &step{
			id:        id,
			role:      turn.AssignedRole,
			phase:     cmp.Or(f.handedTo(id).assignment.String("phase"), f.state.Phase),
			attempt:   max(turn.Attempt, 1),
			source:    ojson.Marshal(turn),
			turn:      turn,
			charter:   f.state.Charter(turn.CharterID()),
			dependsOn: []string{},
		}
		for _, before := range slices.Backward(f.history) {
			if before := before.String("turn_id"); !slices.Contains(turn.ConcurrentWith, before) {
				s.dependsOn = []string{before}
				break
			}
		}
		x.bind(s, turn.DelegationContext)
		add(s)
	}
	for _, d := range f.state.DelegationQueue {
		if d.ChildTurnID == nil || *d.ChildTurnID == "" {
			add(&step{
				id:        delegationID(d.ParentTurnID, d.DelegationID),
				role:      d.ToRole,
				phase:     f.state.Phase,
				attempt:   1,
				about:     d.Charter,
				dependsOn: []string{d.ParentTurnID},
				source:    ojson.Marshal(d),
			})
		}
	}
	for _, c := range f.state.CharterQueue {
		if c.Status != run.CharterCompleted && f.state.CharterTurn(c.CharterID) == nil {
			s := &step{
				id:      c.CharterID,
				role:    c.Role,
				phase:   c.Phase,
				attempt: 1,
				about:   c.Charter,
				charter: c,
				source:  ojson.NewObject(),
			}
			x.bind(s, nil)
			add(s)
		}
	}
	for _, s := range out {
		s.about = cmp.Or(s.about, cmp.Or(s.role, "a")+" turn in "+cmp.Or(s.phase, "no phase"))
		s.dependsOn = slices.DeleteFunc(s.dependsOn, func(id string) bool { return byID[id] == nil || id == s.id })
	}
	return out
}

// bind replaces dependencies that come from the order of acceptance by those that are known: a
// delegated turn depends on the one that delegated it, a charter on the charters it names.
func (x *Export) bind(s *step, delegation *ojson.Object) {
	if parent := delegation.String("parent_turn_id"); parent != "" {
		s.dependsOn = []string{parent}
		return
	}
	if s.charter == nil {
		return
	}
	s.dependsOn = []string{}
	for _, id := range s.charter.DependsOn {
		if d := x.facts.state.Charter(id); d != nil {
			s.dependsOn = append(s.dependsOn, x.charterStep(d))
		}
	}
}

// charterStep returns the step of a charter: the turn that completed it, or works on it, or the
// charter itself while it waits.
func (x *Export) charterStep(c *run.Charter) string {
	if c.TurnID != nil && *c.TurnID != "" {
		return *c.TurnID
	}
	if t := x.facts.state.CharterTurn(c.CharterID); t != nil {
		return t.TurnID
	}
	return c.CharterID
}

// beside reports whether two accepted turns were active together.
func beside(a, b *ojson.Object) bool {
	return slices.Contains(a.Strings("concurrent_with"), b.String("turn_id")) ||
		slices.Contains(b.Strings("concurrent_with"), a.String("turn_id"))
}

// asAccepted returns a history row as its acceptance wrote it: what a checkpoint adds later is not
// a part of the plan.
func asAccepted(row *ojson.Object) *ojson.Object {
	o := row.Clone()
	o.Delete("checkpoint_sha")
	o.Delete("checkpointed_at")
	return o
}

func (x *Export) attempt(turn string) int {
	if n, ok := x.facts.handedTo(turn).assignment.Int("attempt"); ok && n > 0 {
		return n
	}
	return 1
}

func (x *Export) plan(strictly bool) ([]Object, error) {
	if strictly {
		return []Object{object("client_boundary/plan", x.strictPlan())}, nil
	}
	return []Object{object("plan", x.portablePlan())}, nil
}

func (x *Export) portablePlan() *portable.Plan {
	f := x.facts
	p := &portable.Plan{
		ContractVersion: portable.Version,
		PlanID:          planID(x.Run),
		RunID:           x.Run,
		Objective:       x.goal(),
		Status:          planStatus(f.state),
		CreatedAtMs:     x.ms(wire.OrEmpty(f.state.CreatedAt)),
		UpdatedAtMs:     x.ms(x.lastEventAt()),
		Provenance:      portable.PlanProvenance{GeneratedBy: "git-agentxchain", GeneratedAtMs: x.exportedAt()},
		Steps:           []portable.PlanStep{},
	}
	for _, s := range x.steps() {
		o := portable.PlanStep{
			StepID:       s.id,
			Description:  s.about,
			DependsOn:    s.dependsOn,
			TaskTemplate: x.template(s),
			Failure:      stepFailure(s),
		}
		source := s.source.Clone()
		if s.charter != nil {
			source.Set("charter", ojson.Marshal(s.charter))
		}
		o.Extensions = ours(source)
		p.Steps = append(p.Steps, o)
	}
	about := ojson.NewObject("project_id", f.cfg.Project.ID, "status", string(f.state.Status), "phase", f.state.Phase)
	if len(f.state.CharterPlans) > 0 {
		about.Set("charter_plans", f.state.CharterPlans)
	}
	p.Extensions = ours(about)
	return p
}

// template returns what the step's turn was told, else who does it and when.
func (x *Export) template(s *step) *ojson.Object {
	if a := x.facts.handedTo(s.id).assignment; a != nil {
		return a
	}
	return ojson.NewObject("role", s.role, "phase", s.phase)
}

// stepFailure returns why an accepted turn did not complete its work, nil when it did.
func stepFailure(s *step) *portable.FailureDetail {
	status := s.row.String("status")
	class := ""
	switch status {
	case "failed":
		class = "agent"
	case "blocked":
		class = "execution"
	case "needs_human":
		class = "policy"
	default:
		return nil
	}
	return &portable.FailureDetail{Class: class, Code: status,
		Message: cmp.Or(s.row.String("needs_human_reason"), s.about)}
}

func (x *Export) strictPlan() *strict.Plan {
	f := x.facts
	p := &strict.Plan{
		PlanID:         planID(x.Run),
		IntentID:       x.intentID(),
		PlanVersion:    portable.Version,
		PlannerVersion: x.program(),
		CreatedAt:      x.ms(wire.OrEmpty(f.state.CreatedAt)),
		Steps:          []strict.PlanStep{},
		ReplanPolicy: strict.ReplanPolicy{
			Strategy:    strict.ReplanRetry,
			MaxAttempts: uint32(max(f.cfg.Rules.MaxTurnRetries, 0)),
		},
		InputDigest: x.digest(f.config),
	}
	for _, s := range x.steps() {
		o := strict.PlanStep{
			StepID:          s.id,
			TaskID:          s.id,
			Kind:            x.stepKind(s),
			Description:     s.about,
			Dependencies:    s.dependsOn,
			Inputs:          x.template(s),
			ExpectedOutputs: []strict.StepOutput{},
			PolicyTags:      []string{"phase:" + s.phase, "role:" + s.role, "attempt:" + itoa(s.attempt)},
		}
		for _, a := range x.artifactFiles(s.row) {
			o.ExpectedOutputs = append(o.ExpectedOutputs, strict.StepOutput{Kind: a.kind, LogicalName: a.path})
		}
		p.Steps = append(p.Steps, o)
	}
	return p
}

func (x *Export) stepKind(s *step) strict.PlanStepKind {
	role := x.facts.cfg.Role(s.role)
	switch {
	case role != nil && role.WriteAuthority == wire.ReviewOnly:
		return strict.StepReview
	case s.phase == "qa":
		return strict.StepVerification
	case s.row.Bool("run_completion_request") && x.facts.cfg.NextPhase(s.phase) == "":
		return strict.StepRelease
	}
	return strict.StepExecution
}

// goal returns the purpose of the run: the project's goal, the charter it began with, or the
// project's name.
func (x *Export) goal() string {
	f := x.facts
	charter := ""
	if len(f.state.CharterPlans) == 1 {
		charter = f.state.CharterPlans[0].String("objective")
	}
	return cmp.Or(f.cfg.Project.Goal, charter, f.state.Provenance.String("charter"), f.cfg.Project.Name,
		f.cfg.Project.ID, x.Run)
}

// program returns this program with its version.
func (x *Export) program() string { return "git-agentxchain/" + cmp.Or(x.opt.Version, "devel") }
