// The check behind fsck of everything a run depends on: objects, the chain of operations, the ledgers along it, and
// by replay the operations themselves.

package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Options of Check.
type Options struct {
	Run    string // "" is the current run, "*" every run of the repository
	Replay bool   // apply every operation again
	// Progress is called now and then with the operations done and their total, by one goroutine at a time.
	Progress func(done, total int)
}

// Finding codes of Check, in addition to the store's error codes.
const (
	FindRecord   = chain.CodeRecordInvalid // an operation's record, evidence, index or message is wrong
	FindReplay   = "replay_mismatch"       // an operation does not yield what was recorded
	FindRules    = "rules_earlier"         // an operation of another rule set is only compared
	FindWork     = "working_files"         // working files differ from the recorded run
	FindLeftover = "leftover"              // a file an interrupted command left behind
	FindLock     = "lock"                  // the lock is held, or was left behind
	FindLease    = "lease_invalid"         // a ref of a lease holds no lease of that turn, or its tokens went back
)

// Finding is one problem found.
type Finding struct {
	Code    string // stable token
	Run     string
	Op      object.OID // operation with the problem, or ""
	Path    string     // project-relative file or tree path, or ""
	Message string
	Repair  string // command to run, or ""
	Note    bool   // information only: nothing is wrong
}

// Report is the result of Fsck.
type Report struct {
	Findings []Finding
	Runs     int
	Ops      int
	Replayed int
	Skipped  int // operations that cannot be replayed: by another tool or rule set

	Initiatives int
	Changes     int // of sound initiatives
}

// Clean reports whether nothing is wrong.
func (r *Report) Clean() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Note })
}

// fetchRun is the repair of a run that is invalid here.
const fetchRun = "fetch the run from another clone"

// fetchInitiative is likewise of an initiative.
const fetchInitiative = "fetch the initiative from another clone of the workspace"

// WorkTree is the work tree of the project whose runs are checked, as the store sees it.
type WorkTree interface {
	// CurrentRun returns the run that state.json names, else the one this work tree was in.
	CurrentRun() string
	// SeenRun returns the run that state.json names, "" unless this work tree was in it before.
	SeenRun() string
	// BringBack returns a function that returns the command to recreate the ref of a run whose operations are still
	// here, "" where there is none.
	BringBack(ctx context.Context) func(run string) string
	Work() *workdir.Dir
	// CheckWork compares the working files with the record. run is Options.Run; found holds the findings so far.
	CheckWork(ctx context.Context, run string, found []Finding) ([]Finding, error)
}

// Check checks the runs of a repository without changing anything; tree is nil where there is no work tree.
// Problems of the repository or the project are in the report; an error means that the check could not be made.
func Check(ctx context.Context, repo *git.Repository, tree WorkTree, opt Options) (*Report, error) {
	defer repo.HoldRefs(git.RefSpace)() // each run reads its leases, conflicts, witnesses
	f := &checker{repo: repo, tree: tree, ctx: ctx, opt: opt, report: &Report{}}
	runs, err := f.runs()
	if err != nil {
		return nil, err
	}
	if err := f.chains(runs); err != nil {
		return nil, err
	}
	f.comparedOnly()
	for _, run := range runs {
		if err := f.leases(strings.TrimPrefix(run.Name, git.RunRefPrefix)); err != nil {
			return nil, err
		}
	}
	if opt.Run == "" || opt.Run == "*" {
		if err := f.known(); err != nil {
			return nil, err
		}
		if err := f.goneWitnessed(); err != nil {
			return nil, err
		}
	}
	if opt.Run == "*" {
		if err := f.initiatives("*"); err != nil {
			return nil, err
		}
	}
	if opt.Run == "*" && len(runs) == 0 {
		if err := f.unfetched(); err != nil {
			return nil, err
		}
	}
	if !f.bare() {
		found, err := tree.CheckWork(ctx, opt.Run, f.report.Findings)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			f.find(v)
		}
	}
	slices.SortStableFunc(f.report.Findings, func(a, b Finding) int { return strings.Compare(a.Run, b.Run) })
	// The checks of an operation and the walk over all objects both report an unreadable object.
	said := make(map[Finding]bool)
	f.report.Findings = slices.DeleteFunc(f.report.Findings, func(v Finding) bool {
		again := said[v]
		said[v] = true
		return again
	})
	return f.report, nil
}

type checker struct {
	repo   *git.Repository
	tree   WorkTree // nil without a work tree
	ctx    context.Context
	opt    Options
	mu     sync.Mutex
	report *Report
	of     map[string][]int // run -> indexes of its findings
	done   int
	total  int
	strict bool // rows of other tools must support each other, see borneOut
	first  bool // stop at the first invalid operation
	// What chains say about other runs: runs other tools made, and the last operation of the run before -> the run
	// that names it.
	elsewhere map[string]bool
	previous  map[object.OID]string

	others map[otherRules]otherOps // operations of other rule sets that were not replayed

	stored *storedCheck          // nil: objects are not checked
	seen   map[object.OID]seenOp // what operations did, beside their findings

	// Segments of ledgers that successive runs share, each examined once.
	heard onceSet                 // by heardIn
	rows  onceSet                 // by rowsHold; they are rows
	bring string                  // how to fetch a missing run
	back  func(run string) string // from the work tree's BringBack; nil until called

	Said map[string]*witness.Said // what witnesses said about every run; read once, by witnessed
}

