// The verifier's checks of one operation beyond fsck's: message and record agree, a confirmation is about the
// operation before it, and what an operation that cannot be replayed claims.

package proof

import (
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// seenOp is what a chain is judged by besides its findings.
type seenOp struct {
	claims   []external.Claim // what has to be confirmed
	confirms bool             // a person's confirmation of everything before it
	decision *Arrival         // a person's decision
}

func (f *checker) saw(op object.OID, what seenOp) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = make(map[object.OID]seenOp)
	}
	f.seen[op] = what
}

// replayed judges an operation whose replay matched the record. tr is the outcome, nil for the first operation of a
// run; claims are those that replay does not settle.
func (f *checker) replayed(
	op chain.OpInfo, rec *protocol.Record, before []byte, tr *protocol.Transition,
	claims []external.Claim, say sayFunc,
) {
	agree(op, rec, tr, say)
	what := seenOp{claims: claims}
	if name := rec.Name; name == "approve_transition" || name == "approve_completion" || name == "reactivate" ||
		name == protocol.OpConfirm {
		a := Arrival{Op: op.Op, Name: name, Actor: rec.Env.Actor, At: rec.Env.Time()}
		if tr != nil {
			if res, ok := tr.Result.(*protocol.ApproveResult); ok {
				a.Gate = res.Gate
			}
		}
		what.decision = &a
	}
	if c, ok := rec.Op.(*protocol.Confirm); ok {
		switch {
		case len(op.Parents) != 1 || object.OID(c.Upto) != op.Parents[0]:
			say(FindRecord, record.FileRecord, "it confirms operation %s and follows another one",
				object.OID(c.Upto).Short())
		case c.State != wire.Digest(before):
			say(FindRecord, record.FileRecord, "it confirms another state than the one before it")
		default:
			what.confirms = true
		}
	}
	f.saw(op.Op, what)
}

// agree compares the message of an operation with its record: the log shows it, and completing the working files
// relies on it.
func agree(op chain.OpInfo, rec *protocol.Record, tr *protocol.Transition, say sayFunc) {
	if by := record.Signature(&rec.Env); op.Actor != "" &&
		(object.Identity(by.Name) != op.Actor && object.Identity(by.Name) != "" ||
			object.Identity(by.Email) != op.Email) {
		say(FindRecord, "", "its author is %s <%s>, the record says %s <%s>", op.Actor, op.Email, by.Name, by.Email)
	}
	if op.CodeHead != rec.Env.Git.Head {
		say(FindRecord, "", "its message names another head than the record")
	}
	if tr == nil {
		return
	}
	within := func(have, want []string, what string) {
		for _, turn := range have {
			if !slices.Contains(want, turn) {
				say(FindRecord, "", "its message %s turn %s, the operation does not", what, turn)
			}
		}
	}
	within(op.Dropped, tr.DropTurns, "ends")
	within(op.Unstaged, tr.Unstage, "sends back")
	if op.Turn != "" && op.Turn != text.OneLine(tr.Turn) || op.Role != "" && op.Role != text.OneLine(tr.Role) {
		say(FindRecord, "", "its message is about turn %q, the operation about %q", op.Turn, tr.Turn)
	}
}

