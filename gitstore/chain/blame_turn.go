// A turn as it was recorded just before its acceptance.

package chain

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// TurnBefore returns an accepted turn as the run held it when its result was accepted. It looks back through at
// most limit operations and returns nil when it does not find the turn, such as when another tool accepted it.
func (x *RunRecord) TurnBefore(turn string, limit int) (*run.Turn, error) {
	name := record.TrailerOp + ": " + (*protocol.AcceptTurn)(nil).Name() + "\n"
	id := record.TrailerTurn + ": " + turn + "\n"
	for op := x.Op; limit > 0; limit-- {
		c, err := x.rec.Reader.Commit(op)
		if err != nil {
			return nil, err
		}
		if len(c.Parents) == 0 {
			return nil, nil
		}
		if strings.Contains(c.Message, name) && strings.Contains(c.Message, id) {
			s, err := (&RunRecord{
				Run: x.Run,
				Op:  c.Parents[0],
				rec: &RecordedRun{Run: x.Run, Op: c.Parents[0], Reader: x.rec.Reader},
			}).State(nil)
			if err != nil {
				return nil, err
			}
			if t, ok := s.ActiveTurns.Get(turn); ok && t != nil {
				return t, nil
			}
			// Refused then; its acceptance is further back or is not ours.
		}
		op = c.Parents[0]
	}
	return nil, nil
}