// onceSet is a set of objects that need not be examined again.
type onceSet struct {
	mu   sync.Mutex
	done map[object.OID]bool
}

// segments passes each segment of a ledger that was not examined yet to look, in order, until look rejects one,
// which will be passed again; then all is false.
func (o *onceSet) segments(r *record.Reader, tree object.OID, l wire.Ledger, look func(data []byte) bool) (all bool,
	err error) {
	segs, err := r.Slots(tree, record.LedgerDir(l), false)
	if err != nil {
		return false, err
	}
	for _, oid := range segs {
		o.mu.Lock()
		done := o.done[oid]
		o.mu.Unlock()
		if done {
			continue
		}
		data, err := r.Blob(oid)
		if err != nil || !look(data) {
			return false, err
		}
		o.mu.Lock()
		if o.done == nil {
			o.done = make(map[object.OID]bool)
		}
		o.done[oid] = true
		o.mu.Unlock()
	}
	return true, nil
}

func (f *checker) find(v Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = make(map[string][]int)
	}
	f.of[v.Run] = append(f.of[v.Run], len(f.report.Findings))
	f.report.Findings = append(f.report.Findings, v)
}

// found counts the findings so far.
func (f *checker) found() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.report.Findings)
}

// fault turns an error met while checking into a finding. Errors that say nothing about the repository (a cancelled
// context, git missing) stay errors.
func (f *checker) fault(run string, op object.OID, err error) error {
	if err == nil {
		return nil
	}
	e, err := Blame(f.ctx, err)
	if e != nil {
		f.find(Finding{Code: e.Code, Run: run, Op: op, Message: e.Error(), Repair: e.Hint})
	}
	return err
}

// Blame separates errors about the repository from those that end the check.
func Blame(ctx context.Context, err error) (*fail.Error, error) {
	var e *fail.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !errors.As(err, &e), e.Code == fail.CodeGitFailed, e.Code == fail.CodeGitMissing,
		errors.Is(err, git.ErrShut):
		return nil, err
	}
	return e, nil
}

// past returns the archived runs that are here, with the names of run refs.
func (f *checker) past() ([]git.Ref, error) {
	tips, err := f.repo.Tips(f.ctx, archive.PastPrefix)
	if err == nil && f.bare() {
		err = f.withKept(tips)
	}
	if err != nil {
		return nil, err
	}
	var out []git.Ref
	for _, run := range slices.Sorted(maps.Keys(tips)) {
		out = append(out, git.Ref{Name: git.RunRefPrefix + run, OID: tips[run]})
	}
	return out, nil
}

// archivedTip returns the newest operation of an archived run, "" for none.
func (f *checker) archivedTip(run string) (object.OID, error) {
	if !f.bare() {
		return ArchivedTip(f.ctx, f.repo, run)
	}
	past, err := f.past()
	for _, ref := range past {
		if ref.Name == git.RunRefPrefix+run {
			return ref.OID, nil
		}
	}
	return "", err
}

