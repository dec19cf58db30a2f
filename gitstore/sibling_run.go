// The run of a sibling: what its ref recorded, and working files only as far as the store itself would absorb them.

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Limits on a sibling's files, in bytes.
const (
	maxSiblingDocument = 16 << 20
	maxSiblingLedger   = 256 << 20
	maxSiblingPast     = 1000 // operations searched for an older state
)

// SiblingRun is the run of a sibling.
type SiblingRun struct {
	Run   string     // "" when state.json names none
	Op    object.OID // newest recorded operation; "" when the run has no ref, and nothing is proven
	State []byte     // the valid state.json; nil when there is none
	Ahead bool       // another implementation continued the run beyond Op, as the store allows

	// Refused says why working files that differ from the record do not count; nil when they do count or do not
	// differ.
	Refused error

	s    *Store // a store over the clone
	tip  *chain.RecordedRun
	more map[wire.Ledger][]byte // Ahead: rows beyond the record
}

// ReadSibling reads the run of the sibling. It reads no ledgers unless the working files differ from the record.
//
// Errors: unreadable_file, state_tampered (not a regular file), invalid_state, ref_is_symbolic, ref_broken,
// object_missing, object_corrupt, object_too_large, chain_broken.
func ReadSibling(ctx context.Context, x *sibling.Clone) (*SiblingRun, error) {
	s := &Store{repo: x.Repo, objects: x.Repo.ObjectStore, dir: x.Dir, prefix: x.Repo.Prefix, work: x.Work}
	data, _, ok, err := s.work.Read(string(wire.DocState), maxSiblingDocument)
	if err != nil {
		return nil, unreadable(string(wire.DocState), err)
	}
	out := &SiblingRun{s: s}
	if !ok {
		return out, nil
	}
	if out.Run, err = runOf(document{data, true}); err != nil {
		return nil, err
	}
	out.State = data
	if out.Run == "" {
		return out, nil
	}
	if out.Op, err = x.Ref(ctx, out.Run); err != nil || out.Op == "" {
		return out, err
	}
	if out.tip, err = chain.At(s.reader(ctx), out.Run, out.Op); err != nil {
		return nil, err
	}
	recorded, err := out.tip.DocOID(wire.DocState)
	if err != nil {
		return nil, err
	}
	if recorded == object.Hash(s.repo.ObjectFormat, object.KindBlob, data) {
		return out, nil
	}
	refused := out.carriedOn(data)
	if refused == nil {
		out.Ahead = true
		return out, nil
	}
	if out.State, _, err = out.tip.Reader.File(out.tip.Root, record.FileState); err != nil {
		return nil, err
	}
	behind, err := out.behind(object.Hash(s.repo.ObjectFormat, object.KindBlob, data))
	if err == nil && !behind {
		out.Refused = refused
	}
	return out, err
}

// carriedOn refuses working files that the store would not record as the work of another implementation.
func (out *SiblingRun) carriedOn(state []byte) error {
	s := out.s
	in := &inspection{
		run:   out.Run,
		tip:   out.tip,
		docs:  make(map[wire.Document]document),
		diffs: make(map[wire.Ledger]*record.LedgerDiff),
	}
	var err error
	if in.config, err = s.work.Config(); err != nil {
		return err
	}
	for _, d := range wire.Documents() {
		data, _, ok, err := s.work.Read(string(d), maxSiblingDocument)
		if err != nil {
			return unreadable(string(d), err)
		}
		in.docs[d] = document{data, ok}
	}
	if !bytes.Equal(in.docs[wire.DocState].data, state) {
		return fail.Errorf(CodeStateMoved, nil, "%s changed while it was being read", wire.DocState)
	}
	for _, l := range wire.Ledgers() {
		if st, ok, err := s.work.Stat(l.Path()); err != nil || ok && st.Size > maxSiblingLedger {
			return unreadable(l.Path(),
				errors.Join(err, &workdir.TooLongError{Path: l.Path()}))
		}
	}
	if _, err := s.diffAll(in); err != nil {
		return err
	}
	if err := s.checkExternal(in); err != nil {
		return err
	}
	more := make(map[wire.Ledger][]byte)
	for l, d := range in.diffs {
		more[l] = d.Appended
	}
	was, _, err := out.tip.Reader.File(out.tip.Root, record.FileState)
	if err == nil {
		err = proof.BorneOut(was, state, func(l wire.Ledger) iter.Seq[run.Line] { return record.RowsOf(more[l]) })
	}
	if err != nil {
		return err
	}
	out.more = more
	return nil
}

