// Checks of the work tree: governed files, lock, leftovers.

package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// repairFromRef is the command that restores working files that differ from the recorded run.
const repairFromRef = "git agentxchain repair --from-ref"

// workCheck is a check of the work tree.
type workCheck struct {
	*Store
	ctx    context.Context
	before []proof.Finding // findings in the record
	found  []proof.Finding
}

func (f *workCheck) find(v proof.Finding) { f.found = append(f.found, v) }

// fault turns an error met while checking into a finding.
func (f *workCheck) fault(run string, op object.OID, err error) error {
	if err == nil {
		return nil
	}
	e, err := proof.Blame(f.ctx, err)
	if e != nil {
		f.find(proof.Finding{Code: e.Code, Run: run, Op: op, Message: e.Error(), Repair: e.Hint})
	}
	return err
}

// Fsck checks the runs of the repository and the working files without changing anything.
func (s *Store) Fsck(ctx context.Context, opt proof.Options) (*proof.Report, error) {
	if s.work == nil {
		return proof.Check(ctx, s.repo, nil, opt)
	}
	if _, err := s.SettleRestore(ctx); err != nil {
		return nil, err
	}
	if _, err := s.settleJoined(ctx); err != nil {
		return nil, err
	}
	return proof.Check(ctx, s.repo, s, opt)
}

// SeenRun returns the run that state.json names, "" unless this work tree was in it before.
func (s *Store) SeenRun() string {
	data, _, ok, err := s.work.Read(string(wire.DocState), workdir.MaxDocument)
	if err != nil {
		return ""
	}
	run, err := runOf(document{data, ok})
	if c := s.readCache(); err != nil || c == nil || c.Run != run {
		return ""
	}
	return run
}

// CheckWork checks the work tree and reads every governed file, without the stat cache. run is proof.Options.Run;
// before holds the findings in the record.
func (s *Store) CheckWork(ctx context.Context, run string, before []proof.Finding) ([]proof.Finding, error) {
	f := &workCheck{Store: s, ctx: ctx, before: before}
	if current := s.CurrentRun(); run == "" || run == "*" || run == current {
		if err := f.workFiles(current); err != nil {
			return nil, err
		}
	}
	f.lock()
	f.leftovers()
	return f.found, nil
}

func (f *workCheck) workFiles(run string) error {
	s := f.Store
	_, docs, err := s.readDocs()
	if err != nil {
		return f.fault(run, "", err)
	}
	if run == "" {
		if data := docs[wire.DocState]; data.exists {
			_, err = decodeWorkingState(data)
		}
		f.plain(run, string(wire.DocState), err)
		return nil
	}
	tip, err := chain.Tip(f.ctx, s.repo, run)
	if err != nil {
		return f.fault(run, "", err)
	}
	if tip == "" {
		// Changes that the next command refuses are findings, not notes that they will be recorded.
		in, err := s.inspect(f.ctx)
		if err != nil {
			return f.fault(run, "", err)
		}
		if in.lost != nil {
			return nil // known reports it
		}
		f.find(proof.Finding{
			Code:    proof.FindWork,
			Run:     run,
			Path:    string(wire.DocState),
			Note:    true,
			Message: "another tool began the run, and its rows account for it; a person adopts it with git agentxchain repair --adopt",
		})
		return nil
	}
	// Files are not compared with an invalid record.
	if err := proof.Believe(f.ctx, s.repo, run, tip); err != nil {
		return f.fault(run, "", err)
	}
	rec, err := chain.At(s.reader(f.ctx), run, tip)
	if err != nil {
		return f.fault(run, tip, err)
	}
	if !docs[wire.DocState].exists && !s.exists(record.ProjectDir) {
		f.find(proof.Finding{
			Code:    proof.FindWork,
			Run:     run,
			Path:    record.ProjectDir,
			Message: "the run is recorded, but this work tree has no governed files",
			Repair:  repairFromRef,
		})
		return nil
	}
	differs := false
	for _, d := range wire.Documents() {
		want, err := rec.DocOID(d)
		if err != nil {
			return f.fault(run, tip, err)
		}
		if want != s.docOID(docs[d]) {
			differs = true
		}
	}
	for _, l := range wire.Ledgers() {
		diff, err := s.compare(rec, l)
		if err != nil {
			if err := f.fault(run, tip, err); err != nil {
				return err
			}
			continue
		}
		differs = differs || diff.Kind != record.Same
		if diff.Kind == record.Foreign {
			e := record.Tampered(l, diff.Line, "%s", diff.Why)
			f.find(proof.Finding{
				Code:    e.Code,
				Run:     run,
				Op:      tip,
				Path:    l.Path(),
				Message: e.Message,
				Repair:  repairFromRef,
			})
		}
	}
	if differs {
		return f.explainWork(run)
	}
	return nil
}

