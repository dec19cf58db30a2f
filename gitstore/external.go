// Changes another tool made: which are permitted, and recording them.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// checkExternal refuses working files that differ from the tip in a way the
// protocol does not know: ledgers only grow (or gain the members of amendment),
// the state stays valid and does not go back. The other documents are derived or
// hints and may say anything in their own language.
func (s *Store) checkExternal(in *inspection) error {
	for _, l := range wire.Ledgers() {
		diff := in.diffs[l]
		switch diff.kind {
		case diffForeign:
			return tampered(l, diff.line, "%s", diff.why)
		case diffShorter:
			return tampered(l, 0, "rows that were recorded are gone")
		case diffExtended, diffAmended:
			if err := checkAppended(l, lineCount(diff), diff.appended); err != nil {
				return err
			}
		}
	}
	if err := s.checkLanguage(in); err != nil {
		return err
	}
	want, err := in.tip.docOID(wire.DocState)
	if err != nil || want == s.docOID(in.docs[wire.DocState]) {
		return err
	}
	after, err := decodeWorkingState(in.docs[wire.DocState])
	if err != nil {
		return err
	}
	data, err := in.tip.r.blob(want)
	if err != nil {
		return err
	}
	before, perr := run.DecodeState(data)
	if perr != nil {
		return nil // the recorded one is worse; the working one was found valid
	}
	if err := protocol.LegalTransition(before, after, protocol.OpExternal); err != nil {
		return tamperedDoc(string(wire.DocState), "%s", err.Message)
	}
	was, is := repaired(before, in.rules()), repaired(after, in.rules())
	if err := protocol.CheckExternal(was, is, func(l wire.Ledger) iter.Seq[run.Line] { return rowsOf(in.diffs[l].appended) }); err != nil {
		return tamperedDoc(string(wire.DocState), "%s", err.Message)
	}
	if p := run.CheckState(is); len(p) > 0 {
		return run.StateError(p)
	}
	return nil
}

// checkLanguage refuses documents that no tool wrote so: half of one, or the zeros that a power cut
// leaves of one, would otherwise go into the record as the change of another tool.
func (s *Store) checkLanguage(in *inspection) error {
	for _, d := range []wire.Document{wire.DocSession, wire.DocDispatchIndex} {
		if !in.docs[d].exists || in.tip == nil {
			continue
		}
		if want, err := in.tip.docOID(d); err != nil || want == in.oidOf(d) {
			continue
		}
		if _, err := ojson.DecodeObject(in.docs[d].data); err != nil {
			return tamperedDoc(string(d), "it is not valid JSON: %s", oneLine(err.Error()))
		}
	}
	if i := bytes.IndexByte(in.docs[wire.DocHumanTasks].data, 0); i >= 0 {
		return tamperedDoc(string(wire.DocHumanTasks), "byte %d is zero, which no text has", i)
	}
	if diff := in.diffs[wire.LedgerTalk]; diff != nil && diff.kind != diffSame {
		if i := bytes.IndexByte(diff.data, 0); i >= 0 {
			return tampered(wire.LedgerTalk, 0, "byte %d is zero, which no text has", i)
		}
	}
	return nil
}

// decodeWorkingState reads a state.json that we did not write.
func decodeWorkingState(d document) (*run.State, error) {
	if !d.exists {
		return nil, tamperedDoc(string(wire.DocState), "it is gone")
	}
	st, perr := run.DecodeState(d.data)
	if perr != nil {
		return nil, perr
	}
	return st, nil
}

// repaired mends what a reader of state.json is expected to mend.
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
		oid, err := in.tip.docOID(d)
		if err != nil || oid != in.oidOf(d) {
			names = append(names, string(d))
		}
	}
	for _, l := range wire.Ledgers() {
		if diff := in.diffs[l]; diff != nil && diff.kind != diffSame {
			names = append(names, l.Path())
		}
	}
	return strings.Join(names, ", ")
}

func (in *inspection) oidOf(d wire.Document) git.OID {
	if !in.docs[d].exists {
		return ""
	}
	return git.HashObject(in.tip.r.format, git.KindBlob, in.docs[d].data)
}

