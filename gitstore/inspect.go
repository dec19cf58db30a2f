// Finding out how the working files relate to the recorded run, without changing anything.

package gitstore

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// situation is how the working files relate to the recorded run.
type situation int

const (
	sitIdle     situation = iota // no run in state.json
	sitClean                     // the files are exactly what the run's last operation recorded
	sitBehind                    // the ref is ahead: after a crash, or because of another work tree
	sitExternal                  // another tool changed the files in a permitted way
	sitAdopt                     // another tool started the run: no ref yet
)

// inspection is the result of inspecting the project.
type inspection struct {
	sit    situation
	run    string // run in state.json, or the run being entered
	config []byte // in the work tree
	// governs is the configuration by which the run is judged; nil until known.
	governs []byte
	// judged is the configuration by which an ended run was judged, if the working one differs.
	judged []byte
	docs   map[wire.Document]document
	// against tip; sitClean, sitExternal, and sitIdle or sitAdopt after a known run
	diffs map[wire.Ledger]*record.LedgerDiff

	tip     *chain.RecordedRun // what the run's ref holds; nil for sitIdle, sitAdopt
	open    []proof.Claim      // claims of tip's chain that no person has confirmed
	arrived []proof.Arrival    // decisions of people that have just arrived with the chain
	past    []proof.Arrival    // earlier ones, the newest few
	before  *chain.RecordedRun // the run this work tree was in before sitIdle or sitAdopt, or nil
	lost    *LostRun           // sitAdopt: the run was recorded, but its ref is gone; else nil
	forward *workdir.Plan      // sitBehind: what brings the files to tip
	steps   int                // sitBehind: operations between the files and tip, 0 when unknown
}

