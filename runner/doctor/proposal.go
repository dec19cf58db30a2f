// The doctor's report on an interrupted apply of a proposal (docs/spec/observation.md#a-proposal-is-decided).

package doctor

import (
	"context"
	"errors"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
)

// proposals finds files that match a proposal and are not recorded as applied: an apply was interrupted after it had
// written them. Completing it writes no file; it commits them if needed and records the apply. When some are not
// written yet, a person decides whether to write them: half a proposal is not committed.
func (d *doctor) proposals(ctx context.Context) {
	v := d.out.View
	if v == nil || v.State == nil || v.State.Status != wire.StatusActive || v.State.ActiveTurns.Len() > 0 {
		return // what an active turn writes is its own
	}
	waiting, err := d.r.WaitingProposals(ctx, v)
	if err != nil {
		d.failed("proposal", err, "git agentxchain fsck")
		return
	}
	for _, w := range waiting {
		p, err := d.r.Proposal(ctx, w.Turn)
		if err != nil {
			d.failed("proposal", err, "git agentxchain fsck")
			continue
		}
		written, rest := p.Written()
		if len(written) == 0 {
			continue
		}
		what := text.Count(len(written), "file", "files") + " of the proposal of turn " + p.Turn
		finish := "git agentxchain proposal apply " + p.Turn
		for _, name := range written {
			finish += " --file " + wire.ShellWord(name)
		}
		if rest > 0 {
			d.add("proposal", LevelWarning, "git agentxchain proposal apply "+p.Turn+", or of these alone: "+finish,
				"%s: as proposed in the work tree, but not recorded as applied, and %d not written yet", what, rest)
			continue
		}
		if !d.fix || d.r.InsideTurn() != "" {
			d.add("proposal", LevelWarning, finish, "%s: as proposed in the work tree, but not recorded as applied",
				what)
			continue
		}
		out, err := d.r.ApplyProposal(ctx, p.Turn, written, "")
		if refused := (*wire.Error)(nil); errors.As(err, &refused) && refused.Code == proposal.CodeDecided {
			continue // the apply was running, and has ended
		}
		if err != nil {
			d.failed("proposal", err, finish)
			continue
		}
		d.add("proposal", LevelWarning, "recorded as applied at "+out.Commit[:12],
			"%s: an apply was interrupted before it was recorded", what).Mended = true
		if fresh, err := d.view(ctx); err == nil {
			d.out.View = fresh
		}
	}
}
