// Committing a transition: objects, one ref update, working files, cache.

package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Change is what one operation does to a run.
type Change struct {
	Record     *protocol.Record
	Transition *protocol.Transition
	// Bundles are dispatch bundles to put in place: turn -> file name -> bytes.
	Bundles map[string]map[string][]byte
	// Refs move, or are only verified (New equals Old), in the same transaction as the run's: when one of them is
	// elsewhere nothing moves, and the error is ref_moved naming it. If the machine stops in the middle, the run's
	// ref has moved first.
	Refs []git.RefUpdate
}

// Committed is the result of a commit.
type Committed struct {
	Op  object.OID // the operation's commit
	Run string
}

// Commit records the change as one operation. The update of the run's ref is the commit point: an error before it
// changes nothing. After it the run has moved; if the working files then cannot be updated, Commit returns
// Committed together with an error of code working_files_behind, and the next command completes them.
//
// Errors before the commit point: ref_moved or state_moved when another process was faster, file_exists,
// invalid_state, ledger_tampered, and git's own.
func (tx *Tx) Commit(ctx context.Context, ch Change) (*Committed, error) {
	s := tx.store
	if tx.lock == nil || tx.broken {
		return nil, fail.Errorf(fail.CodeLockLost, nil, "the transaction is over")
	}
	// The reference implementation takes over a lock that looks too old.
	if err := tx.lock.Check(); err != nil {
		return nil, err
	}
	if ch.Record == nil || ch.Transition == nil || ch.Transition.Index == nil {
		return nil, fail.Errorf(wire.CodeInvalidArgument, nil,
			"a change needs a record and a transition with an index")
	}
	state, back, err := checkState(ch.Transition.State)
	if err != nil {
		return nil, err
	}
	run := ch.Transition.State.Run()
	if _, err := git.RunRef(run); err != nil {
		return nil, err
	}
	if err := tx.mayBuild(ch.Record.Name); err != nil {
		return nil, err
	}
	if err := s.unmoved(tx); err != nil {
		return nil, err
	}
	if err := s.checkNewFiles(tx, ch); err != nil {
		return nil, err
	}
	faults.Point("commit.before-objects")
	d, err := tx.derive(ctx, ch, run, state)
	if err != nil {
		return nil, err
	}
	t := ch.Transition
	plan := commitPlan{
		run:     run,
		record:  ch.Record,
		publish: s.opts.Publish,
		subject: t.Subject,
		turn:    t.Turn,
		role:    t.Role,
		state:   state,
		drops:   t.DropTurns,
		unstage: t.Unstage,
	}
	plan.also = ch.Refs
	plan.doc, plan.evidence = ch.Record.Encode()
	work, err := tx.planWork(d, ch, state, plan.evidence)
	if err != nil {
		return nil, err
	}
	if tx.rec != nil && tx.rec.Run == run {
		plan.parent = tx.rec
	} else {
		if tx.rec != nil {
			plan.previous = tx.rec.Op
		}
		plan.note = tx.enteringNote(run)
	}
	done, err := s.commitTree(ctx, d.Edit, plan)
	if done == nil {
		return nil, err
	}
	tx.commits++
	if ch.Record.Name == protocol.OpConfirm {
		tx.open = nil
	}
	done.Marks, done.Index = d.Marks, d.Index
	out := &Committed{Op: done.Op, Run: run}
	if err != nil {
		tx.broken = true
		return out, err
	}
	if err := tx.arrive(done, work); err != nil {
		// The files are between two operations: nothing more may build on them.
		tx.broken = true
		return out, behind(done, err)
	}
	tx.advance(done, work, back)
	return out, nil
}

// arrive brings the working files and the cache to the operation just recorded.
func (tx *Tx) arrive(done *chain.RecordedRun, work *workdir.Plan) error {
	s := tx.store
	if err := s.work.Apply(work); err != nil {
		return err
	}
	for i := range work.Ledgers {
		l := work.Ledgers[i].Ledger
		st, ok, err := s.work.Stat(l.Path())
		if err != nil {
			return err
		}
		m := done.Marks[l]
		if !ok || st.Size != m.Size {
			return errors.New(l.Path() + " was changed by another program at the same time")
		}
		m.Stat = st
		done.Marks[l] = m
	}
	faults.Point("commit.before-cache")
	if err := s.saveCache(done); err != nil {
		return err
	}
	faults.Point("commit.after-cache")
	s.clearEntering()
	return nil
}