// unreplayed judges an operation that cannot be replayed: another tool's work, a restore, working files a person
// adopted, or the work of another rule set. It notes the claims, and finds what such an operation must not contain.
func (f *checker) unreplayed(p *Replayer, op chain.OpInfo, rec *protocol.Record, prev object.OID, say sayFunc) error {
	r := p.Reader
	claims, err := rulesClaim(r, rec, prev, op.Tree)
	if err != nil {
		return err
	}
	now, _, err := r.File(op.Tree, record.FileState)
	if err != nil {
		return err
	}
	after, perr := run.DecodeState(now)
	if perr != nil {
		return nil // reported for the operation itself
	}
	root, err := r.Entries(op.Tree)
	if err != nil {
		return err
	}
	cfg, err := p.ConfigOf(root, op.Tree)
	if err != nil {
		return err
	}
	var before *run.State
	if prev != "" {
		was, _, err := r.File(prev, record.FileState)
		if err != nil {
			return err
		}
		if before, perr = run.DecodeState(was); perr != nil {
			return nil // reported for the previous operation
		}
		before, _ = run.RepairState(before, cfg)
	}
	repaired, _ := run.RepairState(after, cfg)
	if before == nil && rec.Name == protocol.OpExternal && acceptedBy(rec) == nil {
		claims = append(claims, external.Claim{Kind: external.ClaimBegun, To: op.Run})
	}
	claims = append(claims, external.Claims(cfg, before, repaired)...)
	if err := f.rowsFrom(r, prev, op.Tree); err != nil {
		return err
	}
	if rec.Name == protocol.OpExternal {
		if err := f.foreign(r, op, rec, prev, before, repaired, say); err != nil {
			return err
		}
		sound, err := indexFollows(r, op.Tree, cfg, repaired)
		if err != nil {
			return err
		}
		if !sound {
			claims = append(claims, external.Claim{Kind: external.ClaimIndex})
		}
	}
	agree(op, rec, nil, say)
	f.saw(op.Op, seenOp{claims: claims})
	return nil
}

// rulesClaim returns a claim if an operation adopted other rules on its own. A restore and working files that a
// person vouched for are that person's act.
func rulesClaim(r *record.Reader, rec *protocol.Record, before, after object.OID) ([]external.Claim, error) {
	if before == "" || acceptedBy(rec) != nil {
		return nil, nil
	}
	a, had, err := r.Lookup(before, record.FileConfig)
	if err != nil {
		return nil, err
	}
	b, _, err := r.Lookup(after, record.FileConfig)
	if err != nil || !had || a.OID == b.OID {
		return nil, err
	}
	was, err := r.Blob(a.OID)
	if err != nil {
		return nil, err
	}
	now, _, err := r.File(after, record.FileConfig)
	if err != nil {
		return nil, err
	}
	data, _, err := r.File(before, record.FileState)
	if err != nil {
		return nil, err
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, nil // reported for the previous operation
	}
	return protocol.RulesClaim(rec.Name, st.Status, was, now), nil
}

// foreign finds what another tool's operation must not contain, and steps that its own rows do not account for
// unless a person has vouched for it.
func (f *checker) foreign(
	r *record.Reader, op chain.OpInfo, rec *protocol.Record, prev object.OID, before, after *run.State,
	say sayFunc,
) error {
	if len(op.Dropped)+len(op.Unstaged) > 0 || op.Turn != "" {
		say(FindRecord, "", "changes of another tool end no turn by their message")
	}
	files := func(tree object.OID) (object.OID, error) {
		if tree == "" {
			return "", nil
		}
		e, _, err := r.Lookup(tree, record.DirFiles)
		return e.OID, err
	}
	a, err := files(prev)
	if err != nil {
		return err
	}
	b, err := files(op.Tree)
	if err != nil {
		return err
	}
	if a != b {
		say(FindRecord, record.DirFiles, "changes of another tool hold files of operations")
	}
	if acceptedBy(rec) != nil || before == nil {
		return nil // a person vouched for it; a run's beginning is checked by its claims
	}
	rows, err := appendedRows(r, prev, op.Tree)
	if err != nil {
		return err
	}
	if e := protocol.LegalTransition(before, after, protocol.OpExternal); e != nil {
		say(record.CodeStateTampered, record.FileState, "%s", e.Message)
	} else if e := external.Check(before, after, rows); e != nil {
		say(record.CodeStateTampered, record.FileState, "%s", e.Message)
	} else if f.strict {
		return f.borneOut(r, op, prev, rows)
	}
	return nil
}

// rowsFrom notes the runs of the rows that another tool's operation added.
func (f *checker) rowsFrom(r *record.Reader, before, after object.OID) error {
	if before == "" {
		return f.heardIn(r, after)
	}
	for _, l := range []wire.Ledger{wire.LedgerRunHistory, wire.LedgerHistory} {
		d, err := r.DiffLedger(before, after, l)
		if err != nil {
			return err
		}
		f.heardOf(d.Appended)
	}
	return nil
}

