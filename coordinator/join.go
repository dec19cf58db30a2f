// Joining what two machines did to one initiative: what people said counts on both, what was only counted is counted
// again (docs/coordinator.md#on-another-machine).

package coordinator

import (
	"bytes"
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// joined is the change with which this side goes on where both went on from base; "" where they cannot be brought
// together. What was only counted or requested here the next command counts and requests again; what people said here
// to the gate that waits is put on top of there, where it counts beside what was said there. Without a base the files
// came here by another way than the record, as part of a branch: then they have to be those of a change there.
func (c *Coordinator) joined(ctx context.Context, tx *Tx, base, here, there object.OID) (object.OID, error) {
	repo := c.repository(ctx).Repository()
	now, err := record.InitiativeFiles(ctx, repo, here)
	if err != nil {
		return "", err
	}
	if base == "" {
		if op, err := record.InitiativeChange(ctx, repo, there, now); op == "" {
			return "", err
		}
		return there, nil
	}
	was, err := record.InitiativeFiles(ctx, repo, base)
	if err != nil {
		return "", err
	}
	theirs, err := record.InitiativeFiles(ctx, repo, there)
	if err != nil {
		return "", err
	}
	grown := make(map[string][]*ojson.Object)
	for name := range now {
		switch name {
		case initiative.HistoryPath, initiative.DecisionsPath:
			rest, onward := bytes.CutPrefix(now[name], was[name])
			rows, bad := decodeRows(name, rest)
			if !onward || len(bad) > 0 {
				return "", nil
			}
			grown[name] = rows
		case initiative.BarrierLedgerPath, initiative.BarriersPath, initiative.StatePath,
			initiative.HookAuditPath, initiative.HookNotesPath: // they follow from what is counted
		default:
			if !bytes.Equal(was[name], now[name]) && !bytes.Equal(theirs[name], now[name]) {
				return "", nil
			}
		}
	}
	before, err := stateOf(was)
	if err != nil {
		return "", err
	}
	after, err := stateOf(now)
	if err != nil {
		return "", err
	}
	votes, asked, ok := initiative.Repeatable(grown[initiative.HistoryPath])
	waits := before.Status == initiative.StatusActive && after.Status == initiative.StatusPaused && asked > 0
	switch {
	case !ok || len(grown[initiative.DecisionsPath]) != asked || before.Status != after.Status && !waits:
		return "", nil
	case len(votes) > 0:
		return c.withVotes(ctx, tx, votes, there)
	}
	return there, nil
}

// withVotes is a change on top of there to which votes were added; there itself where they add nothing, and "" where
// one cannot be added.
func (c *Coordinator) withVotes(ctx context.Context, tx *Tx, votes []*ojson.Object,
	there object.OID) (object.OID, error) {
	repo := c.repository(ctx).Repository()
	files, err := record.InitiativeFiles(ctx, repo, there)
	if err != nil {
		return "", err
	}
	st, err := stateOf(files)
	if err != nil {
		return "", err
	}
	a, err := c.judging(ctx, st, there, tx.Docs.Config, false)
	if refusalOf(err) != nil {
		return there, nil // it is refused in a moment, and says why
	} else if err != nil {
		return "", err
	}
	y := a.history(files[initiative.HistoryPath]).Join(st, votes, st.SuperRunID, a.ground(ctx))
	if y == nil {
		return "", nil
	}
	if y.Over > 0 {
		c.note("what was said here to the gate adds nothing to what was said elsewhere: it was decided on there, or asked again")
	}
	ch := y.Change
	if ch.Empty() {
		return there, nil
	}
	env := c.env(ctx)
	ch.State.UpdatedAt = env.Time()
	history := bytes.Clone(files[initiative.HistoryPath])
	for _, row := range ch.History {
		history = append(append(history, ojson.Compact(row)...), '\n')
	}
	files[initiative.HistoryPath] = history
	files[initiative.StatePath] = ojson.Pretty(ch.State.Object())
	g := ch.State.PendingGate
	op, err := record.WriteInitiative(ctx, repo, record.Initiative{
		Run:     st.SuperRunID,
		Op:      "join_votes",
		Subject: fmt.Sprintf("Joined what two machines said to gate %s: %d agree", g.Gate, len(g.Votes)),
		State:   files[initiative.StatePath],
		Files:   files,
		Env:     env,
	}, there)
	if err != nil {
		return "", err
	}
	for _, v := range y.Votes {
		c.note(fmt.Sprintf("the yes of %s to gate %s counts beside those of other machines", v.Who(), g.Gate))
	}
	return op, nil
}
