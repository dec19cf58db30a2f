// The operation that records a restored run.

package gitstore

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// restored is the record of a restore under construction.
type restored struct {
	run      string
	parent   *chain.RecordedRun
	old      object.OID // the newest operation here
	at       object.OID // the run's ref, "" for an archived run
	edit     *record.Edit
	state    []byte
	relation string
	changed  []string
	largest  int        // size of the largest ledger, in bytes
	new      object.OID // operation of the files, once made
	refs     []git.RefUpdate
	flush    func(context.Context, []object.Object) error
}

func (r *restored) describe(p *RestorePlan) {
	p.Run, p.Op, p.Before, p.Relation, p.Refs = r.run, r.new, r.old, r.relation, r.refs
}

// shadow returns the store as it would be with the incoming files in place: reads of governed files return them.
func (s *Store) shadow(in *incoming.Set) *Store {
	files := make(map[string]incoming.File, len(in.Files))
	for _, f := range in.Files {
		files[f.Path] = f
	}
	source := func(name string, limit int64) ([]byte, git.Stat, bool, error) {
		f, ok := files[name]
		switch {
		case ok && f.Size > limit:
			return nil, git.Stat{}, false, &workdir.TooLongError{Path: name}
		case ok:
			r, err := in.Open(name)
			if err != nil {
				return nil, git.Stat{}, false, err
			}
			data := make([]byte, f.Size)
			_, err = io.ReadFull(r, data)
			return data, git.Stat{}, err == nil, err
		case slices.ContainsFunc(in.Roots,
			func(root string) bool { return name == root || len(name) > len(root) && name[:len(root)+1] == root+"/" }):
			return nil, git.Stat{}, false, nil
		}
		return s.work.Read(name, limit)
	}
	return &Store{
		repo:    s.repo,
		objects: s.objects,
		dir:     s.dir,
		prefix:  s.prefix,
		work:    &workdir.Dir{Path: s.work.Path, Root: s.work.Root, Source: source},
		opts:    s.opts,
	}
}

func unfit(err error, what string) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fail.Errorf(CodeUnfitRun, err, "%s cannot be recorded as a run", what)
}

// buildRestored judges the incoming files as a run and builds its tree. flush writes the objects, one ledger at a
// time.
func (s *Store) buildRestored(ctx context.Context, in *incoming.Set, flush func(context.Context,
	[]object.Object) error) (*restored, error) {
	x := s.shadow(in)
	look := &inspection{docs: make(map[wire.Document]document)}
	for _, d := range wire.Documents() {
		data, _, ok, err := x.work.Read(string(d), workdir.MaxDocument)
		if err != nil {
			return nil, unreadable(string(d), err)
		}
		look.docs[d] = document{data, ok}
	}
	r := &restored{flush: flush, relation: RestoreIdle}
	var err error
	if look.config, _, _, err = x.work.Read(wire.ConfigPath, workdir.MaxDocument); err != nil {
		return nil, unreadable(wire.ConfigPath, err)
	}
	cfg, problems, err := config.Decode(look.config)
	if err != nil {
		return nil, unfit(err, wire.ConfigPath)
	}
	if len(problems) > 0 {
		return nil, unfit(errors.New(problems.Join()), wire.ConfigPath)
	}
	if r.run, err = runOf(look.docs[wire.DocState]); err != nil {
		return nil, unfit(err, string(wire.DocState))
	}
	if in.Bundle != nil {
		r.refs = in.Bundle.Updates(r.run)
	}
	if r.run == "" {
		return r, nil
	}
	look.run = r.run
	st, err := decodeWorkingState(look.docs[wire.DocState])
	if err != nil {
		return nil, unfit(err, string(wire.DocState))
	}
	r.state = look.docs[wire.DocState].data
	repaired, _ := run.RepairState(st, cfg)
	if p := run.CheckState(repaired); len(p) > 0 {
		return nil, unfit(run.StateError(p), string(wire.DocState))
	}
	if err := r.findParent(ctx, s, in); err != nil {
		return nil, err
	}
	if err := r.build(ctx, x, look, st); err != nil {
		return nil, err
	}
	index := run.BuildIndex(cfg, repaired, x.workingRows()).Encode()
	giveBack(r.largest)
	return r, r.edit.Put(record.FileIndex, index)
}

// findParent finds the newest operation of the run, here or in the bundle.
func (r *restored) findParent(ctx context.Context, s *Store, in *incoming.Set) error {
	tip, err := chain.Tip(ctx, s.repo, r.run)
	if err != nil {
		return err
	}
	r.old = tip
	if r.at, err = s.repo.ReadRef(ctx, git.RunRefPrefix+r.run); err != nil {
		return err
	}
	reader := s.reader(ctx)
	if in.Bundle != nil {
		if op := in.Bundle.Newest(r.run); op != "" {
			// Read its objects in the bundle until they are transferred.
			tip = op
			if !s.objects.Has(ctx, op) {
				reader = record.NewReader(ctx, in.Bundle.Repo)
			}
		}
	}
	if tip == "" {
		r.edit, err = reader.Edit("")
		return err
	}
	if r.parent, err = chain.At(reader, r.run, tip); err != nil {
		return err
	}
	r.edit, err = reader.Edit(r.parent.Root)
	return err
}