// inspect inspects the project without locking or writing. If another process commits in between it starts again: a
// torn view must not be mistaken for tampering.
func (s *Store) inspect(ctx context.Context) (*inspection, error) {
	const attempts = 5
	for try := 1; ; try++ {
		in, ref, err := s.inspectOnce(ctx)
		if try == attempts || err == nil && ref == "" {
			return in, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if ref == "" {
			return in, err
		}
		now, rerr := chain.Tip(ctx, s.repo, in.run)
		if rerr != nil || now == in.seen() {
			return in, err
		}
	}
}

// seen returns the operation that the inspection took for the tip.
func (in *inspection) seen() object.OID {
	if in == nil || in.tip == nil {
		return ""
	}
	return in.tip.Op
}

// inspectOnce is a single inspection. ref is the name of the ref it depended on, if any; in is returned even with
// an error once the run is known.
func (s *Store) inspectOnce(ctx context.Context) (in *inspection, ref string, err error) {
	in = &inspection{diffs: make(map[wire.Ledger]*record.LedgerDiff)}
	cache := s.readCache()
	if in.config, in.docs, err = s.readDocs(); err != nil {
		return nil, "", err
	}
	r := s.reader(ctx)
	if note := s.readEntering(); note != nil {
		found, err := s.inspectEntering(in, r, note)
		if found && err == nil {
			err = s.govern(in)
		}
		if found || err != nil {
			return in, in.run, err
		}
	}
	run, err := runOf(in.docs[wire.DocState])
	if err != nil {
		return nil, "", err
	}
	in.run = run
	if cache != nil && cache.Run != run {
		in.before = s.recordedFrom(r, cache)
	}
	if in.before != nil && !in.docs[wire.DocState].exists {
		if s.Beside(ctx).Of(ctx, in.before.Op) == nil {
			return nil, "", s.stateGone(ctx, cache)
		}
		in.before = nil // the directory is a copy of that project's, and its copies of the run are gone
	}
	if run == "" {
		in.sit = sitIdle
		return in, "", s.checkContinuity(in)
	}
	tip, err := chain.Tip(ctx, s.repo, run)
	if err != nil {
		return nil, "", err
	}
	if tip == "" {
		in.sit = sitAdopt
		if in.lost, err = s.lostRef(ctx, run, cache); err != nil {
			return nil, "", err
		}
		if err := s.checkContinuity(in); err != nil {
			return in, run, err
		}
		return in, run, s.checkAdopted(in)
	}
	if err := s.inspectRun(ctx, in, r, cache, tip); err != nil {
		return in, run, err
	}
	if err = s.govern(in); err == nil {
		err = s.refuseCopied(ctx, in)
	}
	return in, run, err
}

// readDocs reads the configuration and every document.
func (s *Store) readDocs() (config []byte, docs map[wire.Document]document, err error) {
	docs = make(map[wire.Document]document)
	for _, d := range wire.Documents() {
		data, _, ok, err := s.work.Read(string(d), workdir.MaxDocument)
		if err != nil {
			return nil, nil, unreadable(string(d), err)
		}
		docs[d] = document{data, ok}
	}
	if config, err = s.work.Config(); err != nil {
		return nil, nil, err
	}
	return config, docs, nil
}

// runOf returns the run id in the bytes of state.json, "" for none.
func runOf(state document) (string, error) {
	if !state.exists {
		return "", nil
	}
	o, err := ojson.DecodeObject(state.data)
	if err != nil {
		return "", fail.Errorf(wire.CodeInvalidState, err, "%s is not valid JSON", wire.DocState).WithHint("%s",
			record.RepairHint)
	}
	v, _ := o.Get("run_id")
	switch run := v.(type) {
	case nil:
		return "", nil
	case string:
		if _, err := git.RunRef(run); err != nil {
			return "", fail.Errorf(wire.CodeInvalidState, err, "%s names a run that cannot be recorded",
				wire.DocState).WithHint("%s", record.RepairHint)
		}
		return run, nil
	}
	return "", fail.Errorf(wire.CodeInvalidState, nil, "%s: run_id must be a string or null, not %s", wire.DocState,
		ojson.TypeName(v)).
		WithHint("%s", record.RepairHint)
}

// inspectRun compares the working files with a run that has a ref.
func (s *Store) inspectRun(ctx context.Context, in *inspection, r *record.Reader, cache *statCache,
	tip object.OID) error {
	if err := s.pass(ctx, in, in.run, tip); err != nil {
		return err
	}
	var at *chain.RecordedRun // where the files are according to the cache
	if cache != nil && cache.Run == in.run {
		at = s.recordedFrom(r, cache)
	}
	if at != nil && at.Op == tip {
		in.tip = at
		same, err := s.diffAll(in)
		if err != nil || same {
			in.sit = sitClean
			return err
		}
		in.sit = sitExternal
		return s.checkExternal(in)
	}
	var err error
	if in.tip, err = chain.At(r, in.run, tip); err != nil {
		return err
	}
	if at == nil {
		same, err := s.diffAll(in)
		if err != nil || same {
			in.sit = sitClean
			return err
		}
	}
	past, err := s.pastOf(in, at)
	if err != nil {
		return err
	}
	if past.steps == 0 {
		in.sit = sitExternal
		return s.checkExternal(in)
	}
	plan, refusal, err := s.planForward(in, past)
	if err != nil {
		return err
	}
	if refusal == nil {
		in.sit, in.forward, in.steps = sitBehind, plan, past.steps
		return nil
	}
	// The files may have reached the tip, with the cache lost or stale, and been changed by another tool since.
	// Only an older state proves that they had not.
	tipState, err := in.tip.DocOID(wire.DocState)
	if err != nil {
		return err
	}
	if have := s.docOID(in.docs[wire.DocState]); have != tipState && past.states[have] {
		return refusal
	}
	if at != nil {
		if _, err := s.diffAll(in); err != nil {
			return err
		}
	}
	in.sit = sitExternal
	return s.checkExternal(in)
}

// pass verifies the operations up to tip (see proof.Verify) and notes the open claims.
func (s *Store) pass(ctx context.Context, in *inspection, run string, tip object.OID) error {
	v, err := proof.Verify(ctx, s.repo, run, tip)
	if err != nil {
		return err
	}
	in.open, in.arrived, in.past = v.Open, v.Arrived, v.Past
	return v.Err()
}

// docOID returns the blob id of a document, "" when it is absent.
func (s *Store) docOID(d document) object.OID {
	if !d.exists {
		return ""
	}
	return object.Hash(s.repo.ObjectFormat, object.KindBlob, d.data)
}

// diffAll compares every governed file with in.tip and reports whether all are the same.
func (s *Store) diffAll(in *inspection) (same bool, err error) {
	same = true
	for _, d := range wire.Documents() {
		oid, err := in.tip.DocOID(d)
		if err != nil {
			return false, err
		}
		same = same && oid == s.docOID(in.docs[d])
	}
	for _, l := range wire.Ledgers() {
		diff, err := s.compare(in.tip, l)
		if err != nil {
			return false, err
		}
		in.diffs[l] = diff
		same = same && diff.Kind == record.Same
	}
	return same, nil
}

// checkContinuity checks that ledgers, which outlive runs, still begin with what the last run known to this work
// tree recorded: removing a run id from state.json must not bypass the ledgers' protection.
func (s *Store) checkContinuity(in *inspection) error {
	if in.before == nil {
		return nil
	}
	for _, l := range wire.Ledgers() {
		diff, err := s.compare(in.before, l)
		if err != nil {
			return err
		}
		in.diffs[l] = diff
		switch diff.Kind {
		case record.Foreign:
			return record.Tampered(l, diff.Line, "%s", diff.Why)
		case record.Shorter:
			return record.Tampered(l, 0, "rows that run %s recorded are gone", in.before.Run)
		case record.Extended, record.Amended:
			if err := diff.CheckAppended(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// notice describes a situation that the next writing command will settle.
func (in *inspection) notice() string {
	switch in.sit {
	case sitBehind:
		if in.steps == 1 {
			return fmt.Sprintf("the working files are one operation behind run %s; the next command will complete them", in.run)
		}
		return fmt.Sprintf("the working files are behind run %s; the next command will complete them", in.run)
	case sitExternal:
		return "another tool changed " + in.changedFiles() + "; the next command will record it"
	case sitAdopt:
		if in.lost != nil {
			return in.lost.Notice()
		}
		return fmt.Sprintf("another tool began run %s; nothing of it is recorded until a person adopts it: git agentxchain repair --adopt", in.run)
	}
	return ""
}

// document is a governed document in the work tree.
type document struct {
	data   []byte
	exists bool
}
