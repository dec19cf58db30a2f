// The rows of a repository that matter to the initiative, and rows that only claim to.

package coordinator

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// rows sets the child's rows that count. Ledgers are read from their ends, no further than to the relevant turns.
func (r *childReader) rows(out *childRead, its *gitstore.SiblingRun, state *run.State) error {
	want, all := r.opt.Turns[out.child.ID], r.opt.Turns == nil
	// An active turn has not ended; only a forgery says otherwise.
	over := slices.DeleteFunc(slices.Clone(want), state.ActiveTurns.Has)
	history, newest, err := r.history(its, over, all)
	if err != nil {
		return err
	}
	var events []*ojson.Object
	if all || slices.ContainsFunc(over, func(turn string) bool { return !settled(history, turn) }) {
		if events, err = r.reissues(its); err == nil && len(events) > 0 && !all {
			// A turn may have ended under another id.
			history, newest, err = r.history(its, nil, true)
		}
	}
	if err != nil {
		return err
	}
	lost, holds := out.child.Lost, out.child.Holds
	out.child = initiative.NewChild(out.child.ID, out.child.Path, out.child.Config, nil, history, events)
	out.child.Lost, out.child.Holds = lost, holds
	if its.Op != "" && (all || len(want) > 0) {
		r.forged(out, its, want, all, newest)
	}
	return r.lacks(out.child, its, state)
}

// lacks finds the turns that were given out and are not in the record here: another machine has them.
func (r *childReader) lacks(child *initiative.Child, its *gitstore.SiblingRun, state *run.State) error {
	if its.Op == "" {
		return nil
	}
	child.Lacks = make(map[string]bool)
	for _, turn := range r.opt.Open[child.ID] {
		if state.ActiveTurns.Has(turn) || child.Rows[turn] != nil {
			continue
		}
		child.Lacks[turn] = true
		for _, err := range its.Rows(r.ctx, wire.LedgerEvents, turn) {
			if err != nil {
				return err
			}
			delete(child.Lacks, turn)
			break
		}
	}
	return nil
}

// given finds the initiative that gave out each turn which this one does not know, in the turn's own bundle: what a
// repository notes of it (sibling.NoteTurn) does not travel.
func (r *childReader) given(child *initiative.Child, state *run.State, repo *git.Repository,
	tip object.OID) error {
	if r.opt.Unknown == nil {
		return nil
	}
	var turns []string
	if last := state.LastCompletedTurnID; last != nil {
		turns = append(turns, *last)
	}
	for turn := range child.Rows {
		if child.Accepted(turn) != nil {
			turns = append(turns, turn)
		}
	}
	turns = slices.DeleteFunc(turns, func(turn string) bool { return !r.opt.Unknown(child.ID, turn) })
	contexts, err := chain.EndedBundles(r.ctx, repo, tip, r.opt.Since, turns, dispatch.CoordinatorJSON)
	for turn, data := range contexts {
		if o, bad := ojson.DecodeObject(data); bad == nil {
			child.NoteGiven(turn, o.String("super_run_id"))
		}
	}
	return err
}

// settled reports whether rows say how a turn ended.
func settled(rows []*ojson.Object, turn string) bool {
	return slices.ContainsFunc(rows, func(row *ojson.Object) bool {
		return row.String("turn_id") == turn && (run.SaysAccepted(row) || row.String("status") == "rejected")
	})
}

// history returns rows in the order they were appended: all of them, or from the oldest row of one of the turns on.
// newest is the last row.
func (r *childReader) history(its *gitstore.SiblingRun, turns []string,
	all bool) (rows []*ojson.Object, newest *ojson.Object, err error) {
	left := slices.Clone(turns)
	for row, err := range its.Rows(r.ctx, wire.LedgerHistory, "") {
		if err != nil {
			return nil, nil, err
		}
		if newest == nil {
			newest = row
		}
		turn := row.String("turn_id")
		if all || slices.Contains(turns, turn) {
			rows = append(rows, row)
		}
		if left = slices.DeleteFunc(left, func(t string) bool { return t == turn }); len(left) == 0 && !all {
			break
		}
	}
	slices.Reverse(rows)
	return rows, newest, nil
}

// reissues returns the events about reissued turns.
func (r *childReader) reissues(its *gitstore.SiblingRun) (rows []*ojson.Object, err error) {
	for row, err := range its.Rows(r.ctx, wire.LedgerEvents, "turn_reissued") {
		if err != nil {
			return nil, err
		}
		if row.String("event_type") == "turn_reissued" {
			rows = append(rows, row)
		}
	}
	slices.Reverse(rows)
	return rows, nil
}

// forged reports acceptances in the working history that the record does not have. It looks for them after the
// newest row that counts.
func (r *childReader) forged(out *childRead, its *gitstore.SiblingRun, want []string, all bool, newest *ojson.Object) {
	named := 0
	for row, err := range its.Working(r.ctx, wire.LedgerHistory, "") {
		if err != nil {
			out.refuse(err) // the record still counts
			return
		}
		turn := row.String("turn_id")
		if newest != nil && turn == newest.String("turn_id") && row.String("status") == newest.String("status") ||
			named == maxFindings {
			return
		}
		if run.SaysAccepted(row) && out.child.Accepted(turn) == nil &&
			(all || slices.Contains(want, out.child.Origin(turn))) {
			named++
			out.problem(CodeForged,
				"its working history says turn %s was accepted, and run %s does not record that; it does not count",
				ojson.Shown(turn), its.Run)
		}
	}
}