// explainWork says what the next command would do with files that differ from the recorded run.
func (f *workCheck) explainWork(run string) error {
	in, err := f.inspect(f.ctx)
	if err == nil {
		if n := in.notice(); n != "" {
			f.find(proof.Finding{Code: proof.FindWork, Run: run, Op: in.seen(), Message: n, Note: true})
			return nil
		}
		if in.sit == sitClean {
			// A full read sees changes that the stat cache misses.
			f.find(proof.Finding{
				Code:    proof.FindWork,
				Run:     run,
				Op:      in.seen(),
				Message: "governed files changed although their size and times did not",
				Repair:  repairFromRef,
			})
		}
		return nil
	}
	var e *fail.Error
	if errors.As(err, &e) && e.Code == record.CodeLedgerTampered && f.reported(e.Message) {
		return nil
	}
	if pe, ok := errors.AsType[*wire.Error](err); ok {
		f.find(proof.Finding{
			Code:    pe.Code,
			Run:     run,
			Path:    string(wire.DocState),
			Message: pe.Message,
			Repair:  repairFromRef,
		})
		return nil
	}
	if errors.As(err, &e) && (e.Code == record.CodeLedgerTampered || e.Code == record.CodeStateTampered ||
		e.Code == wire.CodeInvalidState) {
		f.find(proof.Finding{Code: e.Code, Run: run, Message: e.Error(), Repair: repairFromRef})
		return nil
	}
	return f.fault(run, "", err)
}

func (f *workCheck) reported(message string) bool {
	same := func(v proof.Finding) bool { return v.Message == message }
	return slices.ContainsFunc(f.before, same) || slices.ContainsFunc(f.found, same)
}

// plain reports an error in a working file that no run recorded.
func (f *workCheck) plain(run, name string, err error) {
	var pe *wire.Error
	var e *fail.Error
	switch {
	case errors.As(err, &pe):
		f.find(proof.Finding{Code: pe.Code, Run: run, Path: name, Message: pe.Message})
	case errors.As(err, &e):
		f.find(proof.Finding{Code: e.Code, Run: run, Path: name, Message: e.Error(), Repair: e.Hint})
	}
}

// lock reports who holds the lock, or that it was left behind.
func (f *workCheck) lock() {
	l, err := git.ReadLock(f.lockPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	v := proof.Finding{Code: proof.FindLock, Path: wire.LockPath, Note: true}
	switch {
	case err != nil:
		v.Note, v.Message = false, "the lock cannot be read: "+err.Error()
	default:
		if h := l.Held(time.Now()); h != nil {
			v.Message = "a command is at work: " + h.Error()
		} else {
			v.Message = "a process that is gone left its lock; the next command takes it over"
		}
	}
	f.find(v)
}

// leftovers lists what interrupted commands left: the next command that completes working files removes it.
func (f *workCheck) leftovers() {
	for _, name := range f.work.Temps() {
		f.find(proof.Finding{
			Code:    proof.FindLeftover,
			Path:    name,
			Note:    true,
			Message: "an interrupted command left " + name,
			Repair:  "rm " + wire.ShellWord(name),
		})
	}
	if journals, err := f.readJournals(); err == nil {
		for _, j := range journals {
			f.find(proof.Finding{
				Code: proof.FindLeftover,
				Path: j.path,
				Note: true,
				Message: "another tool prepared the acceptance of " + j.turn +
					" and did not finish; the next command completes it",
			})
		}
	}
}
