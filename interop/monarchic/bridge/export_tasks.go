// Tasks, the Intent, and objects from the configuration: contract, pipeline, roles
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	protocolwire "github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func itoa(n int) string { return strconv.Itoa(n) }

// tasks lists the tasks of the turns, in the order of the plan; work that waits for a turn has no
// task yet.
func (x *Export) tasks(strictly bool) ([]Object, error) {
	var out []Object
	for _, s := range x.steps() {
		if s.row == nil && s.turn == nil {
			continue
		}
		t := x.task(s)
		if !strictly {
			out = append(out, object("task", t))
			continue
		}
		out = append(out, object("client_boundary/task", strictTask(t)))
	}
	return out, nil
}

func (x *Export) task(s *step) *portable.Task {
	a := x.facts.handedTo(s.id).assignment
	role := x.facts.cfg.Role(s.role)
	authority, mandate, runtime := a.String("write_authority"), "", cmp.Or(s.row.String("runtime_id"),
		a.String("runtime_id"))
	if role != nil {
		authority, mandate = cmp.Or(authority, role.WriteAuthority), role.Mandate
	}
	if s.turn != nil {
		runtime = s.turn.RuntimeID
	}
	charter := cmp.Or(a.Object("delegation_context").String("charter"), a.Object("intake_context").String("charter"))
	t := &portable.Task{
		Version: portable.Version,
		TaskID:  s.id,
		Role:    AgentRole(s.role, authority),
		RoleID:  s.role,
		Goal:    cmp.Or(charter, mandate, cmp.Or(s.role, "a")+" turn in "+cmp.Or(s.phase, "no phase")),
	}
	t.Inputs = members(a, "intake_context", "delegation_context", "delegation_review", "conflict_context")
	t.Constraints = members(a, "write_authority", "reserved_paths", "deadline_at", "allowed_next_roles",
		"budget_reservation_usd")
	if !t.Constraints.Has("write_authority") && authority != "" {
		t.Constraints.Set("write_authority", authority)
	}
	if gate := x.exitGate(s.phase); gate != "" {
		t.GatesRequired = []string{gate}
	}
	t.RunContext = &portable.RunContext{
		Version:  portable.Version,
		Repo:     x.opt.Repo,
		Worktree: ".",
		Image:    "host",
		Runner:   cmp.Or(runtime, "manual"),
		Labels:   []string{s.phase, s.role, x.runtimeType(runtime)},
	}
	if a != nil {
		t.Extensions = ours(a)
	}
	return t
}

// members returns the named members of an assignment that are not empty.
func members(a *ojson.Object, names ...string) *ojson.Object {
	o := ojson.NewObject()
	for _, n := range names {
		if v, ok := a.Get(n); ok && v != nil {
			o.Set(n, v)
		}
	}
	return o
}

func strictTask(t *portable.Task) *strict.Task {
	role := cmp.Or(string(t.Role), string(portable.RoleUnspecified))
	return &strict.Task{
		Version:       t.Version,
		TaskID:        t.TaskID,
		Role:          role,
		RoleID:        optional(t.RoleID),
		Goal:          t.Goal,
		Inputs:        t.Inputs,
		Constraints:   t.Constraints,
		GatesRequired: protocolwire.NonNil(t.GatesRequired),
		RunContext: &strict.RunContext{
			Version:  &t.RunContext.Version,
			Repo:     t.RunContext.Repo,
			Worktree: &t.RunContext.Worktree,
			Image:    &t.RunContext.Image,
			Runner:   &t.RunContext.Runner,
			Labels:   t.RunContext.Labels,
		},
	}
}

func (x *Export) runtimeType(id string) string { return runtimeType(x.facts.cfg, id) }

func runtimeType(cfg *config.Config, id string) string {
	if rt, ok := cfg.Runtimes.Get(id); ok && rt != nil && rt.Type != "" {
		return rt.Type
	}
	return config.RuntimeManual
}

func (x *Export) intentID() string {
	if id := x.facts.state.Provenance.String("intake_intent_id"); wire.SafeID(id) {
		return id
	}
	return "intent-" + x.Run
}

func (x *Export) intent(bool) ([]Object, error) {
	f := x.facts
	class := strict.IntentInspect
	for _, r := range f.cfg.Roles.All() {
		if r != nil && r.WriteAuthority != protocolwire.ReviewOnly {
			class = strict.IntentExecute
		}
	}
	ref := "HEAD"
	if f.branch != "" {
		ref = "refs/heads/" + f.branch
	}
	constraints := ojson.NewObject()
	for _, name := range []string{"budget", "timeouts"} {
		if v, ok := f.config.Get(name); ok && v != nil {
			constraints.Set(name, v)
		}
	}
	context := x.intake()
	return []Object{object("client_boundary/intent", &strict.Intent{
		IntentID:      x.intentID(),
		SubmittedAt:   x.ms(protocolwire.OrEmpty(f.state.CreatedAt)),
		Submitter:     cmp.Or(f.state.Provenance.String("created_by"), "operator"),
		PolicyVersion: "agentxchain/1.1",
		TargetRepo:    x.opt.Repo,
		TargetRef:     ref,
		Goal:          x.goal(),
		IntentClass:   class,
		Constraints:   constraints,
		ContextDigest: x.digest(context),
	})}, nil
}

// intake returns the intake context of the run's first turn, {} without one.
func (x *Export) intake() *ojson.Object {
	for _, s := range x.steps() {
		if c := x.facts.handedTo(s.id).assignment.Object("intake_context"); c != nil {
			return c
		}
	}
	return ojson.NewObject()
}

