// Joining two sides of a run: the operations made here are decided again after those recorded elsewhere
// (docs/teams.md#when-two-machines-went-on). Nothing is lost: an operation that fails becomes a conflict, and the
// tip that was here keeps a ref.

package gitstore

import (
	"context"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Reindex returns dispatch/index.json after an operation, nil when it is unchanged. was is the document before, nil
// for none.
type Reindex func(cfg *config.Config, before *run.State, after *protocol.Transition, was []byte, now string) []byte

// Joined is the result of joining the operations of this side.
type Joined struct {
	Run       string
	Base      object.OID // the newest operation both sides have
	Tip       object.OID // the newest operation of the joined run
	Landed    []JoinedOp
	Same      []JoinedOp // operations that the other side already has
	Conflicts []*join.Conflict
	Lost      string // ref of the tip that was here

	refs []git.RefUpdate // conflict records
	tips []object.OID    // commits made, including conflict records
}

// JoinedOp is an operation and its counterpart after the join; Op is "" for one the other side has.
type JoinedOp struct {
	Origin object.OID
	Op     object.OID
	Name   string
	Turn   string
}

// sideOp is an operation of one side, replayed where it was recorded.
type sideOp struct {
	info chain.OpInfo
	rec  *protocol.Record
	then *protocol.Snapshot   // what it was decided on
	was  *protocol.Transition // nil for one that cannot be replayed
}

// JoinRun computes the join of a run and writes its objects; no ref moves. The caller holds the lock, and has
// verified both tips.
func (s *Store) JoinRun(ctx context.Context, name string, ours, theirs object.OID, reindex Reindex) (*Joined, error) {
	base, err := history.MergeBase(ctx, s.repo, ours, theirs)
	if err != nil {
		return nil, err
	}
	if base == "" {
		return nil, ForeignRun(name, theirs)
	}
	j := &Joined{Run: name, Base: base, Lost: record.LostRefPrefix + name + "/" + string(ours)}
	their := join.NewTheirOps()
	if err := s.eachOp(ctx, base, theirs, func(o sideOp) error {
		their.Add(o.rec, o.then, o.was != nil && o.was.Failure == nil)
		return nil
	}); err != nil {
		return nil, err
	}
	r := s.reader(ctx)
	cur, err := chain.At(r, name, theirs)
	if err != nil {
		return nil, err
	}
	lost := make(map[string]bool) // turns assigned by operations that fail
	err = s.eachOp(ctx, base, ours, func(o sideOp) error {
		same := len(j.Same)
		next, err := s.joinOp(ctx, j, cur, o, their, lost, reindex)
		switch {
		case err != nil:
		case next != nil:
			cur = next
		case o.info.Op == ours && len(j.Same) > same:
			err = keepSame(ctx, s.repo, j, cur.Op, o)
		}
		return err
	})
	if err != nil {
		s.abandonJoin(j)
		return nil, err
	}
	j.Tip = cur.Op
	return j, nil
}

// ForeignRun returns the error for a run with the same name but no common operation: usually one side restored it
// without its record.
func ForeignRun(name string, tip object.OID) *fail.Error {
	return fail.Errorf(record.CodeForeignRun, nil, "the run %s at operation %s shares no operation with the one here",
		name, tip.Short()).
		WithHint("if this clone restored it without its record: git agentxchain export -o FILE, then in a fresh clone " +
			"git agentxchain sync, then git agentxchain restore FILE --no-record, which records it on top; " +
			"else ask the person who pushed it")
}

// eachOp replays the operations after base up to tip, oldest first.
func (s *Store) eachOp(ctx context.Context, base, tip object.OID, f func(sideOp) error) error {
	if base == tip {
		return nil
	}
	ops, err := chain.Since(ctx, s.repo, base, tip)
	if err != nil {
		return err
	}
	p := &proof.Replayer{Reader: s.reader(ctx)}
	c, err := p.Reader.Commit(base)
	if err != nil {
		return err
	}
	prev := c.Tree
	for _, info := range ops {
		if p.Prev != prev {
			if err := p.Rebase(prev); err != nil {
				return err
			}
		}
		o := sideOp{info: info}
		if o.rec, err = p.Reader.Record(info.Tree); err != nil {
			return err
		}
		root, err := p.Reader.Entries(info.Tree)
		if err != nil {
			return err
		}
		cfg, err := p.ConfigOf(root, info.Tree)
		if err != nil {
			return err
		}
		if o.then, err = p.Snapshot(cfg); err != nil {
			return err
		}
		if o.rec.Op != nil {
			diffs, err := p.Replay(info.Tree, o.rec)
			if err != nil {
				return err
			}
			if len(diffs) == 0 {
				o.was = p.Last
			}
			p.Reader.KeepRightEdge(info.Tree)
		}
		if err := f(o); err != nil {
			return err
		}
		prev = info.Tree
	}
	return nil
}

// joinOp decides one operation of ours again and records the outcome. It returns the new operation, nil when there
// is none.
func (s *Store) joinOp(ctx context.Context, j *Joined, cur *chain.RecordedRun, o sideOp, their *join.TheirOps,
	lost map[string]bool, reindex Reindex) (*chain.RecordedRun, error) {
	p := &proof.Replayer{Reader: cur.Reader}
	if err := p.Rebase(cur.Root); err != nil {
		return nil, err
	}
	root, err := cur.Reader.Entries(cur.Root)
	if err != nil {
		return nil, err
	}
	cfgTree := cur.Root
	if _, adopts := o.rec.Op.(*protocol.AdoptConfig); adopts {
		cfgTree = o.info.Tree
		if root, err = cur.Reader.Entries(cfgTree); err != nil {
			return nil, err
		}
	}
	cfg, err := p.ConfigOf(root, cfgTree)
	if err != nil {
		return nil, err
	}
	snap, err := p.Snapshot(cfg)
	if err != nil {
		return nil, err
	}
	as := JoinedOp{Origin: o.info.Op, Name: o.info.Name, Turn: o.info.Turn}
	rec, there, refusal, err := onRowThere(cur.Reader, cur.Root, o.rec, lost)
	if err != nil {
		return nil, err
	}
	var tr *protocol.Transition
	if refusal == nil && !there {
		o.rec = join.WithoutNewIntent(rec, o.was)
		tr, refusal = join.Decide(their, snap, o.rec, o.then, o.was)
		if tr != nil {
			if without := join.WithoutNewMail(o.rec, snap, o.was, tr); without != nil {
				o.rec = without
				tr, refusal = join.Decide(their, snap, o.rec, o.then, o.was)
			}
		}
	}
	if refusal != nil && refusal.Reason == join.Refused && lost[o.info.Turn] {
		refusal = join.FollowsFrom(o.rec.Op, o.info.Turn)
	}
	switch {
	case refusal != nil && refusal.Moot(o.rec.Op):
		_, err := keepConflict(ctx, s.repo, j, cur.Op, o, refusal, join.ConflictSettled)
		return nil, err
	case refusal != nil:
		if o.info.Turn != "" {
			lost[o.info.Turn] = true
		}
		return nil, addConflict(ctx, s.repo, j, cur.Op, o, refusal)
	case tr == nil:
		j.Same = append(j.Same, as)
		return nil, nil
	}
	made, err := s.landOp(ctx, j, cur, o, tr, snap, cfgTree, reindex)
	if fail.CodeOf(err) == record.CodeLedgerTampered && len(tr.Amends) > 0 {
		return nil, addConflict(ctx, s.repo, j, cur.Op, o, &join.Refusal{
			Reason:  join.Refused,
			Message: "it changes a row of a ledger that is another one there",
			Ways:    join.WaysOf(o.rec.Op),
		})
	}
	if err != nil {
		return nil, err
	}
	as.Op = made.Op
	j.Landed = append(j.Landed, as)
	return made, nil
}

// landOp writes an operation that succeeds on top of cur.
func (s *Store) landOp(ctx context.Context, j *Joined, cur *chain.RecordedRun, o sideOp, tr *protocol.Transition,
	snap *protocol.Snapshot, cfgTree object.OID, reindex Reindex) (*chain.RecordedRun, error) {
	_, back, err := checkState(tr.State)
	if err != nil {
		return nil, err
	}
	state := back.Encode()
	d := &record.Derivation{Root: cur.Root, Marks: make(map[wire.Ledger]record.LedgerMark)}
	if d.Edit, err = cur.Reader.Edit(cur.Root); err != nil {
		return nil, err
	}
	if reindex != nil {
		was, had, err := cur.Reader.File(cur.Root, record.FileBundleIndex)
		if err != nil {
			return nil, err
		}
		if !had {
			was = nil
		}
		if doc := reindex(snap.Config, snap.State, tr, was, o.rec.Env.Time()); doc != nil {
			tr.Documents[wire.DocDispatchIndex] = doc
		}
	}
	if err := d.Apply(tr, state); err != nil {
		return nil, err
	}
	if cfgTree != cur.Root {
		root, err := cur.Reader.Entries(cfgTree)
		if err != nil {
			return nil, err
		}
		if err := d.Edit.Take(root, record.FileConfig); err != nil {
			return nil, err
		}
	}
	if err := s.carryBundles(cur.Reader, d.Edit, o); err != nil {
		return nil, err
	}
	origin := o.info.Origin
	if origin == "" {
		origin = o.info.Op
	}
	plan := commitPlan{
		run:     j.Run,
		parent:  cur,
		record:  o.rec,
		subject: tr.Subject,
		turn:    tr.Turn,
		role:    tr.Role,
		state:   state,
		drops:   tr.DropTurns,
		unstage: tr.Unstage,
		origin:  origin,
	}
	made, ref, err := s.buildCommit(d.Edit, plan)
	if err != nil {
		return nil, err
	}
	if err := s.objects.Write(ctx, d.Edit.Objects); err != nil {
		return nil, err
	}
	j.tips = append(j.tips, ref.New)
	proof.NoteOwn(s.repo, j.Run, o.rec.Name, cur.Op, made.Op)
	return made, nil
}

// carryBundles copies the dispatch bundles that the operation made.
func (s *Store) carryBundles(r *record.Reader, edit *record.Edit, o sideOp) error {
	had := make(map[string]object.OID)
	parent, err := r.Commit(o.info.Parents[0])
	if err != nil {
		return err
	}
	before, err := r.List(parent.Tree, record.DirBundles)
	if err != nil {
		return err
	}
	for _, e := range before {
		had[e.Name] = e.OID
	}
	after, err := r.List(o.info.Tree, record.DirBundles)
	if err != nil {
		return err
	}
	for _, e := range after {
		if e.IsTree() && record.SafeName(e.Name) && had[e.Name] != e.OID {
			if err := edit.PutEntry(record.DirBundles+"/"+e.Name, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// CommitJoin moves the refs: first those that keep things, the run last. An interruption in between leaves the run
// where it was, and repeating the same join yields the same ids.
func (s *Store) CommitJoin(ctx context.Context, j *Joined, ours object.OID) error {
	kept := append(slices.Clip(j.refs), git.RefUpdate{Name: j.Lost, New: ours})
	var fresh []git.RefUpdate
	for _, u := range kept {
		have, err := s.repo.ReadRef(ctx, u.Name)
		if err != nil {
			return err
		}
		if have == "" {
			fresh = append(fresh, u)
		}
	}
	const why = "agentxchain: joined with another machine"
	err := s.repo.UpdateRefs(ctx, fresh, why)
	if err == nil {
		err = s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: git.RunRefPrefix + j.Run, New: j.Tip, Old: ours}}, why)
	}
	if err != nil && fail.CodeOf(err) != fail.CodeWorkBehind {
		s.abandonJoin(j)
		return err
	}
	made := make([]git.RefUpdate, len(j.tips))
	for i, oid := range j.tips {
		made[i] = git.RefUpdate{New: oid}
	}
	if rerr := s.repo.Reached(made); err == nil {
		err = rerr
	}
	return err
}

func (s *Store) abandonJoin(j *Joined) {
	for _, oid := range j.tips {
		s.repo.Abandon(git.RefUpdate{New: oid})
	}
}

// SettleJoin moves the working files to a run that was joined while they were at an operation that was decided
// again: after an interrupted sync, or one in another work tree. The caller holds the lock. What the files held is
// kept.
func (s *Store) SettleJoin(ctx context.Context) (string, error) {
	name, tip, err := s.leftByJoin(ctx)
	if err != nil || name == "" {
		return "", err
	}
	if err := proof.Believe(ctx, s.repo, name, tip); err != nil {
		return "", err
	}
	plan, err := s.repairFromRef(ctx, RepairOptions{Run: name})
	if err != nil {
		return "", fail.Errorf(fail.CodeWorkBehind, err,
			"run %s is joined, but the working files could not be brought up to operation %s", name, tip.Short()).
			WithHint("remove the cause and run any git agentxchain command: it completes them")
	}
	return "brought the working files to operation " + plan.Op.Short() + " of run " + name +
		", which was joined with another machine", nil
}

// leftByJoin returns the run of this work tree and its newest operation when the working files are still at an
// operation that a join decided again, else "". The stat cache or else the files tell which operation that is: a power
// cut may take the cache or bring an older one back, and a repair drops it.
func (s *Store) leftByJoin(ctx context.Context) (name string, tip object.OID, err error) {
	c := s.readCache()
	if c != nil && c.Run != "" {
		name = c.Run
	} else if name = s.CurrentRun(); name == "" {
		return "", "", nil
	}
	tip, err = chain.Tip(ctx, s.repo, name)
	if err != nil || tip == "" || c != nil && tip == c.Op {
		return "", "", nil // the next look reports a ref that cannot be read
	}
	lost, err := s.repo.Tips(ctx, record.LostRefPrefix+name+"/")
	if err != nil || len(lost) == 0 {
		return "", "", err
	}
	ops, err := history.CommitsLeft(ctx, s.repo, slices.Collect(maps.Values(lost)), tip)
	if err != nil {
		return "", "", context.Cause(ctx) // fsck reports a ref of lost operations that leads nowhere
	}
	_, docs, err := s.readDocs()
	if err != nil {
		return "", "", nil // the next look reports it
	}
	state := wire.Digest(docs[wire.DocState].data)
	r := s.reader(ctx)
	for _, id := range ops {
		left := c != nil && id == c.Op
		if !left {
			op, err := chain.Operation(r, id)
			if err != nil {
				return "", "", err
			}
			if op.StateDigest == state {
				if left, err = s.filesAt(r, docs, name, id, tip); err != nil {
					return "", "", err
				}
			}
		}
		if left {
			return name, tip, nil
		}
	}
	return "", "", nil
}

// filesAt reports whether the working files were at operation was of a run when its ref moved to tip, and have not
// all followed. The state follows last, and is known to be the one of was; any other file is the one of either.
func (s *Store) filesAt(r *record.Reader, docs map[wire.Document]document, name string, was, tip object.OID) (bool,
	error) {
	old, err := chain.At(r, name, was)
	if err != nil {
		return false, err
	}
	now, err := chain.At(r, name, tip)
	if err != nil {
		return false, err
	}
	left := false
	for _, d := range wire.Documents() {
		then, err := old.DocOID(d)
		if err != nil {
			return false, err
		}
		next, err := now.DocOID(d)
		if err != nil {
			return false, err
		}
		if have := s.docOID(docs[d]); have != then && have != next {
			return false, nil
		}
		left = left || d == wire.DocState && then != next
	}
	for _, l := range wire.Ledgers() {
		diff, err := s.compare(now, l)
		if err != nil {
			return false, err
		}
		if diff.Kind == record.Same {
			continue
		}
		if diff, err = s.compare(old, l); err != nil || diff.Kind != record.Same {
			return false, err
		}
		left = true
	}
	return left, nil
}

// settleJoined is SettleJoin for a look at the run, which takes the lock for it.
func (s *Store) settleJoined(ctx context.Context) (string, error) {
	if name, _, err := s.leftByJoin(ctx); err != nil || name == "" {
		return "", err
	}
	if s.held == nil {
		lock, err := lockfile.Acquire(ctx, s.lockPath(), "following a joined run", restoreWait)
		if err != nil {
			return "", err
		}
		defer func() { _ = lock.Release() }()
	}
	return s.SettleJoin(ctx)
}

// With adds the outcome of another try.
func (j *Joined) With(next *Joined) *Joined {
	if j == nil {
		return next
	}
	next.Conflicts = append(slices.Clip(j.Conflicts), next.Conflicts...)
	next.Same = append(slices.Clip(j.Same), next.Same...)
	return next
}
