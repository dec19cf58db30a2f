// Proposals: what roles that cannot write proposed, and what a person or an authoritative turn made of it
// (docs/spec/observation.md#a-proposal-is-decided).

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
)

// Proposals lists the proposals of the run, oldest first, without contents.
func (r *Runner) Proposals(ctx context.Context) ([]*proposal.Proposal, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return proposal.List(ctx, r.store, v.Run, "")
}

// WaitingProposals returns the undecided proposals of the run in v, oldest first; none where no role proposes.
func (r *Runner) WaitingProposals(ctx context.Context, v *gitstore.View) ([]*proposal.Proposal, error) {
	return proposal.Waiting(ctx, r.store, v)
}

// proposalsFor returns the proposals that a turn could apply as its own work: none unless its role
// writes.
func (r *Runner) proposalsFor(ctx context.Context, v *gitstore.View, turn *run.Turn) ([]dispatch.Waiting, error) {
	if role := v.Config.Role(turn.AssignedRole); role == nil || role.WriteAuthority != wire.Authoritative {
		return nil, nil
	}
	all, err := r.WaitingProposals(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []dispatch.Waiting
	for _, p := range all {
		w := dispatch.Waiting{Turn: p.Turn, Role: p.Role, Summary: p.Summary}
		for _, f := range p.Files {
			if !f.Applied {
				w.Files = append(w.Files, f.Path)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// Proposal returns the proposal of a turn, with the present and the proposed contents of its files.
// turn may be a unique prefix of the id; "" is the only waiting proposal.
//
// Errors: not_found, target_required.
func (r *Runner) Proposal(ctx context.Context, turn string) (*proposal.Proposal, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return proposal.Find(ctx, r.store, v.Run, turn)
}

// Decided is the outcome of ApplyProposal and RejectProposal.
type Decided struct {
	Done
	Proposal *proposal.Proposal
	Files    []string // applied by this call
	Left     []string // not applied yet
	Commit   string   // "" for a rejection and for files that a turn applied
	InTurn   string   // the turn whose work the files are, "" when they were committed
}

// ApplyProposal writes files of a proposal into the work tree, the named ones or all that are left, and commits
// them; with inTurn, which is the caller's own turn inside of one, they are the uncommitted work of that
// active, authoritative turn. When one of them cannot be written, none is.
//
// Its commit is undone when the run moved elsewhere meanwhile and the apply is refused.
//
// Errors: not_found, target_required, proposal_decided, proposal_conflict, turn_not_active,
// invalid_argument, invalid_state_transition, inside_dispatched_turn, run_blocked.
func (r *Runner) ApplyProposal(ctx context.Context, turn string, names []string, inTurn string) (*Decided, error) {
	var made *gitcommit.Made
	out, err := r.applyProposal(ctx, turn, names, inTurn, &made)
	var refused *wire.Error
	if made != nil && errors.As(err, &refused) {
		if lerr := gitcommit.Undo(ctx, r.store.Repository(), made); lerr != nil {
			err = errors.Join(err, lerr)
		}
	}
	return out, err
}

// applyProposal is ApplyProposal; made is the commit that it makes.
func (r *Runner) applyProposal(ctx context.Context, turn string, names []string, inTurn string,
	made **gitcommit.Made) (*Decided, error) {
	return r.decide(ctx, turn, func(ctx context.Context, c *change, out *Decided) (protocol.Operation, error) {
		p := out.Proposal
		if in := c.env.Actor.InsideTurn; inTurn == "" {
			inTurn = in
		} else if in != "" && in != inTurn {
			return nil, protocol.ProposalInsideTurn(c.env.Actor)
		}
		if inTurn != "" {
			t, err := run.ResolveTurn(c.view.State, inTurn, "apply a proposal in")
			if err != nil {
				return nil, err
			}
			if err := protocol.ProposalTaker(c.view.Config, t); err != nil {
				return nil, err
			}
		} else if n := c.view.State.ActiveTurns.Len(); n > 0 {
			return nil, protocol.ProposalBusy(c.view.State.ActiveTurns.Keys())
		}
		chosen, err := p.Choose(names)
		if err != nil {
			return nil, err
		}
		st, err := c.look(ctx)
		if err != nil {
			return nil, err
		}
		if err := p.Applicable(c.r.store, c.view.Config, st, chosen); err != nil {
			return nil, err
		}
		if err := proposal.Write(c.r.store, chosen); err != nil {
			return nil, err
		}
		faults.Point("proposal.written")
		c.tree = nil
		if st, err = c.look(ctx); err != nil {
			return nil, err
		}
		op := &protocol.DecideProposal{TurnID: p.Turn, Row: evidence.NewBlob(p.Row().Raw), InTurn: inTurn}
		var dirty []string
		for _, f := range p.Files {
			now := slices.ContainsFunc(chosen, func(o proposal.File) bool { return o.Path == f.Path })
			if _, changed := st.Dirty[f.Path]; changed && now {
				dirty = append(dirty, f.Path)
			}
			switch {
			case now:
				out.Files = append(out.Files, f.Path)
				op.Files = append(op.Files, f.Path)
			case f.Applied && inTurn == "" && f.InTurn == "":
				op.Files = append(op.Files, f.Path)
			case !f.Applied:
				out.Left = append(out.Left, f.Path)
			}
		}
		op.Partial = len(out.Left) > 0
		if inTurn != "" {
			out.InTurn = inTurn
			return op, nil
		}
		commit := st.Head
		if len(dirty) > 0 {
			var after *gitstatus.Status
			commit, after, err = gitcommit.PathsAs(ctx, r.store.Repository(), dirty, proposalMessage(p),
				gitcommit.As{Status: st})
			if err != nil {
				return nil, err
			}
			*made = &gitcommit.Made{Commit: commit, Before: st.Head, Paths: dirty}
			if err := c.lookAfter(ctx, after); err != nil {
				return nil, err
			}
		}
		faults.Point("proposal.committed")
		out.Commit = string(commit)
		op.Commit = out.Commit
		return op, nil
	})
}

// RejectProposal turns down a proposal; files applied before stay.
//
// Errors: those of ApplyProposal but proposal_conflict.
func (r *Runner) RejectProposal(ctx context.Context, turn, reason string) (*Decided, error) {
	return r.decide(ctx, turn, func(_ context.Context, c *change, out *Decided) (protocol.Operation, error) {
		if c.env.Actor.InsideTurn != "" {
			return nil, protocol.ProposalInsideTurn(c.env.Actor)
		}
		return &protocol.DecideProposal{
			TurnID: out.Proposal.Turn,
			Row:    evidence.NewBlob(out.Proposal.Row().Raw),
			Reject: true,
			Reason: reason,
		}, nil
	})
}

func (r *Runner) decide(ctx context.Context, turn string,
	how func(context.Context, *change, *Decided) (protocol.Operation, error),
) (*Decided, error) {
	out := &Decided{}
	done, err := r.do(ctx, "proposal", func(ctx context.Context, c *change) (*plan, error) {
		p, err := proposal.Find(ctx, r.store, c.view.Run, turn)
		if err != nil {
			return nil, err
		}
		if !p.Waits() {
			return nil, &wire.Error{
				Code:    proposal.CodeDecided,
				Field:   "turn_id",
				Message: fmt.Sprintf("The proposal of turn %s is already %s.", p.Turn, p.Status),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		}
		out.Proposal = p
		op, err := how(ctx, c, out)
		return &plan{op: op}, err
	})
	out.Done = *done
	return out, err
}

// proposalMessage returns the message of a checkpoint, with another subject.
func proposalMessage(p *proposal.Proposal) string {
	_, body, _ := strings.Cut(checkpointMessage(p.Row().Row), "\n")
	return "apply proposal: " + p.Turn + "\n" + body
}
