// Assign: start the run when there is none, give a role its turn, write its bundle.

package runner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// AssignOptions says which role to give a turn.
type AssignOptions struct {
	Role     string // "" resolves the next role
	Leave    bool   // at a waiting gate a named role takes the request back and works on in the phase
	NoIntent bool   // bind no intent to the turn
	NewRun   bool   // start another run when the last one is finished

	CrossRepo *CrossRepo // what the coordinator of several repositories tells the turn, else nil
}

// Assigned is the outcome of Assign and of every operation that dispatches a turn.
type Assigned struct {
	Done
	Started  bool // a new run was started
	Turn     *run.Turn
	Warnings []string
	Left     string        // the gate whose request was taken back for the turn, "" for none
	Template *ojson.Object // skeleton of the turn's result
}

// CrossRepo is what the coordinator of several repositories tells a turn. Both documents become
// part of the turn's sealed bundle, and their gist becomes a section of what the actor reads.
type CrossRepo struct {
	JSON []byte // COORDINATOR_CONTEXT.json
	Text []byte // COORDINATOR_CONTEXT.md
}

func (x *CrossRepo) files() map[string][]byte {
	if x == nil {
		return nil
	}
	return map[string][]byte{dispatch.CoordinatorJSON: x.JSON, dispatch.CoordinatorText: x.Text}
}

// AssignTurn gives a role its next turn, starting a run first when the project
// is idle. Refusals are *wire.Error.
func (r *Runner) AssignTurn(ctx context.Context, opt AssignOptions) (*Assigned, error) {
	out := &Assigned{}
	var view *gitstore.View
	var bundle *bundling
	if opt.NewRun {
		r = r.Afresh()
	}
	start := func(ctx context.Context, c *change) (*plan, error) {
		if err := c.hooks.WillRun(ctx, "before_assignment", "after_dispatch"); err != nil {
			return nil, err
		}
		s := c.view.State
		if s.Status.Ended() && !opt.NewRun {
			refusal := anotherRun(s, status.NewRun)
			if beside := r.store.RunBeside(ctx, s); beside != "" {
				refusal.Message += " Run " + beside + " is under way."
				refusal.Hint = bringsHere("repair --from-ref " + beside)
			}
			return nil, refusal
		}
		if s.Status != wire.StatusIdle && !s.Status.Ended() {
			return nil, nil
		}
		begin, err := c.initRun(ctx, InitRunOptions{Restart: s.Status.Ended()})
		if err != nil {
			return nil, err
		}
		if err := c.admits(ctx, begin, opt.Role); err != nil {
			return nil, err
		}
		out.Started = true
		return &plan{op: begin}, nil
	}
	assign := func(ctx context.Context, c *change) (*plan, error) {
		op, err := c.assignment(ctx, opt.Role)
		if err != nil {
			return nil, err
		}
		op.LeaveGate = opt.Leave
		op.NoIntent = opt.NoIntent
		view, bundle = c.view, &bundling{cross: opt.CrossRepo.files()}
		return &plan{op: op, bundle: c.bundling(bundle)}, c.beforeAssignment(ctx, op)
	}
	done, err := r.do(ctx, "assign", start, assign)
	out.Done = *done
	if err != nil {
		var refusal *wire.Error
		if errors.As(err, &refusal) && refusal.Code == wire.CodeUnknownRole && view != nil && view.Working != nil &&
			view.Working.Role(opt.Role) != nil {
			refusal.Hint = wire.ConfigPath + " has that role, and the run uses the rules it began with: git agentxchain config adopt"
		}
		return out, err
	}
	res := done.Transition.Result.(*protocol.AssignResult)
	intake.ClearMarker(r.store.Dir(), done.State)
	out.Left = res.Left
	out.Turn, out.Warnings = res.Turn, append(slices.Clip(res.Warnings), bundle.warnings...)
	out.Template = dispatch.Template(
		turnfiles.Input(r.store.Dir(), r.Now(), view, done.State, done.Transition.Index, res.Turn))
	return out, nil
}

