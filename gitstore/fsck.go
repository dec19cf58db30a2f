// Fsck checks everything a run rests on: objects, the chain of operations, the
// ledgers along it, the working files, and by replay the operations themselves.

package gitstore

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
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// FsckOptions of Fsck.
type FsckOptions struct {
	Run    string // "" is the current run, "*" every run of the repository
	Replay bool   // apply every operation again
	// Progress is called now and then with the operations done and their total,
	// from one goroutine at a time.
	Progress func(done, total int)
}

// Finding codes of Fsck, beside the store's error codes.
const (
	FindRecord   = "record_invalid"  // an operation's record, evidence, index or message is wrong
	FindReplay   = "replay_mismatch" // an operation does not yield what was recorded
	FindWork     = "working_files"   // working files differ from the recorded run
	FindLeftover = "leftover"        // a file an interrupted command left behind
	FindLock     = "lock"            // the lock is held, or was left behind
	FindLease    = "lease_invalid"   // a ref of a lease holds no lease of that turn, or its tokens went back
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Code    string // stable token
	Run     string
	Op      git.OID // operation it was found in, or ""
	Path    string  // project-relative file or tree path, or ""
	Message string
	Repair  string // command to run, or ""
	Note    bool   // nothing is wrong: said for information
}

// FsckReport is what Fsck found.
type FsckReport struct {
	Findings []Finding
	Runs     int
	Ops      int
	Replayed int
	Skipped  int // operations that cannot be replayed: other tools', or another rule set's
}

// Clean reports whether nothing is wrong.
func (r *FsckReport) Clean() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Note })
}

const repairFromRef = "git agentxchain repair --from-ref"

// Fsck checks without changing anything. What is wrong with the repository or
// the project is in the report; an error means the check could not be made.
func (s *Store) Fsck(ctx context.Context, opt FsckOptions) (*FsckReport, error) {
	if _, err := s.SettleRestore(ctx); err != nil {
		return nil, err
	}
	f := &fsck{s: s, ctx: ctx, opt: opt, report: &FsckReport{}}
	runs, err := f.runs()
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if err := f.chain(run); err != nil {
			return nil, err
		}
		if err := f.leases(strings.TrimPrefix(run.Name, git.RunRefPrefix)); err != nil {
			return nil, err
		}
	}
	if opt.Run == "" || opt.Run == "*" {
		if err := f.known(); err != nil {
			return nil, err
		}
	}
	if err := f.work(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.report.Findings, func(a, b Finding) int { return strings.Compare(a.Run, b.Run) })
	return f.report, nil
}

type fsck struct {
	s      *Store
	ctx    context.Context
	opt    FsckOptions
	mu     sync.Mutex
	report *FsckReport
	done   int
	total  int
	strict bool // rows of other tools must bear each other out, see borneOut
	first  bool // the first operation that does not hold is enough
	// What chains tell of runs beside themselves: runs other tools made, and the last
	// operation of the run before -> the run that names it.
	elsewhere map[string]bool
	previous  map[git.OID]string

	seen map[git.OID]seenOp // what operations were seen to do, beside their findings

	witnessTips map[string][]git.OID // what witnesses said of every run; read once, by witnessed
}

func (f *fsck) find(v Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Findings = append(f.report.Findings, v)
}

// found counts the findings so far.
func (f *fsck) found() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.report.Findings)
}

// fault turns an error met while checking into a finding. Errors that say
// nothing about the repository (a cancelled context, git missing) stay errors.
func (f *fsck) fault(run string, op git.OID, err error) error {
	var e *git.Error
	switch {
	case err == nil:
		return nil
	case f.ctx.Err() != nil:
		return context.Cause(f.ctx)
	case !errors.As(err, &e), e.Code == git.CodeGitFailed, e.Code == git.CodeGitMissing:
		return err
	}
	f.find(Finding{Code: e.Code, Run: run, Op: op, Message: e.Error(), Repair: e.Hint})
	return nil
}

// past are the archived runs that are here, under the names of runs.
func (f *fsck) past() ([]git.Ref, error) {
	tips, err := f.s.tips(f.ctx, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	var out []git.Ref
	for _, run := range slices.Sorted(maps.Keys(tips)) {
		out = append(out, git.Ref{Name: git.RunRefPrefix + run, OID: tips[run]})
	}
	return out, nil
}

// runs lists the refs to check.
func (f *fsck) runs() ([]git.Ref, error) {
	if f.opt.Run != "*" {
		run := f.opt.Run
		if run == "" {
			run = f.s.currentRun()
		}
		if run == "" {
			return nil, nil
		}
		tip, err := f.s.readRun(f.ctx, run)
		if err == nil && tip == "" && f.opt.Run != "" {
			tip, err = f.s.archivedTip(f.ctx, run)
		}
		if err != nil {
			return nil, f.fault(run, "", err)
		}
		if tip == "" {
			if f.opt.Run != "" {
				return nil, noRun(run)
			}
			return nil, nil // adopted by the next command; work says so
		}
		return []git.Ref{{Name: git.RunRefPrefix + run, OID: tip}}, nil
	}
	refs, err := f.s.repo.ListRefs(f.ctx, git.RunRefPrefix)
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
		switch _, err := git.RunRef(run); {
		case err != nil:
			f.find(Finding{Code: git.CodeBadRefName, Run: run, Message: fmt.Sprintf("the ref %s cannot be a run", ref.Name), Repair: "git update-ref -d " + ref.Name})
		case ref.Target != "":
			f.find(Finding{Code: git.CodeRefSymbolic, Run: run, Message: fmt.Sprintf("the ref %s is symbolic", ref.Name), Repair: "git symbolic-ref -d " + ref.Name})
		case ref.Broken || ref.OID == "":
			f.find(Finding{Code: git.CodeRefBroken, Run: run, Message: fmt.Sprintf("the ref %s holds no object id", ref.Name), Repair: "fetch the run from another clone"})
		default:
			out = append(out, ref)
		}
	}
	return out, nil
}