func (x *Export) contract(bool) ([]Object, error) {
	cfg := x.facts.cfg
	c := &portable.DeliveryContract{
		Objective:        x.goal(),
		RiskTier:         "medium",
		PRStrategy:       "single",
		ReviewPolicy:     "auto",
		RollbackStrategy: "revert_commit",
	}
	for _, item := range x.intake().Strings("acceptance_contract") {
		if strings.TrimSpace(item) != "" {
			c.DefinitionOfDone = append(c.DefinitionOfDone, item)
		}
	}
	var files []string
	for phase := range cfg.Routing.All() {
		id := x.exitGate(phase)
		gate := cfg.Gate(id)
		if id != "" {
			c.RequiredChecks = append(c.RequiredChecks, id)
		}
		if gate == nil {
			continue
		}
		files = append(files, gate.RequiresFiles...)
		if gate.RequiresHuman {
			c.ReviewPolicy = "human_required"
		}
	}
	if len(c.DefinitionOfDone) == 0 {
		c.DefinitionOfDone = files
	}
	if len(c.DefinitionOfDone) == 0 {
		c.DefinitionOfDone = []string{"All gates pass"}
	}
	if len(c.RequiredChecks) == 0 {
		c.RequiredChecks = []string{"none"}
	}
	if n, ok := x.facts.config.Object("run_loop").Int("max_turns"); ok && n > 0 {
		c.MaxAgentTurns = count(n)
	}
	if n, ok := x.facts.config.Object("timeouts").Int("per_run_minutes"); ok && n > 0 {
		c.MaxCycleMinutes = count(n)
	}
	return []Object{object("delivery_contract", c)}, nil
}

func count(n int) *uint32 {
	u := uint32(min(n, 1<<31-1))
	return &u
}

func (x *Export) pipeline(bool) ([]Object, error) {
	cfg := x.facts.cfg
	p := &portable.PipelineSpec{
		Version:    portable.Version,
		PipelineID: cmp.Or(cfg.Project.ID, x.Run),
		Objective:  cmp.Or(cfg.Project.Goal, cfg.Project.Name, x.goal()),
		ProjectKey: cmp.Or(cfg.Project.ID, x.Run),
		Tasks:      []portable.PipelineTask{},
	}
	before := ""
	for phase, route := range cfg.Routing.All() {
		if route == nil {
			continue
		}
		authority, mandate := "", ""
		if r := cfg.Role(route.EntryRole); r != nil {
			authority, mandate = r.WriteAuthority, cmp.Or(r.Mandate, r.Title)
		}
		t := portable.PipelineTask{
			ID:     phase,
			Role:   string(AgentRole(route.EntryRole, authority)),
			RoleID: route.EntryRole,
			Goal:   cmp.Or(mandate, route.EntryRole+" in "+phase),
		}
		if before != "" {
			t.DependsOn = []portable.TaskDependency{{TaskID: before}}
		}
		if route.ExitGate != "" {
			t.GatesRequired = []string{route.ExitGate}
		}
		p.Tasks = append(p.Tasks, t)
		before = phase
	}
	return []Object{object("pipeline_spec", p)}, nil
}

func (x *Export) roles(bool) ([]Object, error) {
	var out []Object
	for id, r := range x.facts.cfg.Roles.All() {
		if r != nil {
			out = append(out, object("role_definition", definition(x.facts.cfg, id)))
		}
	}
	return out, nil
}

// definition returns a configured role as the protocol defines one; for an unknown role it returns
// the id alone.
func definition(cfg *config.Config, id string) *portable.RoleDefinition {
	d := &portable.RoleDefinition{RoleID: id, RequiredSkills: []portable.SkillRef{}}
	r := cfg.Role(id)
	if r == nil {
		return d
	}
	d.DisplayName, d.Description, d.Role = r.Title, r.Mandate, AgentRole(id, r.WriteAuthority)
	d.Capabilities = []string{"write:" + r.WriteAuthority, "runtime:" + runtimeType(cfg, r.RuntimeID)}
	if r.DecisionAuthority != nil {
		d.Capabilities = append(d.Capabilities, "authority:"+itoa(*r.DecisionAuthority))
	}
	return d
}

// DispatchedRole returns the role that an active turn is dispatched with: its assignment and its
// prompt, as in the bundle.
func DispatchedRole(cfg *config.Config, turn *run.Turn, assignment *ojson.Object,
	prompt string) *portable.ResolvedRoleBundle {
	return roleBundle(cfg, turn.TurnID, turn.AssignedRole, &handed{assignment, protocolwire.SHA256([]byte(prompt))})
}

// roleBundle has the provenance of the prompt when the role has instructions of its own: they are
// the template. A prompt made of the role's mandate alone has none, and extensions.agentxchain
// names what was rendered.
func roleBundle(cfg *config.Config, turn, role string, h *handed) *portable.ResolvedRoleBundle {
	out := &portable.ResolvedRoleBundle{
		Role:           *definition(cfg, role),
		ResolvedSkills: []portable.SkillRef{},
		TemplatePath:   protocolwire.BundleDir(turn) + "/" + promptFile,
		TaskID:         turn,
	}
	rendered := "sha256:" + h.prompt
	template := h.assignment.Object("role_prompt").String("sha256")
	if template == "" {
		out.Extensions = ojson.NewObject("agentxchain", ojson.NewObject("render_hash", rendered))
		return out
	}
	out.RoleProvenance = &portable.RoleProvenance{
		RoleName:     role,
		TemplateHash: "sha256:" + template,
		RenderHash:   rendered,
	}
	return out
}

func (x *Export) roleBundles(bool) ([]Object, error) {
	var out []Object
	for _, s := range x.steps() {
		if h := x.facts.handed[s.id]; h != nil {
			out = append(out, object("resolved_role_bundle", roleBundle(x.facts.cfg, s.id, s.role, h)))
		}
	}
	return out, nil
}