func (c *change) assignment(ctx context.Context, role string) (*protocol.AssignTurn, error) {
	base, err := c.baseline(ctx)
	if err != nil {
		return nil, err
	}
	if err := observe.RefuseUnderWay(c.r.store.Repository()); err != nil {
		return nil, err
	}
	documents, err := c.gateDocuments(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := intake.Files(c.r.store.Dir(), c.view.State)
	if err != nil {
		return nil, err
	}
	return &protocol.AssignTurn{
		Role:      role,
		Intake:    waiting,
		Baseline:  base,
		Dirty:     observe.ProjectDirty(c.tree),
		Documents: documents,
	}, nil
}

// admits asks whether the first turn would be given once the run has begun: a misspelt role or a
// dirty tree must not leave an unwanted run behind.
func (c *change) admits(ctx context.Context, begin protocol.Operation, role string) error {
	op, err := c.assignment(ctx, role)
	if err != nil {
		return err
	}
	snap := c.view.Snapshot()
	begun, refusal := c.ask(snap, begin)
	if refusal != nil {
		return refusal
	}
	snap.State, snap.Index = begun.State, begun.Index
	if _, refusal := c.ask(snap, op); refusal != nil {
		if c.r.opt.fresh && strings.HasSuffix(refusal.Hint, run.CmdAssign) {
			refusal.Hint += " --new-run" // the person asked for it
		}
		return refusal
	}
	return nil
}

// InitRunOptions says how a run starts (docs/spec/lifecycle.md#starting-a-run).
type InitRunOptions struct {
	Restart        bool // after a finished run
	Trigger        string
	TriggerReason  string
	ParentRun      string
	InheritContext bool
	CreatedBy      string

	// Admit begins no run whose first turn could not be given to Role, "" for the role that the protocol
	// chooses.
	Admit bool
	Role  string
}

// InitRun starts a run without assigning a turn.
func (r *Runner) InitRun(ctx context.Context, opt InitRunOptions) (*Done, error) {
	return r.do(ctx, "init-run", func(ctx context.Context, c *change) (*plan, error) {
		op, err := c.initRun(ctx, opt)
		if err == nil && opt.Admit {
			err = c.admits(ctx, op, opt.Role)
		}
		return &plan{op: op}, err
	})
}

func (c *change) initRun(ctx context.Context, opt InitRunOptions) (protocol.Operation, error) {
	if err := c.askElsewhere(ctx); err != nil {
		return nil, err
	}
	if n := c.r.store.SameIDNotice(ctx); n != "" {
		c.view.Notices = append(c.view.Notices, n)
	}
	if _, err := c.look(ctx); err != nil {
		return nil, err
	}
	if opt.Restart && run.RulesInForce(c.view.State.Status) {
		if err := c.useWorkingConfig(); err != nil {
			return nil, err
		}
	}
	op := &protocol.InitRun{
		Prior:          evidence.NewBlob(c.view.State.Encode()),
		Restart:        opt.Restart,
		Trigger:        opt.Trigger,
		TriggerReason:  opt.TriggerReason,
		ParentRun:      opt.ParentRun,
		InheritContext: opt.InheritContext,
		CreatedBy:      opt.CreatedBy,
	}
	var err error
	if op.Documents, err = c.gateDocuments(ctx); err != nil {
		return nil, err
	}
	if snap := c.view.Snapshot(); opt.Restart && snap.Index != nil && len(snap.Index.OpenEscalations) > 0 {
		op.Open = snap.Index.OpenEscalations
		if snap.HumanTasks != nil {
			op.Tasks = evidence.NewBlob(snap.HumanTasks)
		}
	}
	if opt.ParentRun != "" {
		row, err := c.r.store.LastRow(ctx, wire.LedgerRunHistory, "run_id", opt.ParentRun)
		if err != nil {
			return nil, err
		}
		if row != nil {
			op.Parent = row.Row
		}
	}
	return op, nil
}

// Template returns the skeleton of a turn's result, which is valid once its placeholders are filled
// in.
func (r *Runner) Template(ctx context.Context, turnID string) (*ojson.Object, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	turn, ok := v.State.ActiveTurns.Get(turnID)
	if !ok {
		return nil, &wire.Error{
			Code:    wire.CodeTurnNotActive,
			Field:   "turn_id",
			Message: "Turn " + turnID + " is not active.",
			Hint:    "git agentxchain status",
		}
	}
	return dispatch.Template(turnfiles.Input(r.store.Dir(), r.Now(), v, v.State, v.Index, turn)), nil
}
