// The approvals that were given to the waiting gate, and what they were given for.

package gate

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// Files reads what the current phase's gate and its last failure look at in the project at dir.
func Files(dir string, v *gitstore.View) ([]evidence.FileBlob, error) {
	paths := gates.Files(v.Config, v.State.Phase)
	if f := v.State.LastGateFailure; f != nil {
		for _, p := range f.MissingFiles {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	out := make([]evidence.FileBlob, 0, len(paths))
	for _, p := range paths {
		fb := evidence.FileBlob{Path: p}
		if clean, problem := wire.CleanPath(p); problem == "" {
			data, err := projectfile.Read(dir, clean, projectfile.MaxGate)
			if err != nil {
				return nil, err
			}
			if data != nil {
				fb.Blob = evidence.NewBlob(data)
			}
		}
		out = append(out, fb)
	}
	return out, nil
}

// Given are the approvals of the waiting gate.
type Given struct {
	Approvals []*run.Vote       // that count for the present files and commit
	Dropped   []*run.Vote       // that no longer count: what they were given for has changed since
	Lapsed    []agreement.Lapse // that would be refused now
}

// Votes returns the approvals of the waiting gate.
func Votes(ctx context.Context, store *gitstore.Store, v *gitstore.View) (out Given, err error) {
	if !run.HasPending(v.State) || len(v.State.GateVotes) == 0 {
		return out, nil
	}
	files, err := Files(store.Dir(), v)
	if err != nil {
		return out, err
	}
	signed, _, refusal := protocol.Sign(v.Config, files)
	if refusal != nil {
		return Given{Dropped: v.State.GateVotes}, nil // no approval can be given to the present files
	}
	at, err := consent.At(ctx, store, v)
	if err != nil {
		return out, err
	}
	now := agreement.Moment{Rules: config.RulesDigest(v.Config), Head: at.Env.Git.Head}
	content := now.Content(&agreement.Decision{Gate: run.PendingGate(v.State), Evidence: signed})
	for _, vote := range v.State.GateVotes {
		if vote.Content == content {
			out.Approvals = append(out.Approvals, vote)
		} else {
			out.Dropped = append(out.Dropped, vote)
		}
	}
	if len(out.Approvals) == 0 {
		return out, nil
	}
	counting, lapsed, err := at.Lapsed(ctx, out.Approvals)
	if err == nil { // otherwise the answer to the gate reports it
		out.Approvals, out.Lapsed = counting, lapsed
	}
	return out, nil
}
