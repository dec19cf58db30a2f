package agreement

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// TestLapsedDividesAll divides all approvals, whatever their order, and refuses with the first that would be refused.
func TestLapsedDividesAll(t *testing.T) {
	d := &Decision{Gate: "g", Rules: []*config.GateRule{{Principals: []string{"a@x", "b@x"}, Threshold: 2}}}
	votes := []*run.Vote{{Principal: "left@x"}, {Principal: "a@x"}, {Principal: "gone@x"}, {Principal: "b@x"}}
	none := func(*run.Vote) []byte { return nil }
	counting, lapsed := Lapsed(nil, d, votes, none)
	if len(counting) != 2 || counting[0] != votes[1] || counting[1] != votes[3] {
		t.Errorf("counting: %v", run.VoteRows(counting))
	}
	if len(lapsed) != 2 || lapsed[0].Vote != votes[0] || lapsed[1].Vote != votes[2] || lapsed[1].Why == nil {
		t.Errorf("lapsed: %v", LapseRows(lapsed))
	}
	if got := RefuseLapsed(nil, d, votes, none); got == nil || got.Message != lapsed[0].Why.Message {
		t.Errorf("refused with %v", got)
	}
	if got := RefuseLapsed(nil, d, counting, none); got != nil {
		t.Errorf("approvals that count are refused with %v", got)
	}
}