func behind(done *chain.RecordedRun, err error) *fail.Error {
	return fail.Errorf(fail.CodeWorkBehind, err,
		"operation %s is recorded, but the working files could not be brought up to date", done.Op.Short()).
		WithHint("remove the cause and run any git agentxchain command: it completes them")
}

// checkState refuses to record a state that could not be read back. It returns the encoded state and the state as a
// reader sees it.
func checkState(st *run.State) (data []byte, back *run.State, err error) {
	if st == nil {
		return nil, nil, fail.Errorf(wire.CodeInvalidState, nil, "the transition has no state")
	}
	if p := run.CheckState(st); len(p) > 0 {
		return nil, nil, run.StateError(p)
	}
	data = st.Encode()
	back, perr := run.DecodeState(data)
	if perr != nil {
		return nil, nil, perr
	}
	if !bytes.Equal(back.Encode(), data) {
		return nil, nil, fail.Errorf(wire.CodeInvalidState, nil,
			"the state does not survive being written and read back")
	}
	return data, back, nil
}

// unmoved returns an error when a governed file changed since the transaction began, because a tool that does not
// take our lock was at work.
func (s *Store) unmoved(tx *Tx) error {
	config, docs, err := s.readDocs()
	if err != nil {
		return err
	}
	moved := func(name string) error {
		return fail.Errorf(CodeStateMoved, nil, "%s changed while the operation was being prepared",
			name).WithHint("run the command again")
	}
	for d, was := range tx.in.docs {
		if now := docs[d]; now.exists != was.exists || !bytes.Equal(now.data, was.data) {
			return moved(string(d))
		}
	}
	// The recorded configuration must be the one the rules saw.
	if !bytes.Equal(config, tx.in.config) {
		return moved(wire.ConfigPath)
	}
	for _, l := range wire.Ledgers() {
		st, ok, err := s.work.Stat(l.Path())
		if err != nil {
			return unreadable(l.Path(), err)
		}
		if m, had := tx.marks[l]; (had && m.Segments > 0) != ok || ok && m.Stat != st {
			return moved(l.Path())
		}
	}
	return nil
}

// checkNewFiles refuses names that an operation may not write, and files that belong to others: an existing file
// must be one that a run recorded.
func (s *Store) checkNewFiles(tx *Tx, ch Change) error {
	for _, f := range ch.Transition.Files {
		if !record.SafeFile(f.Path) {
			return fail.Errorf(wire.CodeInvalidArgument, nil, "an operation may not write %q", f.Path)
		}
		data, _, ok, err := s.work.Read(f.Path, workdir.MaxDocument)
		if err != nil {
			return unreadable(f.Path, err)
		}
		if !ok || sharedFile(f.Path) || bytes.Equal(data, f.Data) || tx.rec != nil && tx.rec.Keeps(f.Path, data) {
			continue
		}
		return fail.Errorf(CodeFileExists, nil, "%s is already there and no operation wrote it",
			f.Path).WithHint("move the file away and run the command again")
	}
	for turn, files := range ch.Bundles {
		for name := range files {
			if !record.SafeName(turn) || !record.SafeBundleName(name) {
				return fail.Errorf(wire.CodeInvalidArgument, nil, "a bundle may not hold %q of turn %q", name, turn)
			}
		}
	}
	return nil
}

// sharedFile reports whether other tools may rewrite a file: those of intents. Its old content is in the
// operation's evidence, or in the state.
func sharedFile(name string) bool { return strings.HasPrefix(name, record.ProjectDir+"/intake/") }

