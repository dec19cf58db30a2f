// Which rows belong to the reported run: ledgers outlive runs.

package account

import (
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// scope distinguishes the rows of one run from those of others. Rows name their run, or one of its turns, or at
// least a time.
type scope struct {
	all     bool // include every run
	run     string
	turns   map[string]string // turn -> its run
	created time.Time         // when the run began; zero if unknown
}

func newScope(run string, state *ojson.Object, history []*ojson.Object, all bool) *scope {
	s := &scope{all: all || run == "", run: run, turns: make(map[string]string)}
	for _, row := range history {
		if turn, id := row.String("turn_id"), row.String("run_id"); turn != "" && id != "" {
			s.turns[turn] = id
		}
	}
	s.created, _ = wire.ParseTime(state.String("created_at"))
	return s
}

// holds reports whether a row is included.
func (s *scope) holds(row *ojson.Object) bool {
	if s.all {
		return true
	}
	if id := row.String("run_id"); id != "" {
		return id == s.run
	}
	for _, k := range [...]string{"turn_id", "requested_by_turn"} {
		if id, known := s.turns[row.String(k)]; known {
			return id == s.run
		}
	}
	for _, k := range [...]string{"timestamp", "created_at", "failed_at", "accepted_at"} {
		if at, err := wire.ParseTime(row.String(k)); err == nil {
			return s.created.IsZero() || !at.Before(s.created)
		}
	}
	return true
}

func (s *scope) keep(rows []*ojson.Object) []*ojson.Object {
	out := make([]*ojson.Object, 0, len(rows))
	for _, r := range rows {
		if s.holds(r) {
			out = append(out, r)
		}
	}
	return out
}
