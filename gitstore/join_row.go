// Joining operations that mark a history row: on the other side the row may be another one, or missing.

package gitstore

import (
	"bytes"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// onRowThere points a checkpoint at the row of its turn in the recorded tree root, where the other side accepted
// the same result at its own time; it leaves every other operation unchanged. same reports that the row already
// names the commit. lost lists turns with an earlier failed operation.
func onRowThere(r *record.Reader, root object.OID, rec *protocol.Record, lost map[string]bool) (
	_ *protocol.Record, same bool, _ *join.Refusal, _ error) {
	op, ok := rec.Op.(*commits.Checkpoint)
	if !ok || op.Row == nil {
		return rec, false, nil, nil
	}
	e, err := r.EditLedger(root, wire.LedgerHistory)
	if err != nil {
		return nil, false, nil, err
	}
	line, row, err := e.LastAccepted(op.TurnID)
	switch {
	case err != nil:
		return nil, false, nil, err
	case bytes.Equal(line, op.Row.Data):
		return rec, false, nil, nil
	case lost[op.TurnID]:
		return nil, false, join.FollowsFrom(op, op.TurnID), nil
	case row == nil:
		return nil, false, &join.Refusal{
			Reason:  join.Refused,
			Code:    wire.CodeNotFound,
			Message: "turn " + op.TurnID + " was not accepted there",
			Ways:    join.WaysOf(op),
		}, nil
	}
	switch sha := row.String("checkpoint_sha"); sha {
	case "":
		out := *rec
		out.Op = &commits.Checkpoint{TurnID: op.TurnID, Row: evidence.NewBlob(line), Commit: op.Commit}
		return &out, false, nil, nil
	case op.Commit:
		return rec, true, nil, nil
	default:
		return nil, false, &join.Refusal{
			Reason:  join.Superseded,
			Message: fmt.Sprintf("the files of turn %s are in commit %.12s there", op.TurnID, sha),
			Ways:    []string{join.WayDrop},
		}, nil
	}
}