// planWork turns a derivation into writes to the working files.
func (tx *Tx) planWork(d *record.Derivation, ch Change, state []byte, evidence map[string][]byte) (*workdir.Plan,
	error) {
	t := ch.Transition
	plan := &workdir.Plan{
		Docs:    map[wire.Document][]byte{wire.DocState: state},
		Bundles: ch.Bundles,
		Files:   t.Files,
		Drops:   t.DropTurns,
		Unstage: t.Unstage,
	}
	// A staged result is removed only if this very operation keeps its bytes.
	plan.Proof = func(data []byte) bool {
		if _, ok := evidence[wire.SHA256(data)]; ok {
			return true
		}
		return slices.ContainsFunc(t.Files, func(f protocol.FileWrite) bool { return bytes.Equal(f.Data, data) })
	}
	for _, turn := range t.DropTurns {
		if err := supplements(tx.rec, plan, turn); err != nil {
			return nil, err
		}
	}
	for turn := range ch.Bundles {
		if err := supplements(tx.rec, plan, turn); err != nil {
			return nil, err
		}
	}
	for doc, data := range t.Documents {
		if doc != wire.DocState && record.DocumentFile(doc) != "" {
			plan.Docs[doc] = data
		}
	}
	for _, c := range d.Changes {
		w := workdir.LedgerWrite{Ledger: c.Ledger, Offset: c.Offset, Data: c.Data}
		if len(c.Amends) > 0 {
			end, ok, err := tx.store.amendTail(c.Ledger, c.Offset, c.Amends, c.Data)
			if err != nil {
				return nil, err
			}
			if ok {
				plan.Ledgers = append(plan.Ledgers, end)
				continue
			}
			full, _, _, err := tx.store.work.Read(c.Ledger.Path(), workdir.MaxLedger)
			if err != nil {
				return nil, unreadable(c.Ledger.Path(), err)
			}
			amended, ok := record.AmendWorking(full, c.Amends)
			if !ok {
				return nil, record.Tampered(c.Ledger, 0, "the line to amend is not in the working file")
			}
			w.Replace, w.Data = true, append(amended, c.Data...)
		}
		plan.Ledgers = append(plan.Ledgers, w)
	}
	return plan, nil
}

