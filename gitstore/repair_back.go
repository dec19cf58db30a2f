// Going back to the last valid operation of a run. Dropped operations keep a ref of their own.

package gitstore

import (
	"bytes"
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// planBack finds the operation to go back to and how refs move. Only an invalid chain is cut, and only at its last
// valid operation.
func (s *Store) planBack(ctx context.Context, plan *RepairPlan, name string) (object.OID, []git.RefUpdate, error) {
	tip, err := chain.Tip(ctx, s.repo, plan.Run)
	if err != nil {
		return "", nil, err
	}
	if tip == "" {
		return "", nil, chain.NoRun(plan.Run)
	}
	out, err := s.repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if git.ExitCode(err) >= 0 {
			return "", nil, fail.Errorf(wire.CodeNotFound, nil, "%q names no operation",
				name).WithHint("git agentxchain log")
		}
		return "", nil, err
	}
	op := object.OID(bytes.TrimSpace(out))
	v, err := proof.Verify(ctx, s.repo, plan.Run, tip)
	if err != nil {
		return "", nil, err
	}
	switch {
	case v.Sound():
		return "", nil, fail.Errorf(wire.CodeInvalidArgument, nil, "every operation of run %s is valid; none is dropped",
			plan.Run).WithHint("git agentxchain repair --from-ref")
	case v.Good == "":
		return "", nil, v.Err()
	case op != v.Good:
		return "", nil, fail.Errorf(wire.CodeInvalidArgument, nil,
			"the last valid operation of run %s is %s, not %s", plan.Run, v.Good.Short(), op.Short()).
			WithHint("git agentxchain repair --from-op %s --run %s", v.Good.Short(), plan.Run)
	}
	for at := tip; at != op && plan.Dropped < proof.MaxVerified; plan.Dropped++ {
		ps, err := chain.Parents(ctx, s.repo, at)
		if err != nil || len(ps) == 0 {
			return "", nil, err
		}
		at = ps[0]
	}
	plan.Lost = record.LostRefPrefix + plan.Run + "/" + string(tip)
	return op, []git.RefUpdate{{Name: plan.Lost, New: tip}, {Name: git.RunRefPrefix + plan.Run, New: op, Old: tip}},
		nil
}

// dropOps moves the run back. It creates the ref of the dropped operations first: the guards in git's hooks allow a
// run to move back only then (see Repository.CutBack).
func (s *Store) dropOps(ctx context.Context, moves []git.RefUpdate) error {
	const why = "agentxchain: repair, back to an operation that holds"
	for _, m := range moves {
		have, err := s.repo.ReadRef(ctx, m.Name)
		if err != nil {
			return err
		}
		if have == m.New {
			continue
		}
		if err := s.repo.UpdateRefs(ctx, []git.RefUpdate{m}, why); err != nil {
			return err
		}
	}
	return nil
}

// CutBack reports whether a ref move is a repair of an invalid run: its ref goes from old back to the last valid
// operation, and a ref keeps what is dropped.
func CutBack(ctx context.Context, r *git.Repository, run string, old, back object.OID) (bool, error) {
	if old == "" || back == "" {
		return false, nil
	}
	kept, err := r.ReadRef(ctx, record.LostRefPrefix+run+"/"+string(old))
	if err != nil || kept != old {
		return false, err
	}
	v, err := proof.Verify(ctx, r, run, old)
	if err != nil {
		return false, err
	}
	return !v.Sound() && v.Good == back, nil
}
