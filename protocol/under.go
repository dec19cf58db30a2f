// A recorded state and operation as they would be under another configuration
// (docs/spec/verdicts.md#another-configuration).

package protocol

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Change is a configuration compared with the recorded one.
type Change struct {
	Now     *config.Config
	was     *config.Config
	results bool // both judge results the same
}

// Between compares the recorded configuration with another one.
func Between(was, now *config.Config) *Change {
	return &Change{Now: now, was: was, results: result.SameRules(was, now)}
}

// Snapshot returns the snapshot with the other configuration. What an operation once copied from the configuration
// into the state is copied again: what remains of the budget, the gates, the runtime of an active turn. Everything
// else stays as recorded.
func (c *Change) Snapshot(snap *change.Snapshot) *change.Snapshot {
	out := *snap
	was, now := c.was, c.Now
	out.Config = now
	s := snap.State
	mine := func() *run.State { // a copy, where anything changes
		if s == snap.State {
			s = s.Copy(run.SharedObjects)
			out.State = s
		}
		return s
	}
	if limit := run.FreshBudget(now).RemainingUSD; s.Run() != "" &&
		!sameLimit(run.FreshBudget(was).RemainingUSD, limit) {
		mine().BudgetStatus.RemainingUSD = nil
		if limit != nil {
			s.BudgetStatus.RemainingUSD = new(*limit - s.BudgetStatus.SpentUSD)
		}
	}
	for _, r := range now.Routing.All() {
		if r.ExitGate != "" && !s.PhaseGateStatus.Has(r.ExitGate) {
			mine().PhaseGateStatus.Set(r.ExitGate, wire.GatePending)
		}
	}
	for id, turn := range snap.State.ActiveTurns.All() {
		a, b := was.Role(turn.AssignedRole), now.Role(turn.AssignedRole)
		if a != nil && b != nil && a.RuntimeID == turn.RuntimeID && b.RuntimeID != turn.RuntimeID {
			moved := *turn
			moved.RuntimeID = b.RuntimeID
			mine().ActiveTurns.Set(id, &moved)
		}
	}
	return &out
}

func sameLimit(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Operation returns the operation with the arguments that follow from the configuration derived again from what was
// recorded beside them. Judge decides on it under the Snapshot of what it decided on for op before.
func (c *Change) Operation(op Operation) Operation {
	a, ok := op.(*AcceptTurn)
	if !ok || a.Staged == nil {
		return op
	}
	moved := *a
	moved.Protected = ProtectedPaths(c.Now, a.StagedPath, a.Staged.Data, &a.Seen)
	moved.judged.again = c.results
	return &moved
}

// ProtectedPaths returns, sorted, the paths that a result declares or proposes, or that its turn changed, and that
// the configuration protects from turns. It skips what a concurrent turn has claimed.
func ProtectedPaths(cfg *config.Config, path string, staged []byte, seen *result.Observation) []string {
	if len(cfg.Protected) == 0 && cfg.Authority == nil {
		return nil
	}
	paths := slices.Clone(seen.FilesChanged)
	for _, claim := range seen.Siblings {
		paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(claim.FilesChanged, p) })
	}
	if doc, refusal := DecodeStaged(path, staged); refusal == nil {
		paths = append(paths, doc.Strings("files_changed")...)
		for _, p := range doc.Objects("proposed_changes") {
			paths = append(paths, p.String("path"))
		}
	}
	var out []string
	for _, p := range paths {
		if clean, problem := wire.CleanPath(p); problem == "" && KeptPath(cfg, clean) && !slices.Contains(out, clean) {
			out = append(out, clean)
		}
	}
	slices.Sort(out)
	return out
}

// KeptPath reports whether no turn may change the path: git_hooks.protected names it, or it is a file of signers
// under authority.
func KeptPath(cfg *config.Config, path string) bool {
	if cfg.ProtectedPath(path) != "" {
		return true
	}
	return cfg.Authority != nil && slices.ContainsFunc(wire.SignerFiles(), func(f string) bool {
		return wire.FoldPath(f) == wire.FoldPath(path)
	})
}

// GateEvidence returns the gate documents that an operation was decided on; a nil Blob is a file that did not
// exist.
func GateEvidence(op Operation) []evidence.FileBlob {
	switch op := op.(type) {
	case *AcceptTurn:
		return op.Files
	case *ApprovePhase:
		return op.Approval.Files
	case *ApproveCompletion:
		return op.Approval.Files
	}
	return nil
}
