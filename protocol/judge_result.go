// JudgeResult: a turn result put through normalisation and the five stages, the one path
// of accept, verify turn and the conformance adapter (docs/spec/results.md).

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// JudgeOptions is what comes with a result beside its document.
type JudgeOptions struct {
	NormalizeReview bool           // the operator reads an empty workspace artifact as a review
	IdleSidecar     *evidence.Blob // idle-expansion-result.json, or nil

	earlier result.Earlier
}

// JudgeResult says whether a decoded result holds for a turn of the run, and what was
// repaired in it. It looks at nothing but the document and the record: work tree, gates
// and policies are judged by AcceptTurn. turn may be nil, which the assignment stage
// refuses.
func JudgeResult(snap *change.Snapshot, turn *run.Turn, doc ojson.Value, opt JudgeOptions) *result.Validation {
	in := result.Input{
		Config:               snap.Config,
		State:                snap.State,
		Turn:                 turn,
		Raw:                  doc,
		NormalizeReview:      opt.NormalizeReview,
		Earlier:              opt.earlier,
		EarlierProduct:       snap.Index.ProductTurn,
		SeriousObjectionOpen: snap.Index.SeriousObjection(),
		UsedDecisions:        run.DecodeDecisionIDs(snap.Index.DecisionIDs),
		DurableDecisions:     ledger.DurableIDs(snap.RepoDecisions),
	}
	if opt.IdleSidecar != nil {
		// An unreadable sidecar counts as absent; the missing member is then refused.
		in.IdleSidecar, _ = ojson.DecodeLimited(opt.IdleSidecar.Data, ojson.Limits{
			Bytes: MaxStagedBytes,
			Depth: maxStagedDepth,
		})
	}
	return result.Validate(in)
}
