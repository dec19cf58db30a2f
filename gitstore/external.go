// Changes by another tool: which are permitted, and recording them.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// checkExternal refuses working files that differ from the tip in a way the protocol does not know: ledgers only
// grow (or gain the members of amendment), the state stays valid and does not go back. The other documents are
// derived or hints and may say anything in their own format.
func (s *Store) checkExternal(in *inspection) error {
	for _, l := range wire.Ledgers() {
		diff := in.diffs[l]
		switch diff.Kind {
		case record.Foreign:
			return record.Tampered(l, diff.Line, "%s", diff.Why)
		case record.Shorter:
			return record.Tampered(l, 0, "rows that were recorded are gone")
		case record.Extended, record.Amended:
			if err := diff.CheckAppended(l); err != nil {
				return err
			}
		}
	}
	if err := s.checkLanguage(in); err != nil {
		return err
	}
	want, err := in.tip.DocOID(wire.DocState)
	if err != nil || want == s.docOID(in.docs[wire.DocState]) {
		return err
	}
	after, err := decodeWorkingState(in.docs[wire.DocState])
	if err != nil {
		return err
	}
	data, err := in.tip.Reader.Blob(want)
	if err != nil {
		return err
	}
	before, perr := run.DecodeState(data)
	if perr != nil {
		return nil // the recorded one is worse; the working one is valid
	}
	if err := protocol.LegalTransition(before, after, protocol.OpExternal); err != nil {
		return record.TamperedDoc(string(wire.DocState), "%s", err.Message)
	}
	was, is := repaired(before, in.rules()), repaired(after, in.rules())
	if err := external.Check(was, is, func(l wire.Ledger) iter.Seq[run.Line] {
		return record.RowsOf(in.diffs[l].Appended)
	}); err != nil {
		return record.TamperedDoc(string(wire.DocState), "%s", err.Message)
	}
	if p := run.CheckState(is); len(p) > 0 {
		return run.StateError(p)
	}
	return nil
}

// checkLanguage refuses documents that no tool wrote as they are: truncated ones, or the zeros that a power cut
// leaves, would otherwise be recorded as another tool's change.
func (s *Store) checkLanguage(in *inspection) error {
	for _, d := range []wire.Document{wire.DocSession, wire.DocDispatchIndex} {
		if !in.docs[d].exists || in.tip == nil {
			continue
		}
		if want, err := in.tip.DocOID(d); err != nil || want == in.oidOf(d) {
			continue
		}
		if _, err := ojson.DecodeObject(in.docs[d].data); err != nil {
			return record.TamperedDoc(string(d), "it is not valid JSON: %s", text.OneLine(err.Error()))
		}
	}
	if i := bytes.IndexByte(in.docs[wire.DocHumanTasks].data, 0); i >= 0 {
		return record.TamperedDoc(string(wire.DocHumanTasks), "byte %d is zero, which no text has", i)
	}
	if diff := in.diffs[wire.LedgerTalk]; diff != nil && diff.Kind != record.Same {
		if i := bytes.IndexByte(diff.Data, 0); i >= 0 {
			return record.Tampered(wire.LedgerTalk, 0, "byte %d is zero, which no text has", i)
		}
	}
	return nil
}

// decodeWorkingState reads a state.json that we did not write.
func decodeWorkingState(d document) (*run.State, error) {
	if !d.exists {
		return nil, record.TamperedDoc(string(wire.DocState), "it is gone")
	}
	st, perr := run.DecodeState(d.data)
	if perr != nil {
		return nil, perr
	}
	return st, nil
}

// repaired makes the repairs that a reader of state.json is expected to make.
func repaired(st *run.State, conf []byte) *run.State {
	cfg, _, err := config.Decode(conf)
	if err != nil {
		return st
	}
	out, _ := run.RepairState(st, cfg)
	return out
}

// changedFiles names the files that differ from the tip.
func (in *inspection) changedFiles() string {
	var names []string
	for _, d := range wire.Documents() {
		oid, err := in.tip.DocOID(d)
		if err != nil || oid != in.oidOf(d) {
			names = append(names, string(d))
		}
	}
	for _, l := range wire.Ledgers() {
		if diff := in.diffs[l]; diff != nil && diff.Kind != record.Same {
			names = append(names, l.Path())
		}
	}
	return strings.Join(names, ", ")
}

func (in *inspection) oidOf(d wire.Document) object.OID {
	if !in.docs[d].exists {
		return ""
	}
	return in.tip.Reader.BlobID(in.docs[d].data)
}

// absorb records the working files as an external operation on in.tip and returns the recorded run.
func (s *Store) absorb(ctx context.Context, in *inspection, detail *ojson.Object) (*chain.RecordedRun, error) {
	edit, err := in.tip.Reader.Edit(in.tip.Root)
	if err != nil {
		return nil, err
	}
	ledgers := &ojson.Object{}
	marks := make(map[wire.Ledger]record.LedgerMark)
	for _, l := range wire.Ledgers() {
		diff := in.diffs[l]
		marks[l] = diff.Mark
		if diff.Kind == record.Same {
			continue
		}
		mark, err := in.tip.Reader.AbsorbLedger(edit, in.tip.Root, l, diff)
		if err != nil {
			return nil, err
		}
		marks[l] = mark
		ledgers.Set(l.Path(), ojson.NewObject("appended_lines", bytes.Count(diff.Appended, []byte("\n")),
			"amended_lines", len(diff.Amends)))
	}
	changed, err := s.absorbDocs(edit, in)
	if err != nil {
		return nil, err
	}
	if detail == nil {
		detail = ojson.NewObject("documents", changed, "ledgers", ledgers)
	}
	return s.recordExternal(ctx, in, edit, in.tip, marks, detail, "record changes made by another tool")
}

