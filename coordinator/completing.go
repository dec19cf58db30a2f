// The completion of the repositories' runs with that of the initiative, and what they ask for first
// (docs/coordinator.md#gates).

package coordinator

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// completing returns the repositories whose runs wait for the approval of their completion.
func (c *Coordinator) completing(s *Seen, opt ApproveOptions) []Participant {
	var out []Participant
	yes := true
	for _, repo := range s.Config.Repos.Keys() {
		dir, ok := s.Roots.Path(repo)
		if !ok || !s.waitsToComplete(repo) {
			continue
		}
		out = append(out, Participant{Repo: repo, Act: func(ctx context.Context, publish decision.Publish) error {
			r, err := c.childRunner(ctx, dir, completed(repo, dir, publish))
			if err != nil {
				return inRepo(repo, dir, err)
			}
			defer func() { _ = r.Close() }()
			if _, err = r.Approve(ctx,
				runner.ApproveOptions{Completion: &yes, AllowActions: opt.AllowActions}); err != nil {
				return inRepo(repo, dir, err)
			}
			if r.RemoteDecides() { // but not for this: it was recorded here first
				c.pushLater(ctx, r.Record().Repository(), dir)
			}
			return nil
		}})
	}
	return out
}

// ownFirst refuses to begin with the completion while a repository requires what is missing here: its own
// signature, or more people than the one who decides. Its run moves with their approvals, and what people had said
// to the initiative would no longer count. dir is the repository's directory.
func (s *Seen) ownFirst(opt ApproveOptions) (dir string, refusal *wire.Error) {
	if g := s.State.PendingGate; g == nil || g.GateType != initiative.GateCompletion || opt.InitiativeOnly {
		return "", nil
	}
	for _, repo := range s.Config.Repos.Keys() {
		child := s.Children[repo]
		dir, ok := s.Roots.Path(repo)
		if !ok || !s.waitsToComplete(repo) {
			continue
		}
		switch gate, r := ownRule(child); {
		case r == nil:
		case r.Signed:
			return dir, ownApprovals(repo, dir, gate, "asks for a signature")
		case r.Threshold-len(child.State.GateVotes) > 1:
			return dir, ownApprovals(repo, dir, gate, fmt.Sprintf("asks for %d people", r.Threshold))
		}
	}
	return "", nil
}

// ownRule returns the rule of a repository for the completion that it waits for; nil if any person may approve.
func ownRule(c *initiative.Child) (gate string, r *config.GateRule) {
	if gate = c.State.PendingRunCompletion.Gate; c.Config == nil {
		return gate, nil
	}
	return gate, c.Config.GateRule(gate)
}

// ownApprovals refuses the completion because a repository's own gate needs more than this command gives.
func ownApprovals(repo, dir, gate, needs string) *wire.Error {
	return &wire.Error{
		Code:  wire.CodeApprovalsMissing,
		Field: "repos." + repo,
		Message: fmt.Sprintf("Gate %s of repository %s %s, which is given there and moves its run, so it comes first.",
			wire.OneLine(gate), repo, needs),
		Hint: "git agentxchain -C " + wire.ShellWord(dir) + " approve --show, and once its run is complete: " + Program +
			" multi approve-gate; or leave the repositories alone: " + Program + " multi approve-gate --initiative-only",
	}
}

// completed publishes the approval of a completion if it completes the run. A yes that is not the last one required
// by the repository also moves its run.
func completed(repo, dir string, publish decision.Publish) decision.Publish {
	return func(ctx context.Context, r *git.Repository, m decision.Move) error {
		if m.Op != (*protocol.ApproveCompletion)(nil).Name() {
			return publish(ctx, r, m)
		}
		st, err := chain.StateAt(ctx, r, m.Ref.New)
		if err != nil {
			return err
		}
		if p := st.PendingRunCompletion; p != nil {
			return ownApprovals(repo, dir, p.Gate, "asks for more people")
		}
		return publish(ctx, r, m)
	}
}

// waitsToComplete reports whether a repository's run waits for the approval of its completion.
func (s *Seen) waitsToComplete(repo string) bool {
	st := s.Children.State(repo)
	return st != nil && st.PendingRunCompletion != nil && st.Run() == s.State.RunOf(repo)
}

// actsOnServer refuses an approval that would have to complete the run of a repository that is not here.
func actsOnServer(s *Seen, opt ApproveOptions) *wire.Error {
	if s.State.PendingGate.GateType != initiative.GateCompletion || opt.InitiativeOnly {
		return nil
	}
	for _, repo := range s.Config.Repos.Keys() {
		if s.waitsToComplete(repo) && s.Children[repo].Remote {
			e := initiative.OnServer(repo, "its run is completed", "approve")
			e.Hint += "; or leave the repositories alone: " + Program + " multi approve-gate --initiative-only"
			return e
		}
	}
	return nil
}
