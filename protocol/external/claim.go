// What another tool's step claims to have had the authority for.

package external

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kinds of claims.
const (
	ClaimGate      = "gate_passed"    // a gate of a phase became passed
	ClaimApproval  = "approval_given" // a run that waited for a person's approval no longer waits
	ClaimPhase     = "phase_entered"  // the run is in another phase
	ClaimActive    = "unblocked"      // a blocked or paused run continues
	ClaimCompleted = "run_completed"
	ClaimReopened  = "run_reopened" // a finished run is no longer finished
	ClaimAbandoned = "run_abandoned"
	ClaimUndo      = "last_approval" // what taking back an approval would restore was changed
	ClaimIndex     = "index"         // the index that the rules use does not follow from the ledgers
	ClaimAuthority = "authority"     // the votes for a gate, or what its documents are compared with
	ClaimBegun     = "run_begun"     // another tool began the run
	ClaimRules     = "rules"         // a running run is judged by weaker rules that were never adopted
)

// Claim is something that a record says happened, that this program allows only a gate's predicates or a person,
// and that cannot be derived again from the record: another tool did it, or a file came from elsewhere. It counts
// once a person has confirmed it (see Confirm).
type Claim struct {
	Kind string `json:"kind"`
	Gate string `json:"gate,omitempty"` // gate_passed, approval_given
	From string `json:"from,omitempty"` // phase_entered: phases; unblocked, run_reopened: statuses
	To   string `json:"to,omitempty"`   // for run_begun, the run
}

// String describes the claim in one line.
func (c Claim) String() string {
	switch c.Kind {
	case ClaimGate:
		return "gate " + c.Gate + " passed"
	case ClaimApproval:
		return "gate " + c.Gate + " approved"
	case ClaimPhase:
		return "phase " + c.From + " to " + c.To
	case ClaimActive:
		return fmt.Sprintf("the run went from %s to %s", c.From, c.To)
	case ClaimCompleted:
		return "the run completed"
	case ClaimReopened:
		return "the " + c.From + " run became " + c.To
	case ClaimAbandoned:
		return "the run was abandoned"
	case ClaimUndo:
		return "what taking the approval of gate " + c.Gate + " back leads to"
	case ClaimIndex:
		return "the digest of the ledgers does not follow from them"
	case ClaimAuthority:
		return "the votes for a gate, or what its documents are compared with, are others"
	case ClaimBegun:
		return "another tool began run " + c.To
	case ClaimRules:
		return "the run's rules became weaker without config adopt"
	}
	return c.Kind
}

// ClaimsInWords joins claims for a sentence.
func ClaimsInWords(claims []Claim) string {
	words := make([]string, len(claims))
	for i, c := range claims {
		words[i] = c.String()
	}
	return strings.Join(words, ", ")
}

// Claims returns what the step from before to after claims. A nil before means a run without any earlier record: it
// began idle in the first phase.
func Claims(c *config.Config, before, after *run.State) []Claim {
	if before == nil {
		before = run.FreshState(c, after.ProjectID)
	}
	var out []Claim
	for gate, status := range after.PhaseGateStatus.All() {
		if was, _ := before.PhaseGateStatus.Get(gate); status == wire.GatePassed && was != wire.GatePassed {
			out = append(out, Claim{Kind: ClaimGate, Gate: gate})
		}
	}
	if p := before.PendingPhaseTransition; p != nil &&
		(after.PendingPhaseTransition == nil || after.PendingPhaseTransition.Gate != p.Gate) {
		out = append(out, Claim{Kind: ClaimApproval, Gate: p.Gate})
	}
	if p := before.PendingRunCompletion; p != nil &&
		(after.PendingRunCompletion == nil || after.PendingRunCompletion.Gate != p.Gate) {
		out = append(out, Claim{Kind: ClaimApproval, Gate: p.Gate})
	}
	if before.Phase != after.Phase && before.Phase != "" {
		out = append(out, Claim{Kind: ClaimPhase, From: before.Phase, To: after.Phase})
	}
	if a := after.LastApproval; a != nil && !sameApproval(before.LastApproval, a) {
		_, gate, _ := a.Gate()
		out = append(out, Claim{Kind: ClaimUndo, Gate: gate})
	}
	if before.Run() == after.Run() && !sameAuthority(before, after) {
		out = append(out, Claim{Kind: ClaimAuthority})
	}
	held := before.Status == wire.StatusBlocked || before.Status == wire.StatusPaused
	switch {
	case before.Status == wire.StatusCompleted && after.Status != wire.StatusCompleted,
		before.Status == wire.StatusFailed && after.Status != wire.StatusFailed:
		out = append(out, Claim{Kind: ClaimReopened, From: string(before.Status), To: string(after.Status)})
	case before.Status != wire.StatusCompleted && after.Status == wire.StatusCompleted:
		out = append(out, Claim{Kind: ClaimCompleted})
	case before.Status != wire.StatusFailed && after.Status == wire.StatusFailed:
		out = append(out, Claim{Kind: ClaimAbandoned})
	case held && after.Status == wire.StatusActive,
		before.Status == wire.StatusBlocked && after.Status == wire.StatusPaused:
		out = append(out, Claim{Kind: ClaimActive, From: string(before.Status), To: string(after.Status)})
	}
	return out
}

// sameApproval reports whether a step did not change what taking back an approval would restore.
func sameApproval(before, after *run.LastApproval) bool {
	return before != nil && bytes.Equal(ojson.Compact(ojson.Marshal(before)), ojson.Compact(ojson.Marshal(after)))
}

// sameAuthority compares the members of the state that decide who has approved what. A tool that does not know them
// keeps them.
func sameAuthority(a, b *run.State) bool {
	view := func(s *run.State) *ojson.Object {
		return ojson.NewObject(
			"documents", ojson.Marshal(&struct {
				Documents ojson.Map[*run.DocumentMark] `json:"documents"`
				Votes     []*run.Vote                  `json:"votes"`
				Overruled []*run.Overrule              `json:"overruled"`
			}{s.GateDocuments, s.GateVotes, s.Overruled}),
			"nonces", s.SpentNonces,
			"base", wire.OrEmpty(s.AuthorityBase),
		)
	}
	if a.AuthorityBase == nil && b.AuthorityBase == nil && a.GateDocuments.Len()+b.GateDocuments.Len()+
		len(a.GateVotes)+len(b.GateVotes)+len(a.SpentNonces)+len(b.SpentNonces)+len(a.Overruled)+
		len(b.Overruled) == 0 {
		return true
	}
	return bytes.Equal(ojson.Compact(view(a)), ojson.Compact(view(b)))
}