// absorb records the working files as an external operation on in.tip and
// returns what it recorded.
func (s *Store) absorb(ctx context.Context, in *inspection, detail *ojson.Object) (*recorded, error) {
	edit, err := in.tip.r.edit(in.tip.root)
	if err != nil {
		return nil, err
	}
	ledgers := &ojson.Object{}
	marks := make(map[wire.Ledger]ledgerMark)
	for _, l := range wire.Ledgers() {
		diff := in.diffs[l]
		marks[l] = diff.mark
		if diff.kind == diffSame {
			continue
		}
		mark, err := in.tip.r.absorbLedger(edit, in.tip.root, l, diff)
		if err != nil {
			return nil, err
		}
		marks[l] = mark
		ledgers.Set(l.Path(), ojson.NewObject("appended_lines", bytes.Count(diff.appended, []byte("\n")), "amended_lines", len(diff.amends)))
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

// absorbLedger puts the changes of one ledger into the edit.
func (r *treeReader) absorbLedger(edit *treeEdit, root git.OID, l wire.Ledger, diff *ledgerDiff) (ledgerMark, error) {
	le, err := r.ledger(root, l)
	if err != nil {
		return ledgerMark{}, err
	}
	for _, a := range diff.amends {
		if err := le.amend(a.Old, a.New); err != nil {
			return ledgerMark{}, err
		}
	}
	if err := le.append(diff.appended); err != nil {
		return ledgerMark{}, err
	}
	n, tail, err := le.write(edit)
	return ledgerMark{Size: int64(len(diff.data)), Segments: n, Tail: tail, Stat: diff.mark.Stat}, err
}

// absorbDocs puts the working documents and configuration into the edit and
// names the documents that changed.
func (s *Store) absorbDocs(edit *treeEdit, in *inspection) (changed []string, err error) {
	for _, d := range wire.Documents() {
		if in.tip != nil {
			oid, err := in.tip.docOID(d)
			if err != nil {
				return nil, err
			}
			if oid == s.docOID(in.docs[d]) {
				continue
			}
		}
		changed = append(changed, string(d))
		if !in.docs[d].exists {
			err = edit.remove(docTreePath(d))
		} else {
			err = edit.put(docTreePath(d), in.docs[d].data)
		}
		if err != nil {
			return nil, err
		}
	}
	return changed, edit.put(treeConfig, in.rules())
}

// adopt records a run that another tool started, with everything it has so far.
func (s *Store) adopt(ctx context.Context, in *inspection, detail *ojson.Object) (*recorded, error) {
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
func (s *Store) editFromFiles(r *treeReader, in *inspection) (*treeEdit, map[wire.Ledger]ledgerMark, error) {
	edit, err := r.edit("")
	if err != nil {
		return nil, nil, err
	}
	marks := make(map[wire.Ledger]ledgerMark)
	for _, l := range wire.Ledgers() {
		data, st, ok, err := s.work.read(l.Path(), maxLedger)
		if err != nil {
			return nil, nil, unreadable(l.Path(), err)
		}
		if !ok {
			continue
		}
		if err := checkAppended(l, 0, data); err != nil {
			return nil, nil, err
		}
		mark, err := r.absorbLedger(edit, "", l, &ledgerDiff{appended: data, data: data, mark: ledgerMark{Stat: st}})
		if err != nil {
			return nil, nil, err
		}
		marks[l] = mark
	}
	for _, d := range wire.Documents() {
		if in.docs[d].exists {
			if err := edit.put(docTreePath(d), in.docs[d].data); err != nil {
				return nil, nil, err
			}
		}
	}
	return edit, marks, edit.put(treeConfig, in.rules())
}

// recordExternal finishes an external record: index, bundles, record, commit, cache.
func (s *Store) recordExternal(ctx context.Context, in *inspection, edit *treeEdit, parent *recorded, marks map[wire.Ledger]ledgerMark, detail *ojson.Object, subject string) (*recorded, error) {
	state, err := decodeWorkingState(in.docs[wire.DocState])
	if err != nil {
		return nil, err
	}
	cfg, _, err := config.Decode(in.rules())
	if err != nil {
		return nil, err
	}
	// The index says what the rules would have kept, had they done the work.
	repaired, _ := run.RepairState(state, cfg)
	index := run.BuildIndex(cfg, repaired, s.workingRows()).Encode()
	if err := edit.put(treeIndex, index); err != nil {
		return nil, err
	}
	if err := s.captureBundles(edit, state); err != nil {
		return nil, err
	}
	rec := &protocol.Record{Rules: protocol.RuleSet, Name: protocol.OpExternal, Env: s.env(ctx), Detail: detail}
	c := commitPlan{run: in.run, parent: parent, record: rec, subject: subject, state: in.docs[wire.DocState].data}
	if in.before != nil && in.before.run != in.run {
		c.previous = in.before.op
	}
	done, err := s.commitTree(ctx, edit, c)
	if err != nil {
		return nil, err
	}
	done.marks, done.index = marks, index
	return done, s.saveCache(done)
}

// captureBundles keeps the bundles another tool wrote for active turns, with what
// their seals list beyond the usual files. They are its files: what is missing or
// odd is left out, never an error.
func (s *Store) captureBundles(edit *treeEdit, state *run.State) error {
	if err := edit.remove(treeBundles); err != nil {
		return err
	}
	for _, turn := range state.ActiveTurns.Keys() {
		if !safeName(turn) {
			continue
		}
		names, left := recordedBundleFiles(), int64(maxCapturedBytes)
		seal, _, ok, err := s.work.read(wire.BundleDir(turn)+"/"+bundleSeal, maxCapturedFile)
		if err == nil && ok {
			names = append(names, sealedNames(seal)...)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			data, _, ok, err := s.work.read(wire.BundleDir(turn)+"/"+name, min(maxCapturedFile, left))
			if err != nil || !ok {
				continue
			}
			left -= int64(len(data))
			if err := edit.put(treeBundles+"/"+turn+"/"+name, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// workingRows reads ledgers from the working files.
func (s *Store) workingRows() run.LedgerReader {
	return func(l wire.Ledger) iter.Seq[run.Line] {
		data, _, _, err := s.work.read(l.Path(), maxLedger)
		if err != nil {
			return rowsOf(nil)
		}
		return rowsOf(data)
	}
}

// rowsOf iterates the rows of a ledger's bytes; what is no JSON object is left out.
func rowsOf(data []byte) iter.Seq[run.Line] {
	return func(yield func(run.Line) bool) {
		for _, line := range lines(data) {
			row, err := ojson.DecodeObject(line)
			if err != nil {
				continue
			}
			if !yield(run.Line{Raw: line, Row: row}) {
				return
			}
		}
	}
}

// describeExternal says what an absorbed change was, for the notice.
func describeExternal(files string, op git.OID) string {
	return fmt.Sprintf("recorded changes another tool made to %s (operation %s)", files, op.Short())
}
