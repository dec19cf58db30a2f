// A gate evaluated on the present files.

package gate

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Standing is a gate evaluated on the present files.
type Standing struct {
	ID           string
	Status       string // pending, passed, failed, cleared_by_reconciliation
	Completion   bool   // the gate of the last phase
	Result       gates.Result
	HumanNeeded  bool
	Credentialed bool
	Absent       []string // files that the gate looks at and that do not exist, required or not
}

// Stand evaluates a phase's exit gate as if it were asked to open now. A gate's verdict needs a
// turn's verification; that of the phase's last accepted turn is used. dir is the project. The
// result is nil when the phase has no gate.
func Stand(dir string, v *gitstore.View, phase string) (*Standing, error) {
	route := v.Config.Route(phase)
	if route == nil || route.ExitGate == "" {
		return nil, nil
	}
	out := &Standing{ID: route.ExitGate, Completion: phase == v.Config.FinalPhase()}
	out.Status, _ = v.State.PhaseGateStatus.Get(route.ExitGate)
	if g := v.Config.Gate(route.ExitGate); g != nil {
		out.HumanNeeded, out.Credentialed = g.RequiresHuman, g.Credentialed
		if v.Config.GateRule(route.ExitGate) != nil {
			out.HumanNeeded = true
		}
	}
	var facts []evidence.FileFact
	for _, p := range gates.Files(v.Config, phase) {
		f := evidence.FileFact{Path: p}
		if clean, problem := wire.CleanPath(p); problem == "" {
			data, err := projectfile.Read(dir, clean, projectfile.MaxGate)
			if err != nil {
				return nil, err
			}
			f.Exists, f.Data = data != nil, data
		}
		if !f.Exists {
			out.Absent = append(out.Absent, p)
		}
		facts = append(facts, f)
	}
	in := gates.Input{
		Config:   v.Config,
		Phase:    phase,
		Blocking: v.Index.BlockingObjections(),
		Files:    evidence.NewFiles(facts),
		Marks:    protocol.DocumentMarks(v.Config, v.State),
		Participated: func(p, role string) bool {
			return slices.Contains(v.Index.Participants.Value(p), role)
		},
	}
	row := v.Index.LastRow
	if s := v.State; s.PendingPhaseTransition != nil && v.Index.QueuedRow != nil {
		row = v.Index.QueuedRow // the gate is judged by the turn that asked
	} else if s.PendingRunCompletion != nil && v.Index.QueuedDone != nil {
		row = v.Index.QueuedDone
	}
	if row.String("phase") == phase {
		in.VerificationStatus = row.Object("verification").String("status")
		in.VerificationReproducible = row.Object("normalized_verification").Bool("reproducible")
	}
	if out.Completion {
		in.CompletionRequest = true
		out.Result = gates.EvaluateRunCompletion(in)
	} else {
		next := v.Config.NextPhase(phase)
		in.TransitionRequest = &next
		out.Result = gates.EvaluatePhaseExit(in)
	}
	return out, nil
}

// Mended reports whether a gate that failed would now pass, so that asking again moves the run on.
// dir is the project. An unreadable gate is not mended.
func Mended(dir string, v *gitstore.View) bool {
	if v.State.LastGateFailure == nil || protocol.CheckRetry(v.State, v.Index) != nil {
		return false
	}
	f := v.State.LastGateFailure
	if f.GateType == run.GatePhase && wire.OrEmpty(f.ToPhase) != v.Config.NextPhase(v.State.Phase) {
		return false // it asked for a phase that does not come next
	}
	g, err := Stand(dir, v, v.State.Phase)
	return err == nil && g != nil && g.Completion == (f.GateType == run.GateCompletion) &&
		g.Result.Action != gates.ActionGateFailed
}
