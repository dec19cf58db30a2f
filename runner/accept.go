// Accept: validate, record and gate a staged turn result.

package runner

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/commands"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// AcceptOptions says which turn to accept and how.
type AcceptOptions struct {
	TurnID            string // "" for the only active turn
	Resolution        string // "", standard, human_merge
	NormalizeArtifact string // "", review

	// Patient leaves no record (siblings_at_work) when the work tree disagrees with the result
	// while turns that work beside this one have not staged theirs: the unexplained changes may be
	// theirs.
	Patient bool

	// Lease says who asks when the turn is carried out under a lease; Result is then the turn's
	// result, which is staged and judged in one step.
	Lease  *lease.Holder
	Result []byte
}

// Accepted is the outcome of AcceptTurn; Result is set for recorded refusals too.
type Accepted struct {
	Done
	Result *protocol.AcceptResult
}

// AcceptTurn decides on the staged result of a turn. A refusal the protocol
// records (validation, conflict, policy) is committed and returned as error
// beside the result.
func (r *Runner) AcceptTurn(ctx context.Context, opt AcceptOptions) (*Accepted, error) {
	meant := opt.TurnID
	if meant == "" {
		meant = r.onlyTurnNow()
	}
	return r.acceptTurn(ctx, opt, meant)
}

func (r *Runner) acceptTurn(ctx context.Context, opt AcceptOptions, meant string) (*Accepted, error) {
	done, err := r.do(ctx, "accept", func(ctx context.Context, c *change) (*plan, error) {
		a, err := c.accepting(ctx, opt, meant)
		if err != nil {
			return nil, err
		}
		return a.plan(ctx)
	})
	return r.accepted(done), err
}

// accepted returns the outcome of an acceptance.
func (r *Runner) accepted(done *Done) *Accepted {
	out := &Accepted{Done: *done}
	if done.Transition != nil {
		out.Result, _ = done.Transition.Result.(*protocol.AcceptResult)
		r.forget(out.Result)
	}
	return out
}

// forget removes the progress file that an interrupted dispatch of the turn left behind: it says
// nothing about a turn that is over.
func (r *Runner) forget(res *protocol.AcceptResult) {
	if res == nil || res.Entry == nil || res.Turn == nil {
		return
	}
	if root, err := os.OpenRoot(r.store.Dir()); err == nil {
		_ = root.Remove(runtimes.ProgressPath(res.Turn.TurnID))
		_ = root.Close()
	}
}

// acceptance is the acceptance of a turn while it is planned. The turn is resolved once, for all
// later steps; the engine refuses a target that does not resolve.
type acceptance struct {
	*change
	opt     AcceptOptions
	turn    *run.Turn         // the active turn; nil when it does not resolve
	missing string            // the turn that was asked for and is not active
	over    bool              // history has it as accepted
	given   *turnfiles.Staged // the result that came with the request; nil for the staged one
}

// accepting resolves the turn to accept. meant is the turn that was the only active one before the
// wait for the lock, when none was named.
func (c *change) accepting(ctx context.Context, opt AcceptOptions, meant string) (*acceptance, error) {
	a := &acceptance{change: c, opt: opt, turn: c.target(opt.TurnID), missing: opt.TurnID}
	if meant == "" || c.target(meant) != nil {
		return a, nil
	}
	over, err := c.inHistory(ctx, meant)
	if over && opt.TurnID == "" { // accepted meanwhile by another process; the next turn is not the one meant
		a.turn, a.missing = nil, meant
	}
	a.over = over && a.turn == nil
	return a, err
}

