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

// Votes returns the approvals of the waiting gate: those that count for the present files and commit, and those that
// were given for something else.
func Votes(ctx context.Context, store *gitstore.Store, v *gitstore.View) (counting, dropped []*run.Vote, err error) {
	if !run.HasPending(v.State) || len(v.State.GateVotes) == 0 {
		return nil, nil, nil
	}
	files, err := Files(store.Dir(), v)
	if err != nil {
		return nil, nil, err
	}
	signed, _, refusal := protocol.Sign(v.Config, files)
	if refusal != nil {
		return nil, v.State.GateVotes, nil // no approval can be given to the present files
	}
	now := agreement.Moment{Rules: config.RulesDigest(v.Config), Head: string(store.Repository().Head(ctx))}
	content := now.Content(&agreement.Decision{Gate: run.PendingGate(v.State), Evidence: signed})
	for _, vote := range v.State.GateVotes {
		if vote.Content == content {
			counting = append(counting, vote)
		} else {
			dropped = append(dropped, vote)
		}
	}
	return counting, dropped, nil
}
