// agentxchain.pushRuns: runs that are pushed along with a branch.

package githooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Values of agentxchain.pushRuns.
const (
	pushRunsNot = iota
	pushRunsAlong
	pushRunsRequired
)

// pushRunsLimit bounds the push of runs: a server that asks for a password gets no answer here.
const pushRunsLimit = 2 * time.Minute

// pushAlong pushes every run to the remote to which a branch is being pushed, when the user has set
// agentxchain.pushRuns. Nothing is forced. The runs go first, so that a server can check the branch against them; a
// failure is only reported, unless the setting is "require".
func (g *guarded) pushAlong(remote string, moves []move) error {
	isRun := func(m move) bool { return strings.HasPrefix(m.ref, git.RunRefPrefix) }
	isBranch := func(m move) bool { return strings.HasPrefix(m.ref, branchPrefix) && m.new != "" }
	// Runs that are being pushed anyway would collide with themselves.
	if remote == "" || slices.ContainsFunc(moves, isRun) || !slices.ContainsFunc(moves, isBranch) {
		return nil
	}
	wanted, err := g.wantsRuns()
	if err != nil || wanted == pushRunsNot {
		return err
	}
	runs, err := chain.RunRecords(g.ctx, g.repo)
	if err != nil || len(runs) == 0 {
		return err
	}
	ctx, stop := context.WithTimeoutCause(g.ctx, pushRunsLimit, errors.New("it took too long"))
	defer stop()
	// --no-verify: this hook is not asked about its own push.
	_, err = g.repo.Git.Transport().Run(ctx, nil, "push", "--quiet", "--no-verify", "--no-follow-tags",
		"--recurse-submodules=no", "--", remote, git.RunRefPrefix+"*:"+git.RunRefPrefix+"*")
	switch {
	case err == nil:
		return nil
	case g.ctx.Err() != nil:
		return err
	case wanted == pushRunsRequired:
		g.find(Finding{
			Rule:    RuleRunsUnpushed,
			Path:    remote,
			Message: "the runs could not be pushed: " + err.Error(),
			Hint: "git fetch " + remote +
				" 'refs/agentxchain/runs/*:refs/agentxchain/runs/*' shows what is there; or: git config agentxchain.pushRuns true",
		})
	case g.inv.Stderr != nil:
		_, _ = fmt.Fprintf(g.inv.Stderr, "agentxchain: the runs were not pushed along: %s\n",
			text.OneLine(err.Error()))
	}
	return nil
}

func (g *guarded) wantsRuns() (int, error) {
	list, err := g.repo.Config(g.ctx)
	if err != nil {
		return pushRunsNot, err
	}
	v, set := list.Last("agentxchain.pushRuns")
	if !set {
		return pushRunsNot, nil
	}
	switch v = strings.TrimSpace(v); {
	case strings.EqualFold(v, "require"):
		return pushRunsRequired, nil
	case isFalse(v):
		return pushRunsNot, nil
	}
	return pushRunsAlong, nil
}
