// The non-progress guard counts turns that leave a gate failing in the same way
// (docs/spec/lifecycle.md#lack-of-progress).

package gates

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NonProgressInput is the exit gate of the current phase after an acceptance,
// and what the state remembers. Gate needs no request: the guard makes its own.
type NonProgressInput struct {
	Gate      Input
	Signature string   // state.non_progress_signature
	Count     int      // state.non_progress_count
	Declared  []string // effective files of the accepted turn
}

// NonProgressResult is what the state must remember; Count 0 and Signature "" mean nothing.
type NonProgressResult struct {
	Signature    string
	Count        int
	GateID       string
	FailingFiles []string
}

// NonProgress probes the gate with the request that would leave the phase: the next phase, or completion in the
// final one. A turn that touched a file on which the gate fails has made progress even when the gate still fails in
// the same way (docs/compatibility.md#where-we-differ-on-purpose).
func NonProgress(in NonProgressInput) NonProgressResult {
	g := in.Gate
	g.TransitionRequest, g.CompletionRequest = nil, false
	var r Result
	if next := g.Config.NextPhase(g.Phase); next != "" {
		g.TransitionRequest = &next
		r = EvaluatePhaseExit(g)
	} else {
		g.CompletionRequest = true
		r = EvaluateRunCompletion(g)
	}
	if r.Action != ActionGateFailed || r.GateID == nil {
		return NonProgressResult{}
	}
	out := NonProgressResult{
		GateID:       *r.GateID,
		FailingFiles: r.FailingFiles,
		Count:        1,
		Signature:    nonProgressSignature(r),
	}
	touched := wire.PathSet(in.Declared)
	progress := slices.ContainsFunc(r.FailingFiles, func(p string) bool { return touched[p] })
	if out.Signature == in.Signature && !progress {
		out.Count = max(in.Count, 0) + 1
	}
	return out
}

// nonProgressSignature returns <gate>::<files>::<reasons>, each list sorted and joined with commas.
func nonProgressSignature(r Result) string {
	files, reasons := slices.Clone(r.FailingFiles), slices.Clone(r.Reasons)
	wire.SortPaths(files)
	wire.SortPaths(reasons)
	return *r.GateID + "::" + strings.Join(files, ",") + "::" + strings.Join(reasons, ",")
}
