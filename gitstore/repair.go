// Repair ends a disagreement between the working files and the recorded run, by
// taking one of the two sides. Nothing is lost: displaced files are kept.

package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RepairMode is the side that a repair takes.
type RepairMode int

const (
	// FromRef makes the working files what the run's ref holds.
	FromRef RepairMode = iota
	// AcceptWorking records the working files as they are.
	AcceptWorking
)

// RepairOptions are the options of Repair.
type RepairOptions struct {
	Run    string        // FromRef: the run; "" is the current one, or the only one recorded
	FromOp string        // FromRef: go back to this operation, the last valid one; an id or its beginning
	DryRun bool          // only plan
	Reason string        // AcceptWorking: why the files are right; recorded
	Wait   time.Duration // for waiting for the lock
}

// RepairAction is what a repair does, or would do, to one file.
type RepairAction struct {
	Path   string // project-relative
	Action string // create, replace, remove, record
	Kept   string // where the replaced file is kept, "" for none
}

// RepairPlan is what a repair did, or would do.
type RepairPlan struct {
	Run     string
	Op      object.OID // operation the files are at afterwards; "" for a planned AcceptWorking
	Actions []RepairAction
	Lost    string // ref of the dropped operations, "" when there are none
	Dropped int    // number of dropped operations
	Shared  string // another work tree in the run that this one enters; "" for none
	Done    bool   // false for a dry run
}

// Repair takes one side of a disagreement. It works where View and Begin refuse:
// after tampering, with damaged documents, and with no .agentxchain at all, as in
// a fresh clone with fetched run refs.
func (s *Store) Repair(ctx context.Context, mode RepairMode, opt RepairOptions) (*RepairPlan, error) {
	if _, err := s.SettleRestore(ctx); err != nil {
		return nil, err
	}
	if !opt.DryRun {
		lock, err := lockfile.Acquire(ctx, s.lockPath(), "repair", opt.Wait)
		if err != nil {
			return nil, err
		}
		defer func() { _ = lock.Release() }()
	}
	if mode == AcceptWorking {
		return s.acceptWorking(ctx, opt)
	}
	return s.repairFromRef(ctx, opt)
}

// Enter brings a recorded run into this work tree. The caller holds the lock.
func (s *Store) Enter(ctx context.Context, run string) error {
	_, err := s.repairFromRef(ctx, RepairOptions{Run: run})
	return err
}

// repairRun determines the run to restore.
func (s *Store) repairRun(ctx context.Context, run string) (string, error) {
	if run != "" {
		return run, s.notBeside(ctx, run)
	}
	if run = s.CurrentRun(); run != "" {
		// state.json may name a run that was never recorded, in place of a recorded one.
		if c := s.readCache(); c != nil && c.Run != "" && c.Run != run {
			tip, err := chain.Tip(ctx, s.repo, run)
			if err != nil {
				return "", err
			}
			if tip == "" {
				run = c.Run
			}
		}
		return run, nil
	}
	runs, _, err := s.OwnRuns(ctx)
	if err != nil {
		return "", err
	}
	switch len(runs) {
	case 0:
		e := chain.NoRun("")
		if s.exists(string(wire.DocState)) {
			e.Hint = "where no run had begun, remove " + string(wire.DocState) +
				"; git agentxchain assign starts one. Else fetch " + git.RunRefPrefix + "* from a clone that has the run"
		}
		return "", e
	case 1:
		return runs[0].Name[len(git.RunRefPrefix):], nil
	}
	return "", fail.Errorf(wire.CodeTargetRequired, nil, "%d runs are recorded and this work tree is in none of them",
		len(runs)).
		WithHint("name one with git agentxchain repair --from-ref --run ID; git for-each-ref %s lists them",
			git.RunRefPrefix)
}

