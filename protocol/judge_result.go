// JudgeResult puts a turn result through normalisation and the five stages. accept, verify turn and the conformance
// adapter all use it (docs/spec/results.md).

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// JudgeOptions is what accompanies a result document.
type JudgeOptions struct {
	NormalizeReview bool           // the operator treats an empty workspace artifact as a review
	IdleSidecar     *evidence.Blob // idle-expansion-result.json, or nil

	earlier result.Earlier
}

// JudgeResult says whether a decoded result is valid for a turn of the run, and what was repaired in it. It reads
// only the document and the record; AcceptTurn judges work tree, gates and policies. turn may be nil, which the
// assignment stage refuses.
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
		// An unreadable sidecar counts as absent; the later stages then refuse the missing member.
		in.IdleSidecar, _ = ojson.DecodeLimited(opt.IdleSidecar.Data, ojson.Limits{
			Bytes: MaxStagedBytes,
			Depth: maxStagedDepth,
		})
	}
	return result.Validate(in)
}
