// The reference implementation's crash journal: finishing an acceptance that it
// prepared and did not complete (docs/spec/lifecycle.md#accepting-a-turn).

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// journalDir holds one file for each acceptance in progress.
const journalDir = record.ProjectDir + "/transactions/accept"

// journalEntry is a decoded journal.
type journalEntry struct {
	path     string
	turn     string
	run      string
	sequence int
	history  *ojson.Object
	ledger   []*ojson.Object
	next     *ojson.Object
}

// replayJournals completes prepared acceptances, making each change only if it is missing: the process may have
// died after some of them. The result is then absorbed like any change by another tool. The caller holds the lock.
func (s *Store) replayJournals(ctx context.Context) (notices []string, err error) {
	entries, err := s.readJournals()
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	for _, j := range entries {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		full, err := s.replayJournal(j)
		if err != nil {
			return nil, err
		}
		what := "cleaned up after"
		if full {
			what = "completed"
		}
		notices = append(notices, what+" the acceptance of "+j.turn+" that another tool had prepared")
	}
	return notices, nil
}

// readJournals returns the prepared journals in name order. It leaves unreadable ones to their owner: they are not
// known to promise anything.
func (s *Store) readJournals() ([]journalEntry, error) {
	dir, err := s.work.Root.Open(journalDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", journalDir)
	}
	defer func() { _ = dir.Close() }()
	list, err := dir.ReadDir(-1)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", journalDir)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out []journalEntry
	for _, e := range list {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(journalDir, e.Name())
		data, _, ok, err := s.work.Read(name, workdir.MaxDocument)
		if err != nil || !ok {
			continue
		}
		if j, ok := decodeJournal(data); ok {
			j.path = name
			out = append(out, j)
		}
	}
	return out, nil
}

func decodeJournal(data []byte) (journalEntry, bool) {
	o, err := ojson.DecodeObject(data)
	if err != nil || o.String("status") != "prepared" || o.String("kind") != "accept_turn" {
		return journalEntry{}, false
	}
	n, ok := o.Int("accepted_sequence")
	j := journalEntry{turn: o.String("turn_id"), run: o.String("run_id"), sequence: n,
		history: o.Object("history_entry"), ledger: o.Objects("ledger_entries"), next: o.Object("next_state")}
	return j, ok && record.SafeName(j.turn) && j.next != nil
}

// replayJournal finishes one acceptance. full is false when only the cleanup was missing.
func (s *Store) replayJournal(j journalEntry) (full bool, err error) {
	data, _, ok, err := s.work.Read(string(wire.DocState), workdir.MaxDocument)
	if err != nil {
		return false, unreadable(string(wire.DocState), err)
	}
	if !ok {
		return false, fail.Errorf(wire.CodeInvalidState, nil, "%s is gone, but %s describes an acceptance to complete",
			wire.DocState, j.path).WithHint("%s", record.RepairHint)
	}
	state, err := decodeWorkingState(document{data, true})
	if err != nil {
		return false, err
	}
	next, problems := run.DecodeStateObject(j.next)
	if len(problems) > 0 || next.Run() != j.run {
		return false, fail.Errorf(wire.CodeInvalidState, nil, "%s holds no valid next state", j.path).
			WithHint("move the file away if the acceptance of %s is not to be completed", j.turn)
	}
	_, active := state.ActiveTurns.Get(j.turn)
	switch {
	case state.Run() != j.run:
		// Left over from a run that ended otherwise: it must not be applied to this one.
		return false, s.work.RemoveFile(j.path)
	case active || state.TurnSequence < j.sequence:
		full = true
		if err := s.replayRows(j); err != nil {
			return false, err
		}
		if err := s.work.Write(string(wire.DocState), ojson.Pretty(j.next)); err != nil {
			return false, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be written", wire.DocState)
		}
	}
	kept := func(staged []byte) bool { return j.history != nil && accepted(staged, j.turn) }
	if err := s.work.DropTurn(j.turn, &workdir.Plan{Proof: kept}); err != nil {
		return full, fail.Errorf(fail.CodeUnreadable, err, "the files of %s cannot be removed", j.turn)
	}
	return full, s.work.RemoveFile(j.path)
}

// accepted reports whether the staged bytes are the result of the turn in the journal's history row.
func accepted(staged []byte, turn string) bool {
	o, err := ojson.DecodeObject(staged)
	return err == nil && o.String("turn_id") == turn
}

// replayRows appends the journal's rows that are missing. A history row is identified by turn and sequence; ledger
// rows, which have no key of their own but name their turn and time, by their values.
func (s *Store) replayRows(j journalEntry) error {
	if j.history != nil {
		n := 0
		present := func(row *ojson.Object) bool {
			n, _ = row.Int("accepted_sequence")
			return row.String("turn_id") == j.turn && n == j.sequence
		}
		if err := s.appendMissing(wire.LedgerHistory, []*ojson.Object{j.history}, func(row, _ *ojson.Object) bool {
			return present(row)
		}); err != nil {
			return err
		}
	}
	return s.appendMissing(wire.LedgerDecisions, j.ledger, func(have, want *ojson.Object) bool {
		return ojson.Equal(have, want)
	})
}

// appendMissing appends rows without an equal existing row. An incomplete last line, left by an interrupted write,
// is completed if it is the beginning of the first missing row.
func (s *Store) appendMissing(l wire.Ledger, rows []*ojson.Object, same func(have, want *ojson.Object) bool) error {
	data, _, _, err := s.work.Read(l.Path(), workdir.MaxLedger)
	if err != nil {
		return unreadable(l.Path(), err)
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	torn := data[end:]
	var missing []byte
	for _, row := range rows {
		found := false
		for have := range record.RowsOf(data[:end]) {
			if same(have.Row, row) {
				found = true
				break
			}
		}
		if !found {
			missing = append(append(missing, ojson.Compact(row)...), '\n')
		}
	}
	if !bytes.HasPrefix(missing, torn) {
		return record.Tampered(l, bytes.Count(data[:end], []byte("\n"))+1,
			"the last line has no end and is not what the prepared acceptance would write")
	}
	if len(missing) == len(torn) {
		return nil
	}
	if err = s.work.Mkdirs(path.Dir(l.Path())); err == nil {
		err = durable.AppendRoot(s.work.Root, l.Path(), int64(len(data)), missing[len(torn):], 0o666)
	}
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be appended to", l.Path())
	}
	return nil
}