// Unrecorded returns the turns whose accepted rows are only in the working files: another implementation has
// written them, and nothing proves them.
func (out *SiblingRun) Unrecorded() map[string]bool {
	turns := make(map[string]bool)
	for l := range record.RowsOf(out.more[wire.LedgerHistory]) {
		if run.SaysAccepted(l.Row) {
			turns[l.Row.String("turn_id")] = true
		}
	}
	return turns
}

// behind reports whether an earlier operation recorded that state: then the files are only late.
func (out *SiblingRun) behind(state object.OID) (bool, error) {
	op := out.Op
	for range maxSiblingPast {
		c, err := out.tip.Reader.Commit(op)
		if err != nil {
			return false, err
		}
		at := &chain.RecordedRun{Root: c.Tree, Reader: out.tip.Reader}
		if oid, err := at.DocOID(wire.DocState); err != nil || oid == state {
			return oid == state, err
		}
		if len(c.Parents) == 0 {
			return false, nil
		}
		op = c.Parents[0]
	}
	return false, nil
}

// Rows yields the valid rows of a ledger whose text contains mark, newest first. It skips what is not a row.
// Without a record it reads the working file.
func (out *SiblingRun) Rows(ctx context.Context, l wire.Ledger, mark string) iter.Seq2[*ojson.Object, error] {
	if out.tip == nil {
		return out.Working(ctx, l, mark)
	}
	return func(yield func(*ojson.Object, error) bool) {
		segs, err := out.tip.Reader.Slots(out.tip.Root, record.LedgerDir(l), false)
		if err != nil {
			yield(nil, err)
			return
		}
		parts := func(yield func([]byte, error) bool) {
			if more := out.more[l]; len(more) > 0 && !yield(more, nil) {
				return
			}
			for _, oid := range slices.Backward(segs) {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if data, err := out.tip.Reader.Blob(oid); !yield(data, err) || err != nil {
					return
				}
			}
		}
		for part, err := range parts {
			if err != nil {
				yield(nil, err)
				return
			}
			for len(part) > 0 {
				part = bytes.TrimSuffix(part, []byte("\n"))
				i := bytes.LastIndexByte(part, '\n')
				line := part[i+1:]
				part = part[:i+1]
				if !bytes.Contains(line, []byte(mark)) {
					continue
				}
				if row, err := ojson.DecodeObject(line); err == nil && !yield(row, nil) {
					return
				}
			}
		}
	}
}

// Working yields the rows of a working ledger like Rows, whether or not they are valid. An absent ledger has none;
// unreadable_file is the last thing yielded.
func (out *SiblingRun) Working(ctx context.Context, l wire.Ledger, mark string) iter.Seq2[*ojson.Object, error] {
	return func(yield func(*ojson.Object, error) bool) {
		f, st, err := out.s.work.Open(l.Path())
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			defer func() { _ = f.Close() }()
			if st.Size > maxSiblingLedger {
				err = &workdir.TooLongError{Path: l.Path()}
			}
		}
		if err != nil {
			yield(nil, unreadable(l.Path(), err))
			return
		}
		for line, err := range linesBackwards(ctx, f) {
			if err != nil {
				yield(nil, unreadable(l.Path(), err))
				return
			}
			if !bytes.Contains(line, []byte(mark)) {
				continue
			}
			if row, err := ojson.DecodeObject(line); err == nil && !yield(row, nil) {
				return
			}
		}
	}
}
