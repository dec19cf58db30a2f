// Reading a run as it is recorded at its ref, whether or not it is the one of this
// work tree.

package gitstore

import (
	"context"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RecordedRun is a run as one operation recorded it: whatever is read of it is of
// that moment, and nothing of the working files. It takes no lock and starts no
// process once it is open. Not for use by several goroutines at once.
type RecordedRun struct {
	Run string
	Op  git.OID // the operation it is read at

	rec *recorded
}

// RunTip returns the newest operation of a run, "" when the run has no record here.
func (s *Store) RunTip(ctx context.Context, run string) (git.OID, error) { return s.readRun(ctx, run) }

// newest is RunTip of a run that has to have a record; without one the error is no_run. An
// archived run whose operations are not here is fetched.
func (s *Store) newest(ctx context.Context, run string) (git.OID, error) {
	op, err := s.readRun(ctx, run)
	if err == nil && op == "" {
		op, err = s.archivedTip(ctx, run)
	}
	if err == nil && op == "" {
		err = noRun(run)
	}
	if err != nil {
		return "", err
	}
	return op, s.operationOf(ctx, run, op)
}

// operationOf refuses what a run's ref leads to and is no operation of the run. Git would list the
// commits of another history as operations, and of a tree or a blob none.
func (s *Store) operationOf(ctx context.Context, run string, op git.OID) error {
	c, err := s.reader(ctx).Commit(op)
	if err != nil {
		return err
	}
	var info OpInfo
	if info.readMessage(c.Message); info.Name == "" || info.Run != run {
		return git.Errorf(record.CodeChainBroken, nil, "the ref of run %s leads to %s, which is no operation of it", run, op.Short()).
			WithHint("git agentxchain fsck --run %s, then fetch the run's ref from another clone", run)
	}
	return nil
}

// OpenRun opens a run at operation op, the newest one when op is "". An empty run is
// the one of this work tree.
//
// Errors: no_run, bad_ref_name, ref_is_symbolic, ref_broken, object_missing,
// object_corrupt; record_unproven for the newest operation of a chain that does not
// hold.
func (s *Store) OpenRun(ctx context.Context, run string, op git.OID) (*RecordedRun, error) {
	run, err := s.orCurrent(ctx, run)
	if err != nil {
		return nil, err
	}
	if op == "" {
		if op, err = s.newest(ctx, run); err != nil {
			return nil, err
		}
		if err := s.believe(ctx, run, op); err != nil {
			return nil, err
		}
	}
	rec, err := s.recordedAt(s.reader(ctx), run, op)
	if err != nil {
		return nil, err
	}
	return &RecordedRun{Run: run, Op: op, rec: rec}, nil
}

// newestOf is newest of a run, or of the one of this work tree when run is "", which it
// returns too.
func (s *Store) newestOf(ctx context.Context, run string) (string, git.OID, error) {
	run, err := s.orCurrent(ctx, run)
	if err != nil {
		return "", "", err
	}
	op, err := s.newest(ctx, run)
	return run, op, err
}

// orCurrent is a run, or the one of this work tree when run is "".
func (s *Store) orCurrent(ctx context.Context, run string) (string, error) {
	if run == "" {
		run = s.CurrentRun()
	}
	if run == "" {
		return "", s.noRunHere(ctx)
	}
	return run, nil
}

// noRunHere refuses to guess which of the recorded runs is meant.
func (s *Store) noRunHere(ctx context.Context) error {
	refs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return noRun("")
	}
	one := strings.TrimPrefix(refs[0].Name, git.RunRefPrefix)
	return git.Errorf(CodeNoRun, nil, "this work tree holds no run; git has the record of %d, such as %s", len(refs), one).
		WithHint("say which one, such as --run %s; git for-each-ref %s lists them", one, strings.TrimSuffix(git.RunRefPrefix, "/"))
}

// ConfigBytes are those of the configuration the operation was decided under.
func (x *RecordedRun) ConfigBytes() ([]byte, error) {
	data, ok, err := x.rec.r.File(x.rec.root, record.FileConfig)
	if err == nil && !ok {
		err = record.Malformed(x.rec.root, "there is no %s", record.FileConfig)
	}
	return data, err
}