// absorbDocs puts the working documents and configuration into the edit and
// names the documents that changed.
func (s *Store) absorbDocs(edit *record.Edit, in *inspection) (changed []string, err error) {
	for _, d := range wire.Documents() {
		if in.tip != nil {
			oid, err := in.tip.DocOID(d)
			if err != nil {
				return nil, err
			}
			if oid == s.docOID(in.docs[d]) {
				continue
			}
		}
		changed = append(changed, string(d))
		if !in.docs[d].exists {
			err = edit.Remove(record.DocumentFile(d))
		} else {
			err = edit.Put(record.DocumentFile(d), in.docs[d].data)
		}
		if err != nil {
			return nil, err
		}
	}
	return changed, edit.Put(record.FileConfig, in.rules())
}

// adopt records a run that another tool started, with everything so far.
func (s *Store) adopt(ctx context.Context, in *inspection, detail *ojson.Object) (*chain.RecordedRun, error) {
	r := s.reader(ctx)
	edit, marks, err := s.editFromFiles(r, in)
	if err != nil {
		return nil, err
	}
	if detail == nil {
		by := s.actor(ctx)
		detail = ojson.NewObject("adopted", true, "adopted_by", ojson.NewObject("name", by.Name, "email", by.Email))
	}
	in.tip = nil
	return s.recordExternal(ctx, in, edit, nil, marks, detail, "adopt "+in.run+" as another tool left it")
}

// editFromFiles builds a whole tree from the working files.
func (s *Store) editFromFiles(
	r *record.Reader, in *inspection,
) (*record.Edit, map[wire.Ledger]record.LedgerMark, error) {
	edit, err := r.Edit("")
	if err != nil {
		return nil, nil, err
	}
	marks := make(map[wire.Ledger]record.LedgerMark)
	for _, l := range wire.Ledgers() {
		data, st, ok, err := s.work.Read(l.Path(), workdir.MaxLedger)
		if err != nil {
			return nil, nil, unreadable(l.Path(), err)
		}
		if !ok {
			continue
		}
		if err := record.CheckAppended(l, 0, data); err != nil {
			return nil, nil, err
		}
		mark, err := r.AbsorbLedger(edit, "", l, &record.LedgerDiff{
			Appended: data,
			Data:     data,
			Mark:     record.LedgerMark{Stat: st},
		})
		if err != nil {
			return nil, nil, err
		}
		marks[l] = mark
	}
	for _, d := range wire.Documents() {
		if in.docs[d].exists {
			if err := edit.Put(record.DocumentFile(d), in.docs[d].data); err != nil {
				return nil, nil, err
			}
		}
	}
	return edit, marks, edit.Put(record.FileConfig, in.rules())
}

// recordExternal finishes an external record: index, bundles, record, commit, cache.
func (s *Store) recordExternal(
	ctx context.Context, in *inspection, edit *record.Edit, parent *chain.RecordedRun,
	marks map[wire.Ledger]record.LedgerMark, detail *ojson.Object, subject string,
) (*chain.RecordedRun, error) {
	state, err := decodeWorkingState(in.docs[wire.DocState])
	if err != nil {
		return nil, err
	}
	cfg, _, err := config.Decode(in.rules())
	if err != nil {
		return nil, err
	}
	// The index says what the rules would have kept if they had done the work.
	repaired, _ := run.RepairState(state, cfg)
	index := run.BuildIndex(cfg, repaired, s.workingRows()).Encode()
	if err := edit.Put(record.FileIndex, index); err != nil {
		return nil, err
	}
	if err := s.captureBundles(edit, state); err != nil {
		return nil, err
	}
	rec := &protocol.Record{Rules: protocol.RuleSet, Name: protocol.OpExternal, Env: s.Env(ctx), Detail: detail}
	c := commitPlan{run: in.run, parent: parent, record: rec, subject: subject, state: in.docs[wire.DocState].data}
	if in.before != nil && in.before.Run != in.run {
		c.previous = in.before.Op
	}
	done, err := s.commitTree(ctx, edit, c)
	if err != nil {
		return nil, err
	}
	done.Marks, done.Index = marks, index
	return done, s.saveCache(done)
}

// captureBundles records the bundles that another tool wrote for active turns, with the extra files that their
// seals list. Missing or odd files are skipped, never an error: the files are the other tool's.
func (s *Store) captureBundles(edit *record.Edit, state *run.State) error {
	if err := edit.Remove(record.DirBundles); err != nil {
		return err
	}
	for _, turn := range state.ActiveTurns.Keys() {
		if !record.SafeName(turn) {
			continue
		}
		names, left := record.RecordedBundleFiles(), int64(maxCapturedBytes)
		seal, _, ok, err := s.work.Read(wire.BundleDir(turn)+"/"+record.BundleSeal, maxCapturedFile)
		if err == nil && ok {
			names = append(names, sealedNames(seal)...)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			data, _, ok, err := s.work.Read(wire.BundleDir(turn)+"/"+name, min(maxCapturedFile, left))
			if err != nil || !ok {
				continue
			}
			left -= int64(len(data))
			if err := edit.Put(record.DirBundles+"/"+turn+"/"+name, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// workingRows reads ledgers from the working files.
func (s *Store) workingRows() run.LedgerReader {
	return func(l wire.Ledger) iter.Seq[run.Line] {
		data, _, _, err := s.work.Read(l.Path(), workdir.MaxLedger)
		if err != nil {
			return record.RowsOf(nil)
		}
		return record.RowsOf(data)
	}
}

// describeExternal describes an absorbed change, for the notice.
func describeExternal(files string, op object.OID) string {
	return fmt.Sprintf("recorded changes another tool made to %s (operation %s)", files, op.Short())
}