// derive computes the operation's tree.
func (tx *Tx) derive(ctx context.Context, ch Change, run string, state []byte) (*record.Derivation, error) {
	d := &record.Derivation{
		Marks: make(map[wire.Ledger]record.LedgerMark),
		Tail: func(l wire.Ledger, oid object.OID) []byte {
			// The end of the working file is the last segment unless the file was tampered with: the hash decides.
			m := tx.marks[l]
			tail, err := tx.store.work.ReadTail(l.Path(), m.Size, m.Tail)
			if err != nil || object.Hash(tx.store.repo.ObjectFormat, object.KindBlob, tail) != oid {
				return nil
			}
			return tail
		},
	}
	var err error
	if tx.rec != nil {
		d.Root = tx.rec.Root
		if d.Edit, err = tx.rec.Reader.Edit(tx.rec.Root); err != nil {
			return nil, err
		}
		maps.Copy(d.Marks, tx.marks)
		if tx.rec.Run != run {
			// The bundles belong to the previous run.
			if err := d.Edit.Remove(record.DirBundles); err != nil {
				return nil, err
			}
		}
	} else if d.Edit, d.Marks, err = tx.store.editFromFiles(tx.store.reader(ctx), tx.in); err != nil {
		return nil, err
	}
	if err := d.Apply(ch.Transition, state); err != nil {
		return nil, err
	}
	if err := d.Edit.Put(record.FileConfig, tx.in.rules()); err != nil {
		return nil, err
	}
	for turn, files := range ch.Bundles {
		if err := d.Edit.Remove(record.DirBundles + "/" + turn); err != nil {
			return nil, err
		}
		for name, data := range files {
			if err := d.Edit.Put(record.DirBundles+"/"+turn+"/"+name, data); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// commitPlan is what commitTree needs besides the tree.
type commitPlan struct {
	run      string
	parent   *chain.RecordedRun // nil for a run's first commit
	previous object.OID         // last operation of the previous run, for a first commit
	record   *protocol.Record
	doc      []byte // the encoded record; nil to encode it here
	evidence map[string][]byte
	subject  string
	turn     string
	role     string
	state    []byte
	drops    []string
	unstage  []string
	note     *entering        // written before the ref of a new run is created
	origin   object.OID       // the original operation if this one is decided again, "" for none
	publish  decision.Publish // nil: move the ref at once
	also     []git.RefUpdate
}

// commitTree writes the objects and moves the run's ref. Without a result nothing was changed. With a result the
// operation is recorded, and an error, of code working_files_behind, says what is left for the next command.
func (s *Store) commitTree(ctx context.Context, edit *record.Edit, p commitPlan) (*chain.RecordedRun, error) {
	done, ref, err := s.buildCommit(edit, p)
	if err != nil {
		return nil, err
	}
	if err := s.objects.Write(ctx, edit.Objects); err != nil {
		return nil, err
	}
	faults.Point("commit.after-objects")
	if p.note != nil {
		p.note.Op = ref.New
		if err := s.writeEntering(p.note); err != nil {
			s.repo.Abandon(ref)
			return nil, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
		}
		faults.Point("commit.after-note")
	}
	if p.publish == nil {
		p.publish = decision.Alone
	}
	moves := append([]git.RefUpdate{ref}, p.also...)
	// Before the ref moves, so that a guard that judges the move knows the operation.
	if p.record.Name == protocol.OpExternal {
		if err := s.admit(ctx, p.run, done.Op); err != nil {
			return nil, err
		}
	} else {
		parent := object.OID("")
		if p.parent != nil {
			parent = p.parent.Op
		}
		proof.NoteOwn(s.repo, p.run, p.record.Name, parent, done.Op)
	}
	faults.Point("commit.before-ref")
	err = p.publish(ctx, s.repo, decision.Move{
		Op:     p.record.Name,
		Ref:    ref,
		Also:   p.also,
		Reflog: "agentxchain: " + p.record.Name,
	})
	if err != nil && !s.isAt(ctx, ref) {
		s.repo.Abandon(moves...)
		return nil, err
	}
	faults.Point("commit.after-ref")
	if err == nil {
		// A decision over several repositories may have moved it already.
		err = s.repo.Reached(moves)
	} else if fail.CodeOf(err) != fail.CodeWorkBehind {
		// The ref moved, but the process that moved it died before it did the rest.
		err = s.finishMoves(ctx, moves)
	}
	if err != nil {
		err = behind(done, err)
	}
	return done, err
}

// isAt reports whether a ref is where an update was to bring it. Every operation has a unique commit, so no other
// process can have brought it there.
func (s *Store) isAt(ctx context.Context, u git.RefUpdate) bool {
	now, err := s.repo.ReadRef(context.WithoutCancel(ctx), u.Name)
	return err == nil && now == u.New
}

// finishMoves moves those refs that have not moved yet.
func (s *Store) finishMoves(ctx context.Context, updates []git.RefUpdate) error {
	err := s.repo.AfterMove(updates[:1])
	for _, u := range updates[1:] {
		if u.New != u.Old && !s.isAt(ctx, u) {
			err = errors.Join(err, s.repo.UpdateRefs(context.WithoutCancel(ctx), []git.RefUpdate{u},
				"agentxchain: completed"))
		}
	}
	return err
}

// buildCommit finishes the tree and queues the commit, which is recorded once the objects are written and the ref
// is moved.
func (s *Store) buildCommit(edit *record.Edit, p commitPlan) (*chain.RecordedRun, git.RefUpdate, error) {
	if p.doc == nil {
		p.doc, p.evidence = p.record.Encode()
	}
	if err := edit.Remove(record.DirEvidence); err != nil {
		return nil, git.RefUpdate{}, err
	}
	for digest, data := range p.evidence {
		if err := edit.Put(record.DirEvidence+"/"+digest, data); err != nil {
			return nil, git.RefUpdate{}, err
		}
	}
	if err := edit.Put(record.FileRecord, p.doc); err != nil {
		return nil, git.RefUpdate{}, err
	}
	root := edit.Finish()
	sig := record.Signature(&p.record.Env)
	c := &object.Commit{Tree: root, Author: sig, Committer: sig}
	ref := git.RefUpdate{Name: git.RunRefPrefix + p.run}
	if p.parent != nil {
		c.Parents, ref.Old = []object.OID{p.parent.Op}, p.parent.Op
	}
	c.Message = record.Message(cmp.Or(p.subject, p.record.Name), record.TrailerRun, p.run, record.TrailerOp,
		p.record.Name, record.TrailerTurn, p.turn, record.TrailerRole, p.role,
		record.TrailerState, wire.Digest(p.state), record.TrailerHead, p.record.Env.Git.Head,
		record.TrailerDropped, strings.Join(p.drops, " "), record.TrailerUnstaged, strings.Join(p.unstage, " "),
		record.TrailerPrevious, string(p.previous), record.TrailerOrigin, string(p.origin))
	oid, err := edit.Commit("the operation", c)
	if err != nil {
		return nil, git.RefUpdate{}, err
	}
	ref.New = oid
	return &chain.RecordedRun{Run: p.run, Op: ref.New, Root: root, Reader: edit.Reader}, ref, nil
}

// saveCache records that the working files are at rec.
func (s *Store) saveCache(rec *chain.RecordedRun) error {
	return s.writeCache(&statCache{
		Run:     rec.Run,
		Op:      rec.Op,
		Root:    rec.Root,
		Ledgers: rec.Marks,
		Trees:   rec.Reader.RightEdge(rec.Root),
		Index:   rec.Index,
	})
}