// build puts ledgers, documents and bundles into the tree.
func (r *restored) build(ctx context.Context, x *Store, look *inspection, st *run.State) error {
	r.relation = RestoreAdopts
	same, grows := true, true
	for _, l := range wire.Ledgers() {
		kind, err := r.ledger(ctx, x, l)
		if err != nil {
			return err
		}
		if kind != record.Same {
			same = false
			r.changed = append(r.changed, l.Path())
		}
		grows = grows && kind != record.Foreign && kind != record.Shorter
	}
	for _, d := range wire.Documents() {
		have := object.OID("")
		if r.parent != nil {
			var err error
			if have, err = r.parent.DocOID(d); err != nil {
				return err
			}
		}
		if have != x.docOID(look.docs[d]) {
			same = false
			r.changed = append(r.changed, string(d))
		}
	}
	if _, err := x.absorbDocs(r.edit, look); err != nil {
		return err
	}
	if err := x.captureBundles(r.edit, st); err != nil {
		return err
	}
	if r.parent == nil {
		return nil
	}
	switch {
	case same:
		r.relation = RestoreSame
	case grows && r.follows(st):
		r.relation = RestoreContinues
	default:
		r.relation = RestoreReplaces
	}
	return nil
}

// follows reports whether the protocol allows a way from the recorded state to st.
func (r *restored) follows(st *run.State) bool {
	data, _, err := r.parent.Reader.File(r.parent.Root, record.FileState)
	if err != nil {
		return false
	}
	before, perr := run.DecodeState(data)
	return perr == nil && protocol.LegalTransition(before, st, protocol.OpExternal) == nil
}

// ledger puts one ledger into the tree and returns how it relates to the recorded one.
func (r *restored) ledger(ctx context.Context, x *Store, l wire.Ledger) (record.Kind, error) {
	data, _, there, err := x.work.Read(l.Path(), workdir.MaxLedger)
	if err != nil {
		return 0, unreadable(l.Path(), err)
	}
	r.largest = max(r.largest, len(data))
	if err := record.CheckAppended(l, 0, data); err != nil {
		return 0, unfit(err, l.Path())
	}
	diff, root := &record.LedgerDiff{Kind: record.Extended, Appended: data}, object.OID("")
	if r.parent != nil {
		segs, err := r.parent.Reader.Slots(r.parent.Root, record.LedgerDir(l), false)
		switch {
		case err != nil:
			return 0, err
		case !there && len(segs) == 0:
			return record.Same, nil
		case !there:
			return record.Shorter, r.edit.Remove(record.LedgerDir(l))
		}
		if diff, err = record.CompareSegments(r.parent.Reader, l, segs, data); err != nil {
			return 0, err
		}
		root = r.parent.Root
		if diff.Kind == record.Foreign || diff.Kind == record.Shorter {
			if err := r.edit.Remove(record.LedgerDir(l)); err != nil {
				return 0, err
			}
			root, diff.Appended = "", data
		}
	} else if !there {
		return record.Same, nil
	}
	if diff.Kind == record.Same {
		return record.Same, nil
	}
	kind := diff.Kind
	diff.Data = data
	if _, err := r.edit.Reader.AbsorbLedger(r.edit, root, l, diff); err != nil {
		return 0, err
	}
	err = r.drain(ctx)
	giveBack(len(data))
	return kind, err
}

// giveBack frees memory after a large file, so that two of them are not in memory at once.
func giveBack(n int) {
	if n >= 8<<20 {
		debug.FreeOSMemory()
	}
}

// drain flushes the objects made so far: a ledger can be large.
func (r *restored) drain(ctx context.Context) error {
	err := r.flush(ctx, r.edit.Objects)
	clear(r.edit.Objects)
	r.edit.Objects = r.edit.Objects[:0]
	return err
}

// commit writes the operation and sets how the refs move.
func (r *restored) commit(ctx context.Context, s *Store, in *incoming.Set) error {
	if r.run == "" {
		return nil
	}
	if r.relation == RestoreSame {
		r.new = r.parent.Op
	} else {
		actor := s.actor(ctx)
		detail := ojson.NewObject("restored", in.Detail, "accepted_by", ojson.NewObject("name", actor.Name,
			"email", actor.Email), "reason", in.Reason, "files", r.changed)
		p := commitPlan{
			run:     r.run,
			parent:  r.parent,
			state:   r.state,
			subject: "restore the run from " + in.Reason,
			record: &protocol.Record{
				Rules:  protocol.RuleSet,
				Name:   protocol.OpExternal,
				Env:    s.Env(ctx),
				Detail: detail,
			},
		}
		if c := s.readCache(); r.parent == nil && c != nil && c.Run != r.run {
			p.previous = c.Op
		}
		done, _, err := s.buildCommit(r.edit, p)
		if err != nil {
			return err
		}
		if err := r.drain(ctx); err != nil {
			return err
		}
		r.new = done.Op
		if err := s.admit(ctx, r.run, r.new); err != nil {
			return err
		}
	}
	ref := git.RunRefPrefix + r.run
	r.refs = slices.DeleteFunc(r.refs, func(u git.RefUpdate) bool { return u.Name == ref })
	if r.new != r.old {
		r.refs = append(r.refs, git.RefUpdate{Name: ref, New: r.new, Old: r.at})
	}
	return nil
}

// errorsJoin returns the first error unchanged when there is no second one.
func errorsJoin(err, also error) error {
	if also == nil {
		return err
	}
	return errors.Join(err, also)
}
