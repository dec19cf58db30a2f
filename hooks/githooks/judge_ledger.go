// Judges ledgers: recorded rows stay, and new rows must be in a run.

package githooks

import (
	"bytes"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ledgermerge"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ledger judges a ledger: every record of every parent must still be there, in order and byte for byte, and a
// record that some parent lacked must be in a run. That a record came with another parent confirms nothing.
func (j *judge) ledger(e edit, l wire.Ledger, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil {
		return err
	}
	runs, err := j.witness.list()
	if err != nil {
		return err
	}
	known := len(runs) > 0
	name := l.Path()[strings.LastIndexByte(l.Path(), '/')+1:]
	var added []ledgermerge.Record
	parents := slices.DeleteFunc(append([]object.OID{e.OldOID}, e.others...),
		func(p object.OID) bool { return p == "" })
	if len(parents) < 1+len(e.others) {
		parents = append(parents, "") // new to one of them: for it, everything is new
	}
	for _, p := range parents {
		before, err := j.blob(p)
		if err != nil {
			return err
		}
		d, err := ledgermerge.Compare(name, bytes.NewReader(before), bytes.NewReader(next))
		if err != nil {
			return err
		}
		if d.Bad != nil {
			say(RuleLedgerRewritten, restoreHint, "line %d is not a record: %s", d.Bad.Line, d.Bad.Why)
			return nil
		}
		gone := d.Gone
		if e.NewOID == "" {
			// git stops tracking the ledger: nothing is lost if runs hold its records.
			if gone, err = j.unconfirmed(l, d.Gone); err != nil {
				return err
			}
		}
		changed, err := j.unconfirmed(l, d.Changed)
		if err != nil {
			return err
		}
		if !known && (l == wire.LedgerHistory || l == wire.LedgerRepoDecisions) {
			changed = nil // another tool runs this project, and may amend these two
		}
		switch {
		case len(gone) > 0:
			say(RuleLedgerTruncated, restoreHint, "%s gone, the first was line %d",
				text.Count(len(gone), "record is", "records are"), gone[0].Line)
			return nil
		case d.Moved:
			say(RuleLedgerRewritten, restoreHint, "its records stand in another order")
			return nil
		case len(changed) > 0:
			say(RuleLedgerRewritten, restoreHint, "line %d is not what was recorded", changed[0].Line)
			return nil
		}
		added = append(added, d.Added...)
	}
	if !known && !j.strict {
		return nil
	}
	if added, err = j.unconfirmed(l, added); err != nil || len(added) == 0 {
		return err
	}
	hint, first := recordHint, slices.MinFunc(added, func(a, b ledgermerge.Record) int { return a.Line - b.Line })
	if j.strict {
		hint = "push the runs with the branch: git agentxchain sync REMOTE --branch; or git config agentxchain.pushRuns true"
	}
	why, err := j.witness.unproven()
	if err != nil {
		return err
	}
	if why != "" {
		say(RuleLedgerUnconfirmed, lookHint, "%s in no run that is believed, the first is line %d; not believed is %s",
			text.Count(len(added), "record is", "records are"), first.Line, why)
		return nil
	}
	say(RuleLedgerUnconfirmed, hint, "%s in no run, the first is line %d",
		text.Count(len(added), "record is", "records are"), first.Line)
	return nil
}

// unconfirmed returns the records that no run holds, each once.
func (j *judge) unconfirmed(l wire.Ledger, records []ledgermerge.Record) ([]ledgermerge.Record, error) {
	var out []ledgermerge.Record
	for _, r := range records {
		ok, err := j.witness.record(l, r.Text)
		if err != nil {
			return nil, err
		}
		if !ok && !slices.ContainsFunc(out, func(o ledgermerge.Record) bool { return o.Text == r.Text }) {
			out = append(out, r)
		}
	}
	return out, nil
}