// repairFromRef plans and makes the return to the ref.
func (s *Store) repairFromRef(ctx context.Context, opt RepairOptions) (*RepairPlan, error) {
	run, err := s.repairRun(ctx, opt.Run)
	if err != nil {
		return nil, err
	}
	plan := &RepairPlan{Run: run}
	back := object.OID("")
	var moves []git.RefUpdate
	if opt.FromOp != "" {
		if back, moves, err = s.planBack(ctx, plan, opt.FromOp); err != nil {
			return nil, err
		}
	}
	rec, err := s.OpenRun(ctx, run, back)
	if c := s.readCache(); fail.CodeOf(err) == chain.CodeNoRun && c != nil && c.Run == run {
		err = cmp.Or(s.refGone(ctx, c), err)
	}
	if err != nil {
		return nil, err
	}
	want, err := rec.Files()
	if err != nil {
		return nil, err
	}
	plan.Op = want.Op
	if run != s.CurrentRun() {
		if used, err := s.RunsInUse(ctx); err == nil { // a repair works even if git fails here
			plan.Shared = used[run]
		}
	}
	if plan.Actions, err = s.planFiles(want); err != nil {
		return nil, err
	}
	if opt.DryRun {
		return plan, nil
	}
	if len(moves) > 0 {
		if err := s.dropOps(ctx, moves); err != nil {
			return nil, err
		}
	}
	for _, a := range plan.Actions {
		if err := s.restoreFile(a, want.Files[a.Path]); err != nil {
			return plan, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be repaired", a.Path)
		}
	}
	s.openStaging()
	s.work.RemoveTemps()
	s.clearEntering()
	if err := s.dropCache(); err != nil {
		return plan, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	plan.Done = true
	return plan, nil
}

// planFiles returns the actions that make the governed files those of an operation; replaced and removed files are
// kept.
func (s *Store) planFiles(want *chain.RunFiles) (actions []RepairAction, err error) {
	keepDir, err := s.keepDir()
	if err != nil {
		return nil, err
	}
	for _, name := range s.governed(want) {
		data, there := want.Files[name]
		_, err := s.work.Root.Lstat(name)
		exists := err == nil
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", name)
		case !exists && there:
			actions = append(actions, RepairAction{Path: name, Action: "create"})
		case exists && !s.holds(name, data, there):
			a := RepairAction{Path: name, Action: "replace", Kept: path.Join(keepDir, path.Base(name))}
			if path.Dir(name) != record.ProjectDir && path.Dir(name) != "." {
				a.Kept = path.Join(keepDir, name)
			}
			if !there {
				a.Action = "remove"
			}
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// holds reports whether a file has the right contents; there is false for a file that should not exist.
func (s *Store) holds(name string, data []byte, there bool) bool {
	if !there {
		return false
	}
	have, _, ok, err := s.work.Read(name, workdir.MaxLedger)
	return err == nil && ok && bytes.Equal(have, data)
}

// keepDir returns the name of a directory for displaced files. It is among the transactions, which git ignores and
// which never count as an actor's work.
func (s *Store) keepDir() (string, error) { return s.keepDirFor("repair-") }

func (s *Store) keepDirFor(what string) (string, error) { return s.work.KeepDir(what, s.opts.Now()) }

// governed lists the paths that a repair examines, state.json last: the ledgers and documents, whether recorded or
// not, and what else the operation recorded.
func (s *Store) governed(want *chain.RunFiles) []string {
	var names []string
	for _, l := range wire.Ledgers() {
		names = append(names, l.Path())
	}
	for _, p := range want.Paths() {
		if !slices.Contains(names, p) && !slices.Contains(wire.Documents(), wire.Document(p)) {
			names = append(names, p)
		}
	}
	for _, d := range wire.Documents() {
		names = append(names, string(d))
	}
	return names
}

// restoreFile moves the existing file aside and writes the recorded bytes. If the file system has hard links the
// file is never missing, whenever the repair ends.
func (s *Store) restoreFile(a RepairAction, data []byte) error {
	if a.Kept != "" {
		if err := s.work.Mkdirs(path.Dir(a.Kept)); err != nil {
			return err
		}
		if a.Action == "remove" || s.work.Root.Link(a.Path, a.Kept) != nil {
			if err := s.work.Root.Rename(a.Path, a.Kept); err != nil {
				return err
			}
		}
		if err := s.work.SyncDir(path.Dir(a.Kept)); err != nil {
			return err
		}
	}
	if a.Action == "remove" {
		return s.work.SyncDir(path.Dir(a.Path))
	}
	if err := s.work.Mkdirs(path.Dir(a.Path)); err != nil {
		return err
	}
	return durable.WriteFileRoot(s.work.Root, a.Path, data, 0o666)
}

// acceptWorking records the working files whatever the recorded run says. It still refuses unusable files: a state
// or a ledger that is not JSON.
func (s *Store) acceptWorking(ctx context.Context, opt RepairOptions) (*RepairPlan, error) {
	config, docs, err := s.readDocs()
	if err != nil {
		return nil, err
	}
	in := &inspection{config: config, docs: docs, diffs: make(map[wire.Ledger]*record.LedgerDiff)}
	if in.run, err = runOf(docs[wire.DocState]); err != nil {
		return nil, err
	}
	plan := &RepairPlan{Run: in.run}
	if in.run == "" {
		// Without a run nothing can be recorded; forgetting the previous run ends the comparison with its ledgers. A
		// run whose ref is gone is not forgotten: only the note of where it was leads to its operations.
		if err := s.refGone(ctx, s.readCache()); err != nil {
			return nil, err
		}
		if opt.DryRun {
			return plan, nil
		}
		plan.Done = true
		s.clearEntering()
		return plan, s.dropCache()
	}
	state, err := decodeWorkingState(docs[wire.DocState])
	if err != nil {
		return nil, err
	}
	if p := run.CheckState(repaired(state, config)); len(p) > 0 {
		return nil, run.StateError(p)
	}
	tip, err := chain.Tip(ctx, s.repo, in.run)
	if err != nil {
		return nil, err
	}
	r := s.reader(ctx)
	var parent *chain.RecordedRun
	if tip != "" {
		if parent, err = chain.At(r, in.run, tip); err != nil {
			return nil, err
		}
		in.tip = parent
		same, err := s.diffAll(in)
		if err != nil {
			return nil, err
		}
		if same {
			plan.Op, plan.Done = tip, !opt.DryRun
			return plan, nil
		}
	}
	plan.Actions = s.acceptActions(in)
	edit, marks, err := s.editFromFiles(r, in)
	if err != nil {
		return nil, err
	}
	if parent != nil {
		// The operations' files and bundles remain recorded.
		root, err := r.Entries(parent.Root)
		if err != nil {
			return nil, err
		}
		if err := edit.Take(root, record.DirFiles); err != nil {
			return nil, err
		}
	}
	if opt.DryRun {
		return plan, nil
	}
	actor := s.actor(ctx)
	files := make([]string, len(plan.Actions))
	for i, a := range plan.Actions {
		files[i] = a.Path
	}
	detail := ojson.NewObject("accepted_by", ojson.NewObject("name", actor.Name, "email", actor.Email),
		"reason", opt.Reason, "files", files)
	done, err := s.recordExternal(ctx, in, edit, parent, marks, detail, "accept the working files as they are")
	if err != nil {
		return nil, err
	}
	plan.Op, plan.Done = done.Op, true
	s.clearEntering()
	return plan, nil
}

// acceptActions lists the files that differ from the record.
func (s *Store) acceptActions(in *inspection) []RepairAction {
	var out []RepairAction
	for _, l := range wire.Ledgers() {
		if in.tip == nil && s.exists(l.Path()) || in.tip != nil && in.diffs[l].Kind != record.Same {
			out = append(out, RepairAction{Path: l.Path(), Action: "record"})
		}
	}
	for _, d := range wire.Documents() {
		recorded := object.OID("")
		if in.tip != nil {
			recorded, _ = in.tip.DocOID(d)
		}
		if recorded != s.docOID(in.docs[d]) {
			out = append(out, RepairAction{Path: string(d), Action: "record"})
		}
	}
	return out
}