// runs lists the refs to check.
func (f *checker) runs() ([]git.Ref, error) {
	if f.opt.Run != "*" {
		run := f.opt.Run
		if run == "" {
			run = f.tree.CurrentRun()
		}
		if run == "" {
			return nil, nil
		}
		tip, err := chain.Tip(f.ctx, f.repo, run)
		if err == nil && tip == "" && f.opt.Run != "" {
			tip, err = f.archivedTip(run)
		}
		if err != nil {
			return nil, f.fault(run, "", err)
		}
		if tip == "" {
			if f.opt.Run != "" {
				return nil, chain.NoRun(run)
			}
			return nil, nil // the next command adopts it; the work tree check says so
		}
		return []git.Ref{{Name: git.RunRefPrefix + run, OID: tip}}, nil
	}
	refs, err := f.repo.ListRefs(f.ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	past, err := f.past()
	if err != nil {
		return nil, err
	}
	refs = append(refs, past...)
	var out []git.Ref
	for _, ref := range refs {
		run := strings.TrimPrefix(ref.Name, git.RunRefPrefix)
		if _, err := git.RunRef(run); err != nil {
			f.find(Finding{
				Code:    fail.CodeBadRefName,
				Run:     run,
				Message: fmt.Sprintf("the ref %s cannot be a run", ref.Name),
				Repair:  "git update-ref -d " + ref.Name,
			})
		} else if f.leads(ref, run) {
			out = append(out, ref)
		}
	}
	return out, nil
}

// leads reports whether the ref of a run or an initiative holds an object id; otherwise it finds why not.
func (f *checker) leads(ref git.Ref, run string) bool {
	switch {
	case ref.Target != "":
		f.find(Finding{
			Code:    fail.CodeRefSymbolic,
			Run:     run,
			Message: fmt.Sprintf("the ref %s is symbolic", ref.Name),
			Repair:  "git symbolic-ref -d " + ref.Name,
		})
	case ref.Broken || ref.OID == "":
		f.find(Finding{
			Code:    fail.CodeRefBroken,
			Run:     run,
			Message: fmt.Sprintf("the ref %s holds no object id", ref.Name),
			Repair:  git.MendBroken(ref.Name),
		})
	default:
		return true
	}
	return false
}

// CheckRuns checks the operations of runs, whose tips are refs, as Check does with replay.
func CheckRuns(ctx context.Context, repo *git.Repository, refs []git.Ref) (*Report, error) {
	f := &checker{repo: repo, ctx: ctx, opt: Options{Replay: true}, report: &Report{}}
	return f.report, f.chains(refs)
}

// chains checks the runs from their first operations to their tips, and their objects.
func (f *checker) chains(refs []git.Ref) error {
	f.stored = newStoredCheck(f.repo)
	for _, ref := range refs {
		f.report.Runs++
		if err := f.operations(strings.TrimPrefix(ref.Name, git.RunRefPrefix), ref.OID); err != nil {
			return err
		}
	}
	if f.stored.sound() {
		return nil
	}
	return f.objects(refs)
}

// fsckChunk is how many operations one worker checks in a row. The first of each chunk costs some extra reads.
const fsckChunk = 64

// operations checks the chain in concurrent chunks: each operation is checked against what its predecessor
// recorded, so the order of checking is free.
func (f *checker) operations(run string, tip object.OID) error {
	ops, err := chain.Log(f.ctx, f.repo, tip, 0)
	if err != nil {
		// A damaged commit ends the log: objects reports it.
		if _, err := Blame(f.ctx, err); err != nil {
			return err
		}
		f.stored.doubt.Store(true)
		f.find(Finding{
			Code:    record.CodeChainBroken,
			Run:     run,
			Message: "the chain of operations cannot be read to its beginning",
			Repair:  fetchRun,
		})
		return nil
	}
	slices.Reverse(ops)
	f.mu.Lock()
	f.report.Ops += len(ops)
	f.mu.Unlock()
	f.shape(run, ops, 0)
	if err := f.span(run, ops, 0); err != nil {
		return err
	}
	f.conclude(run, ops)
	if err := f.witnesses(run, ops); err != nil {
		return err
	}
	if err := f.approvals(run, ops); err != nil {
		return err
	}
	if len(ops) > 0 {
		return f.fault(run, ops[0].Op, f.heritage(record.NewReader(f.ctx, f.repo), ops[0]))
	}
	return nil
}

// span checks the operations of ops beginning with from.
func (f *checker) span(run string, ops []chain.OpInfo, from int) error {
	f.mu.Lock()
	f.total += len(ops) - from
	before := len(f.report.Findings)
	f.mu.Unlock()
	if len(ops)-from <= fsckChunk {
		return f.check(run, ops, from, len(ops))
	}
	type chunk struct{ from, to int }
	work := make(chan chunk)
	errs := make([]error, max(1, min(runtime.GOMAXPROCS(0), 8)))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for c := range work {
				if errs[w] == nil {
					errs[w] = f.check(run, ops, c.from, c.to)
				}
			}
		})
	}
	for i := from; i < len(ops) && !(f.first && f.found() > before); i += fsckChunk {
		work <- chunk{i, min(i+fsckChunk, len(ops))}
	}
	close(work)
	wg.Wait()
	return failures.All(errs...)
}

// shape checks that the chain is linear and begins as a run may begin. The operations before from are already
// checked.
func (f *checker) shape(run string, ops []chain.OpInfo, from int) {
	for i, op := range ops {
		switch {
		case i < from:
		case i > 0 && len(op.Parents) != 1:
			f.find(Finding{
				Code:    record.CodeChainBroken,
				Run:     run,
				Op:      op.Op,
				Message: fmt.Sprintf("the operation has %d predecessors", len(op.Parents)),
				Repair:  fetchRun,
			})
		case i == 0 && op.Name != "init_run" && op.Name != protocol.OpExternal:
			f.find(Finding{
				Code:    record.CodeChainBroken,
				Run:     run,
				Op:      op.Op,
				Message: "the run's first operation is " + cmp.Or(op.Name, "unnamed"),
			})
		}
	}
}

// progress counts one operation.
func (f *checker) progress(replayed, skipped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done++
	if replayed {
		f.report.Replayed++
	}
	if skipped {
		f.report.Skipped++
	}
	if f.opt.Progress != nil && (f.done%200 == 0 || f.done == f.total) {
		f.opt.Progress(f.done, f.total)
	}
}