// Config is the configuration the operation was decided under.
func (x *RecordedRun) Config() (*config.Config, error) {
	data, err := x.ConfigBytes()
	if err != nil {
		return nil, err
	}
	cfg, _, err := config.Decode(data)
	return cfg, err
}

// StateBytes are those of state.json after the operation.
func (x *RecordedRun) StateBytes() ([]byte, error) {
	data, ok, err := x.rec.r.File(x.rec.root, record.FileState)
	if err == nil && !ok {
		err = record.Malformed(x.rec.root, "there is no %s", record.FileState)
	}
	return data, err
}

// State is state.json after the operation, as it was written.
func (x *RecordedRun) State() (*run.State, error) {
	data, err := x.StateBytes()
	if err != nil {
		return nil, err
	}
	return decodeState(data)
}

// decodeState is run.DecodeState with an error that is nil when there is none.
func decodeState(data []byte) (*run.State, error) {
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
	}
	return st, nil
}

// Record is op.json: what the operation was, its arguments, time and actor.
func (x *RecordedRun) Record() (*ojson.Object, error) {
	data, ok, err := x.rec.r.File(x.rec.root, record.FileRecord)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, record.Malformed(x.rec.root, "there is no %s", record.FileRecord)
	}
	return ojson.DecodeObject(data)
}

// Rows yields the rows of a ledger from the first on. Ledgers outlive runs: rows of
// earlier runs come first and name them. One segment (some 16 KiB) is held at a
// time; lines that are no JSON objects are passed over.
func (x *RecordedRun) Rows(l wire.Ledger) iter.Seq2[run.Line, error] {
	return func(yield func(run.Line, error) bool) {
		segs, err := x.rec.r.Slots(x.rec.root, record.LedgerDir(l), false)
		if err != nil {
			yield(run.Line{}, err)
			return
		}
		for _, oid := range segs {
			data, err := x.rec.r.Blob(oid)
			if err != nil {
				yield(run.Line{}, err)
				return
			}
			for row := range record.RowsOf(data) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// Appended returns the rows a ledger has got since an earlier operation of the same
// run. It reads what differs. ok is false when rows were changed as well: whoever
// keeps them must read them all again.
func (x *RecordedRun) Appended(l wire.Ledger, since *RecordedRun) (rows []run.Line, ok bool, err error) {
	diff, err := x.rec.r.DiffLedger(since.rec.root, x.rec.root, l)
	if err != nil {
		return nil, false, err
	}
	if diff.Kind != record.Same && (diff.Kind != record.Extended || len(diff.Amends) > 0) {
		return nil, false, nil
	}
	return slices.Collect(record.RowsOf(diff.Appended)), true, nil
}

// File returns a governed file by its project-relative path: a document, a file of
// the bundle of an active turn, or one an operation created below .agentxchain (a
// review, a proposal, a rejected result). Ledgers are read with Rows.
func (x *RecordedRun) File(name string) (data []byte, ok bool, err error) {
	r, root := x.rec.r, x.rec.root
	for _, d := range wire.Documents() {
		if string(d) == name {
			return r.File(root, record.DocumentFile(d))
		}
	}
	if !record.SafeFile(name) && !strings.HasPrefix(name, wire.DispatchDir+"/") || path.Clean(name) != name {
		return nil, false, nil
	}
	if rest, found := strings.CutPrefix(name, wire.DispatchDir+"/"); found {
		return r.File(root, record.DirBundles+"/"+rest)
	}
	groups, err := r.Slots(root, record.DirFiles, true)
	if err != nil {
		return nil, false, err
	}
	for _, g := range slices.Backward(groups) { // a later operation's file counts
		e, found, err := r.Lookup(g, strings.TrimPrefix(name, record.ProjectDir+"/"))
		if err != nil {
			return nil, false, err
		}
		if found && !e.IsTree() {
			data, err = r.Blob(e.OID)
			return data, err == nil, err
		}
	}
	return nil, false, nil
}
