// Joining the work of two machines on one initiative: approvals count on both sides, and what was only counted is
// counted again (docs/coordinator.md#on-another-machine).

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

// joined returns the change with which this side continues if both continued from base; "" if they cannot be
// combined. The next command counts and requests again what was only counted or requested here; what people said
// here to the gate that waits is put on top of there, where it counts beside what was said there. Without a base
// the files came here in another way than the record, as part of a branch: then they must be those of a change
// there.
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
		case initiative.ConfigFile: // the work tree keeps its own, and the next change has it
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
	said, ok := initiative.SaidIn(grown[initiative.HistoryPath], grown[initiative.DecisionsPath], before, after)
	switch {
	case !ok:
		return "", nil
	case len(said.Yes) > 0 || said.No != nil:
		return c.withSaid(ctx, tx, said, there)
	}
	return there, nil
}

// withSaid returns a change on top of there that adds what people said here; there itself if that adds nothing, and
// "" if it cannot be added.
func (c *Coordinator) withSaid(ctx context.Context, tx *Tx, said *initiative.Said, there object.OID) (object.OID, error) {
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
		return there, nil // the caller will refuse it and say why
	} else if err != nil {
		return "", err
	}
	decisions, _ := decodeRows(initiative.DecisionsPath, files[initiative.DecisionsPath])
	w := initiative.Workspace{
		State:        st,
		History:      a.history(files[initiative.HistoryPath]),
		NextDecision: initiative.NextDecision(decisions),
	}
	y := w.Join(said, a.ground(ctx))
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
	for name, rows := range map[string][]*ojson.Object{
		initiative.HistoryPath:   ch.History,
		initiative.DecisionsPath: ch.Decisions,
	} {
		data := bytes.Clone(files[name])
		for _, row := range rows {
			data = append(append(data, ojson.Compact(row)...), '\n')
		}
		files[name] = data
	}
	files[initiative.StatePath] = ojson.Pretty(ch.State.Object())
	g := st.PendingGate
	in := record.Initiative{
		Run:     st.SuperRunID,
		Op:      "join_votes",
		Subject: fmt.Sprintf("Joined what two machines said to gate %s: %d agree", g.Gate, len(g.Votes)+len(y.Votes)),
		State:   files[initiative.StatePath],
		Files:   files,
		Env:     env,
	}
	if y.Denied {
		in.Op, in.Subject = "join_denial", fmt.Sprintf("Joined what two machines said to gate %s: it is denied", g.Gate)
	}
	op, err := record.WriteInitiative(ctx, repo, in, there)
	if err != nil {
		return "", err
	}
	for _, v := range y.Votes {
		c.note(fmt.Sprintf("the approval of gate %s by %s counts beside those of other machines", g.Gate, v.Who()))
	}
	if y.Denied {
		c.note("gate " + g.Gate + " was denied here while other machines agreed to it: it is denied")
	}
	return op, nil
}
