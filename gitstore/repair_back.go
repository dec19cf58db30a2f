// Going back to the last operation of a run that holds. What is dropped stays under
// a ref of its own.

package gitstore

import (
	"bytes"
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// LostRefPrefix is where the tips of dropped operations are kept: below it
// <run>/<operation>.
const LostRefPrefix = refSpace + "lost/"

// planBack finds the operation to go back to and how refs move. Only a chain that
// does not hold is cut, and only where it last holds.
func (s *Store) planBack(ctx context.Context, plan *RepairPlan, name string) (OID, []RefUpdate, error) {
	tip, err := s.readRun(ctx, plan.Run)
	if err != nil {
		return "", nil, err
	}
	if tip == "" {
		return "", nil, noRun(plan.Run)
	}
	out, err := s.repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if exitCode(err) >= 0 {
			return "", nil, errorf(protocol.CodeNotFound, nil, "%q names no operation", name).hint("git agentxchain log")
		}
		return "", nil, err
	}
	op := OID(bytes.TrimSpace(out))
	v, err := s.Verify(ctx, plan.Run, tip)
	if err != nil {
		return "", nil, err
	}
	switch {
	case v.Sound():
		return "", nil, errorf(protocol.CodeInvalidArgument, nil, "every operation of run %s holds; none is dropped", plan.Run).hint("git agentxchain repair --from-ref")
	case v.Good == "":
		return "", nil, v.Err()
	case op != v.Good:
		return "", nil, errorf(protocol.CodeInvalidArgument, nil, "the last operation of run %s that holds is %s, not %s", plan.Run, v.Good.Short(), op.Short()).
			hint("git agentxchain repair --from-op %s --run %s", v.Good.Short(), plan.Run)
	}
	for at := tip; at != op && plan.Dropped < maxVerified; plan.Dropped++ {
		ps, err := s.repo.Parents(ctx, at)
		if err != nil || len(ps) == 0 {
			return "", nil, err
		}
		at = ps[0]
	}
	plan.Lost = LostRefPrefix + plan.Run + "/" + string(tip)
	moves := []RefUpdate{{Name: RunRefPrefix + plan.Run, New: op, Old: tip}}
	have, err := s.repo.ReadRef(ctx, plan.Lost)
	if err != nil {
		return "", nil, err
	}
	if have == "" {
		moves = append(moves, RefUpdate{Name: plan.Lost, New: tip})
	}
	return op, moves, nil
}