// borneOut makes the additional checks for a clone that is only read.
func (f *checker) borneOut(r *record.Reader, op chain.OpInfo, prev object.OID, rows run.LedgerReader) error {
	was, _, err := r.File(prev, record.FileState)
	if err != nil {
		return err
	}
	now, _, err := r.File(op.Tree, record.FileState)
	if err != nil {
		return err
	}
	return f.fault(op.Run, op.Op, BorneOut(was, now, rows))
}

// appendedRows reads the rows appended to ledgers between two trees.
func appendedRows(r *record.Reader, before, after object.OID) (run.LedgerReader, error) {
	added := make(map[wire.Ledger][]byte)
	for _, l := range wire.Ledgers() {
		d, err := r.DiffLedger(before, after, l)
		if err != nil {
			return nil, err
		}
		added[l] = d.Appended
	}
	return func(l wire.Ledger) iter.Seq[run.Line] { return record.RowsOf(added[l]) }, nil
}

// indexFollows reports whether the recorded index is what the recorded ledgers yield.
func indexFollows(r *record.Reader, tree object.OID, cfg *config.Config, state *run.State) (bool, error) {
	have, _, err := r.File(tree, record.FileIndex)
	if err != nil {
		return false, err
	}
	var fault error
	want := run.BuildIndex(cfg, state, func(l wire.Ledger) iter.Seq[run.Line] {
		data, err := r.Ledger(tree, l)
		if err != nil {
			fault = err
		}
		return record.RowsOf(data)
	}).Encode()
	return string(have) == string(want), fault
}

// acceptedBy returns who vouched for an operation that cannot be replayed.
func acceptedBy(rec *protocol.Record) *ojson.Object { return rec.Detail.Object("accepted_by") }

// sayFunc records a finding of one operation.
type sayFunc = func(code, path, format string, args ...any)

// BorneOut refuses accepted rows without any other support: the turn must be over in the state, and an event of the
// same change must report its acceptance, as every implementation writes one; its role must be the one assigned in
// the recorded state was, and its decisions must be in the decision ledger.
func BorneOut(was, state []byte, added run.LedgerReader) error {
	st, perr := run.DecodeState(state)
	if perr != nil {
		return perr
	}
	recorded, perr := run.DecodeState(was)
	if perr != nil {
		return perr
	}
	told, decided := make(map[string]bool), make(map[string]bool)
	for l := range added(wire.LedgerDecisions) {
		decided[l.Row.String("id")] = true
	}
	for l := range added(wire.LedgerEvents) {
		if l.Row.String("event_type") == run.EventTurnAccepted {
			told[l.Row.Object("turn").String("turn_id")] = true
		}
	}
	for l := range added(wire.LedgerHistory) {
		turn := l.Row.String("turn_id")
		if !run.SaysAccepted(l.Row) {
			continue
		}
		switch {
		case st.ActiveTurns.Has(turn):
			return record.Tampered(wire.LedgerHistory, 0,
				"it says turn %s was accepted, and the turn is still at work", git.ClipBytes([]byte(turn)))
		case !told[turn]:
			return record.Tampered(wire.LedgerHistory, 0, "it says turn %s was accepted, and no event tells of it",
				git.ClipBytes([]byte(turn)))
		}
		if t, ok := recorded.ActiveTurns.Get(turn); ok && t != nil && t.AssignedRole != l.Row.String("role") {
			return record.Tampered(wire.LedgerHistory, 0,
				"it says turn %s was accepted, in another role than it was assigned to", git.ClipBytes([]byte(turn)))
		}
		for _, d := range l.Row.Objects("decisions") {
			if id := d.String("id"); id != "" && !decided[id] {
				return record.Tampered(wire.LedgerHistory, 0,
					"it says turn %s was accepted with decision %s, which the ledger of decisions does not have",
					git.ClipBytes([]byte(turn)), git.ClipBytes([]byte(id)))
			}
		}
	}
	return nil
}