// plan gathers what the engine needs and runs the hooks that come before it.
func (a *acceptance) plan(ctx context.Context) (*plan, error) {
	if err := a.admit(ctx); err != nil {
		return nil, err
	}
	if a.hooks.Has(acceptPhases()...) {
		return a.hooked(ctx)
	}
	op, err := a.gather(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{op: op}
	if a.opt.Patient {
		p.hold = func(t *protocol.Transition) error { return a.unfinished(op, t) }
	}
	return p, nil
}

// gather reads what the engine needs to decide.
func (a *acceptance) gather(ctx context.Context) (*protocol.AcceptTurn, error) {
	op := &protocol.AcceptTurn{
		Resolution:        a.opt.Resolution,
		NormalizeArtifact: a.opt.NormalizeArtifact,
		Files:             []evidence.FileBlob{},
		Proposed:          []evidence.FileBlob{},
	}
	turn := a.turn
	if turn == nil {
		op.TurnID, op.AlreadyAccepted = a.missing, a.over
		return op, nil
	}
	op.TurnID = turn.TurnID
	op.Claim = run.ClaimOf(turn).Number
	if a.lease != nil {
		op.Lease = a.lease.Lease.With(run.LeaseReleased)
	}
	s, err := a.staged()
	if err != nil {
		return nil, err
	}
	op.StagedPath = s.Path
	if s.Data == nil {
		return op, nil
	}
	a.r.keepLog(turn.TurnID, dispatch.AcceptedLog(turn.TurnID)) // its bundle is removed
	if op.Bundle, err = turnfiles.Changes(ctx, a.r.store, a.view, turn); err != nil {
		return nil, err
	}
	op.Staged = evidence.NewBlob(s.Data)
	if op.Seen, err = a.observe(ctx, turn); err != nil {
		return nil, err
	}
	if err := a.ignored(ctx, s, &op.Seen); err != nil {
		return nil, err
	}
	op.Seen.Siblings = a.siblings(turn)
	op.Protected = protocol.ProtectedPaths(a.view.Config, s.Path, s.Data, &op.Seen)
	if op.Files, err = a.gateFiles(); err != nil {
		return nil, err
	}
	if op.Documents, err = a.gateDocuments(ctx); err != nil {
		return nil, err
	}
	if op.Proposed, err = a.proposed(turn, s); err != nil {
		return nil, err
	}
	if op.IdleSidecar, err = idleSidecar(a.r.store.Dir(), turn); err != nil {
		return nil, err
	}
	unrecorded, err := intake.Accepting(a.r.store.Dir(), a.view.State, op, turn)
	if err != nil {
		return nil, err
	}
	if len(unrecorded) > 0 {
		a.remark("an intent is on disk but not on record; another tool or the turn put it there (" +
			wire.ListSome(unrecorded, 3) + "); the next turn gets it unless its file in .agentxchain/intake/intents is removed")
	}
	if op.Replay, err = a.replayForPolicy(ctx, turn, s); err != nil {
		return nil, err
	}
	a.still = a.hooks == nil && op.Replay == nil
	return op, nil
}

// ignored warns the person about files that the result names and git ignores: they are not compared, and no
// checkpoint would commit them.
func (a *acceptance) ignored(ctx context.Context, s turnfiles.Staged, seen *result.Observation) error {
	doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
	if refusal != nil || !seen.Available {
		return nil
	}
	var unseen []string
	for _, p := range doc.Strings("files_changed") {
		clean, problem := wire.CleanPath(p)
		if problem == "" && wire.Observable(clean) && !slices.Contains(seen.FilesChanged, clean) {
			unseen = append(unseen, clean)
		}
	}
	found, err := gitstatus.Ignored(ctx, a.r.store.Repository(), unseen, false)
	if err != nil || len(found) == 0 {
		return err
	}
	words := ""
	for _, f := range found {
		words += " " + wire.ShellWord(f.Path)
	}
	a.remark(fmt.Sprintf("git ignores %s (%s), so what the turn did there is not seen; to have it seen: git add -f --%s",
		wire.ListSome(found.Names(), 3), found[0].Rule, words))
	return nil
}

// staged reads the result to judge: the one that came with the request, unless hooks may have
// changed it since.
func (a *acceptance) staged() (turnfiles.Staged, error) {
	if a.given != nil && !a.hooks.Has("before_validation") {
		return *a.given, nil
	}
	return turnfiles.ReadStaged(a.r.store.Dir(), a.turn.TurnID)
}

// replayForPolicy replays the staged evidence when a policy that applies to the
// turn asks for it and the person has agreed to run what agents declare; without
// that agreement nothing runs and the policy sees a replay that was not executed.
func (c *change) replayForPolicy(ctx context.Context, turn *run.Turn, s turnfiles.Staged) (*result.ReplayOutcome,
	error) {
	if !limits.PoliciesNeedReplay(c.view.Config, c.view.State.Phase, turn.AssignedRole) {
		return nil, nil
	}
	doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
	if refusal != nil {
		return nil, nil // the engine refuses it with the same message
	}
	return commands.Replay(ctx, c.r.store, c.r.Now(), doc.Object("verification"),
		commands.ReplayOptions{Execute: c.r.store.Repository().PersonSettingBool(ctx, "agentxchain.replayVerification")})
}

// ReplayTurn replays the machine evidence of a staged result ("verify turn").
func (r *Runner) ReplayTurn(ctx context.Context, doc *ojson.Object, opt commands.ReplayOptions) (*result.ReplayOutcome,
	error) {
	return commands.Replay(ctx, r.store, r.Now(), doc.Object("verification"), opt)
}

// idleSidecar reads the document that an idle expansion may leave beside its result, nil when there
// is none or the turn is not an idle expansion.
func idleSidecar(dir string, turn *run.Turn) (*evidence.Blob, error) {
	if turn.IntakeContext.String("source") != "vision_idle_expansion" {
		return nil, nil
	}
	data, err := projectfile.Read(dir, wire.StagingDir+"/"+turn.TurnID+"/idle-expansion-result.json",
		protocol.MaxStagedBytes)
	if err != nil || data == nil {
		return nil, err
	}
	return evidence.NewBlob(data), nil
}

// proposed reads the present contents of the files a result proposes to change.
func (c *change) proposed(turn *run.Turn, s turnfiles.Staged) ([]evidence.FileBlob, error) {
	out := []evidence.FileBlob{}
	doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
	if refusal != nil {
		return out, nil
	}
	changes := doc.Objects("proposed_changes")
	if len(changes) > 0 && config.WriteContract(c.view.Config, turn.AssignedRole).Path == config.PathPatchAuthoring {
		c.view.Notices = append(c.view.Notices, fmt.Sprintf("no proposal is made of what turn %s proposes, because its runtime %s "+
			"is not a remote one; only the record of the turn has it", turn.TurnID, text.OneLine(turn.RuntimeID)))
	}
	for _, p := range changes {
		clean, problem := wire.CleanPath(p.String("path"))
		if problem != "" {
			continue
		}
		data, err := c.readFile(clean)
		if err != nil {
			return nil, err
		}
		if data != nil {
			out = append(out, evidence.FileBlob{Path: clean, Blob: evidence.NewBlob(data)})
		}
	}
	return out, nil
}

// CodeSiblingsAtWork means that a result cannot be judged before the turns beside it have staged
// their results.
const CodeSiblingsAtWork = "siblings_at_work"

// unfinished returns why a patient acceptance is put off, nil when it need not be.
func (a *acceptance) unfinished(op *protocol.AcceptTurn, t *protocol.Transition) error {
	if t.Failure == nil {
		return nil
	}
	switch t.Failure.Code {
	case wire.CodeDirtyTreeMismatch, wire.CodeUndeclaredOutputs, wire.CodeArtifactMismatch:
	default:
		return nil
	}
	turn := a.turn
	for id, other := range a.view.State.ActiveTurns.All() {
		if !beside(turn, id, other) {
			continue
		}
		// Only a result that was completely staged when the tree was looked at counts.
		if !slices.ContainsFunc(op.Seen.Siblings, func(s result.SiblingClaim) bool { return s.TurnID == id }) {
			return &wire.Error{
				Code:    CodeSiblingsAtWork,
				Field:   "active_turns",
				Details: t.Failure.Details,
				Message: "Turn " + turn.TurnID + " waits for turn " + id + ", which works beside it: " +
					t.Failure.Message,
				Hint: "git agentxchain status",
			}
		}
	}
	return nil
}