// chain checks one run from its first operation to its tip.
func (f *fsck) chain(ref git.Ref) error {
	run := strings.TrimPrefix(ref.Name, git.RunRefPrefix)
	f.report.Runs++
	objects := make(chan error, 1)
	go func() { objects <- f.objects(run, ref.OID) }()
	err := f.operations(run, ref.OID)
	if oerr := <-objects; err == nil {
		err = oerr
	}
	return err
}

// objects has git read every object of the run and check its hash.
func (f *fsck) objects(run string, tip git.OID) error {
	_, err := f.s.repo.Git.Run(f.ctx, nil, "rev-list", "--objects", "--verify-objects", "--quiet", string(tip), "--")
	if err == nil || git.ExitCode(err) < 0 {
		return err
	}
	// Git says that something is wrong, not reliably what: read one by one.
	before := f.count()
	if err := f.everyObject(run, tip); err != nil {
		return err
	}
	if f.count() == before {
		f.find(Finding{Code: git.CodeObjectCorrupt, Run: run, Message: "git finds damage in the run's objects: " + strings.TrimSpace(git.ComplaintOf(err)), Repair: "git fsck"})
	}
	return nil
}

func (f *fsck) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.report.Findings)
}

// everyObject reads each object once and reports those that cannot be read.
func (f *fsck) everyObject(run string, tip git.OID) error {
	r := f.s.reader(f.ctx)
	seen := make(map[git.OID]bool)
	var tree func(oid, op git.OID) error
	tree = func(oid, op git.OID) error {
		if seen[oid] {
			return nil
		}
		seen[oid] = true
		list, err := r.entries(oid)
		delete(r.known, oid)
		delete(r.parsed, oid)
		if err != nil {
			return f.fault(run, op, err)
		}
		for _, e := range list {
			switch {
			case e.IsTree():
				err = tree(e.OID, op)
			case !seen[e.OID]:
				seen[e.OID] = true
				_, err = r.blob(e.OID)
				err = f.fault(run, op, err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for op := tip; op != ""; {
		c, err := r.commit(op)
		if err != nil {
			return f.fault(run, op, err)
		}
		if err := tree(c.Tree, op); err != nil {
			return err
		}
		if len(c.Parents) == 0 {
			return nil
		}
		op = c.Parents[0]
	}
	return nil
}

// fsckChunk is how many operations one worker checks in a row. The first of
// each chunk costs some extra reads.
const fsckChunk = 64

// operations checks the chain in chunks side by side: each operation is checked
// against what the one before recorded, so the order of checking is free.
func (f *fsck) operations(run string, tip git.OID) error {
	ops, err := f.s.logFrom(f.ctx, tip, 0)
	if err != nil {
		// A damaged commit ends the log: everyObject names it.
		if git.ExitCode(err) >= 0 {
			f.find(Finding{Code: CodeChainBroken, Run: run, Message: "the chain of operations cannot be read to its beginning", Repair: "fetch the run from another clone"})
			return nil
		}
		return err
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
		return f.fault(run, ops[0].Op, f.heritage(f.s.reader(f.ctx), ops[0]))
	}
	return nil
}

// span checks the operations of ops beginning with from.
func (f *fsck) span(run string, ops []OpInfo, from int) error {
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

// shape checks that the chain is a line that begins as a run may begin. The
// operations before from are known.
func (f *fsck) shape(run string, ops []OpInfo, from int) {
	for i, op := range ops {
		switch {
		case i < from:
		case i > 0 && len(op.Parents) != 1:
			f.find(Finding{Code: CodeChainBroken, Run: run, Op: op.Op, Message: fmt.Sprintf("the operation has %d predecessors", len(op.Parents)), Repair: "fetch the run from another clone"})
		case i == 0 && op.Name != "init_run" && op.Name != protocol.OpExternal:
			f.find(Finding{Code: CodeChainBroken, Run: run, Op: op.Op, Message: "the run's first operation is " + cmp.Or(op.Name, "unnamed")})
		}
	}
}

// progress counts one operation.
func (f *fsck) progress(replayed, skipped bool) {
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
