// Runs that are over leave the refs that every listing, fetch and push goes through, and
// stay provable (docs/teams.md#archived-runs).

package gitstore

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of archiving.
const (
	CodeRunNotEnded    = "run_not_ended"     // only a run that is over can be archived
	CodeRunInUse       = "run_in_use"        // a work tree is in the run
	CodeRunNotArchived = "run_not_archived"  // there is nothing to take out, or to prune
	CodeRunRemoved     = "run_removed"       // a person has given its operations up
	CodeNotElsewhere   = "run_not_elsewhere" // no remote is known to keep it
)

// packAfter is how many refs move before git packs them again: each loose one is a file.
const packAfter = 100

// ArchiveOptions of Archive.
type ArchiveOptions struct {
	Runs   []string  // these; none: all that ended before Before
	Before time.Time // of the newest operation
	Wait   time.Duration
	DryRun bool
}

// ArchiveDone is the outcome of Archive.
type ArchiveDone struct {
	Archived []*archive.Entry
	Already  []string          // named, and in the archive before
	InUse    map[string]string // run -> the work tree that is in it; left where it is
	Notices  []string
}

// beginArchive takes the lock and reads the list.
func (s *Store) beginArchive(ctx context.Context, wait time.Duration) (*Tx, archive.List, error) {
	tx, err := s.Begin(ctx, "archive", wait)
	if err != nil {
		return nil, nil, err
	}
	list, err := archive.ReadAll(ctx, s.repo, archive.ListPrefix)
	if err != nil {
		_ = tx.Close()
		return nil, nil, err
	}
	return tx, list, nil
}

// Archive moves runs that are over into the archive: their refs are no longer run refs, and
// the list that travels names them. Nothing is removed.
//
// Errors: no_run, run_not_ended, run_in_use, record_unproven, and those of Begin.
func (s *Store) Archive(ctx context.Context, opt ArchiveOptions) (*ArchiveDone, error) {
	tx, list, err := s.beginArchive(ctx, opt.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	done := &ArchiveDone{Notices: tx.View().Notices, InUse: make(map[string]string)}
	used, err := s.runsInUse(ctx)
	if err != nil {
		return nil, err
	}
	tips, err := s.repo.Tips(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	want := opt.Runs
	var known map[string]*run.State
	if len(opt.Runs) == 0 {
		if want, known, err = s.endedBefore(ctx, opt.Before); err != nil {
			return nil, err
		}
	}
	for _, name := range want {
		tip, where := tips[name], used[name]
		switch {
		case tip == "" && list.Archived(name) != nil:
			done.Already = append(done.Already, name)
			continue
		case tip == "":
			return nil, noRun(name)
		case where != "" && len(opt.Runs) == 0:
			done.InUse[name] = where
			continue
		case where != "":
			return nil, git.Errorf(CodeRunInUse, nil, "run %s is the one that the work tree %s is in", name, where).
				WithHint("archive it when another run has begun there; git agentxchain assign begins one")
		}
		e, err := s.archiveEntry(ctx, name, tip, known[name], list[name])
		if err != nil {
			return nil, err
		}
		done.Archived = append(done.Archived, e)
	}
	if err := s.countEntries(ctx, done.Archived); err != nil {
		return nil, err
	}
	if opt.DryRun || len(done.Archived) == 0 {
		return done, nil
	}
	return done, s.changeArchive(ctx, list, done.Archived, func(e *archive.Entry) error {
		e.State = archive.Archived
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: git.RunRefPrefix + e.Run, Old: git.OID(e.Op)}}
	})
}

// endedBefore lists the runs that are over and had their newest operation before a time,
// newest first, with their states.
func (s *Store) endedBefore(ctx context.Context, before time.Time) (names []string, states map[string]*run.State, err error) {
	all, err := s.RunTips(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	states = make(map[string]*run.State)
	for _, t := range all {
		if !t.Last.Time.Before(before) {
			continue
		}
		if st, err := s.StateAt(ctx, t.Ref.OID); err == nil && st.Status.Ended() {
			names, states[t.Run] = append(names, t.Run), st
		}
	}
	return names, states, nil
}

// StateAt is state.json as an operation recorded it.
func (s *Store) StateAt(ctx context.Context, op git.OID) (*run.State, error) {
	data, _, err := FileAt(ctx, s.repo, op, record.FileState)
	if err != nil {
		return nil, err
	}
	return decodeState(data)
}

// archiveEntry is the entry of a run that goes into the archive, without the number of its
// operations. st is its state where that was read before.
func (s *Store) archiveEntry(ctx context.Context, name string, tip git.OID, st *run.State, before *archive.Entry) (*archive.Entry, error) {
	if err := s.believe(ctx, name, tip); err != nil {
		return nil, err
	}
	if st == nil {
		var err error
		if st, err = s.StateAt(ctx, tip); err != nil {
			return nil, err
		}
	}
	if !st.Status.Ended() {
		return nil, git.Errorf(CodeRunNotEnded, nil, "run %s is not over: it is %s", name, st.Status).
			WithHint("archive it when it is complete; git agentxchain abandon ends it for good")
	}
	c, err := s.reader(ctx).Commit(tip)
	if err != nil {
		return nil, err
	}
	e := &archive.Entry{
		Run:    name,
		Op:     string(tip),
		Status: string(st.Status),
		Ended:  c.Author.When.UTC().Format(time.RFC3339),
	}
	if before != nil {
		e.Change = before.Change
	}
	return e, nil
}

// countEntries counts the operations of runs, with one git for all of them.
func (s *Store) countEntries(ctx context.Context, entries []*archive.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var tips bytes.Buffer
	for _, e := range entries {
		tips.WriteString(e.Op + "\n")
	}
	out, err := s.repo.Git.Run(ctx, tips.Bytes(), "rev-list", "--first-parent", "--parents", "--stdin")
	if err != nil {
		return err
	}
	before := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		op, parent, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		before[op] = parent
	}
	for _, e := range entries {
		for op := e.Op; op != ""; op = before[op] {
			e.Ops++
		}
	}
	return nil
}

// changeArchive notes a change of entries in the list and then lets refs go. What is kept
// is kept first: after a crash in between both are there.
func (s *Store) changeArchive(ctx context.Context, list archive.List, entries []*archive.Entry,
	change func(*archive.Entry) error, drop func(*archive.Entry) []git.RefUpdate) error {
	env := s.env(ctx)
	var keep, gone []git.RefUpdate
	for _, e := range entries {
		e.Change++
		e.By, e.At = env.Actor.Name+" <"+env.Actor.Email+">", env.Time()
		if err := change(e); err != nil {
			return err
		}
		list = list.Merge(archive.List{e.Run: e})
		to := git.RunRefPrefix
		if e.State == archive.Archived {
			to = archive.PastPrefix
		}
		if e.State != archive.Removed {
			have, err := s.repo.ReadRef(ctx, to+e.Run)
			if err != nil {
				return err
			}
			keep = append(keep, git.RefUpdate{Name: to + e.Run, New: git.OID(e.Op), Old: have})
		}
		gone = append(gone, drop(e)...)
	}
	moves, err := s.listMoves(ctx, list, entries)
	if err != nil {
		return err
	}
	if err := s.repo.UpdateRefs(ctx, append(keep, moves...), "agentxchain: archive"); err != nil {
		return err
	}
	if err := s.repo.UpdateRefs(ctx, gone, "agentxchain: archive"); err != nil {
		return err
	}
	if _, err := s.archiveWitnesses(ctx, list, ""); err != nil {
		return err
	}
	s.packRefs(ctx, len(gone))
	return nil
}

// listMoves writes the lists of the years that entries belong to.
func (s *Store) listMoves(ctx context.Context, list archive.List, entries []*archive.Entry) ([]git.RefUpdate, error) {
	env := s.env(ctx)
	years, err := archive.Years(ctx, s.repo, archive.ListPrefix)
	if err != nil {
		return nil, err
	}
	var moves []git.RefUpdate
	done := make(map[string]bool)
	for _, e := range entries {
		year := e.Year()
		if done[year] {
			continue
		}
		done[year] = true
		var parents []git.OID
		if years[year] != "" {
			parents = append(parents, years[year])
		}
		said, err := archive.SaidAt(ctx, s.repo, years[year])
		if err != nil {
			return nil, err
		}
		oid, err := archive.Write(ctx, s.repo, list.Year(year), said, record.Signature(&env), "archive: the list of "+year, parents...)
		if err != nil {
			return nil, err
		}
		moves = append(moves, git.RefUpdate{Name: archive.ListPrefix + year, New: oid, Old: years[year]})
	}
	return moves, nil
}

// packRefs has git pack the refs when many have moved. Failing to costs time later.
func (s *Store) packRefs(ctx context.Context, moved int) {
	if moved >= packAfter {
		_, _ = s.repo.Git.Run(ctx, nil, "pack-refs", "--all")
	}
}

// runsInUse are the runs that work trees of this repository are in, each with one of them.
func (s *Store) runsInUse(ctx context.Context) (map[string]string, error) {
	out := make(map[string]string)
	if name := s.CurrentRun(); name != "" {
		out[name] = s.dir
	}
	list, err := s.repo.Git.Run(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		dir, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "worktree ")
		if !ok {
			continue
		}
		file := filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(s.prefix), filepath.FromSlash(string(wire.DocState)))
		data, err := git.ReadBounded(file, workdir.MaxDocument)
		if err != nil {
			continue
		}
		if name, err := runOf(document{data, true}); err == nil && name != "" && out[name] == "" {
			out[name] = dir
		}
	}
	return out, nil
}

// Unarchive makes archived runs runs again, as if they had never left.
//
// Errors: run_not_archived, and those of fetching a run whose operations are not here.
func (s *Store) Unarchive(ctx context.Context, runs []string, wait time.Duration) ([]*archive.Entry, error) {
	tx, list, err := s.beginArchive(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	var entries []*archive.Entry
	for _, name := range runs {
		e := list.Archived(name)
		if e == nil {
			return nil, notArchived(name)
		}
		tip, err := s.archivedTip(ctx, name)
		if err != nil {
			return nil, err
		}
		out := *e
		out.Op = string(tip)
		entries = append(entries, &out)
	}
	if err := s.changeArchive(ctx, list, entries, func(e *archive.Entry) error {
		e.State = archive.Live
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: archive.PastPrefix + e.Run, Old: git.OID(e.Op)}}
	}); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := s.bringWitnesses(ctx, e.Run); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func notArchived(name string) *git.Error {
	return git.Errorf(CodeRunNotArchived, nil, "run %s is not in the archive", name).
		WithHint("git agentxchain runs list --archived")
}

// pastTip is where an archived run is kept here, "" when it is not.
func (s *Store) pastTip(ctx context.Context, run string) (git.OID, error) {
	return s.repo.ReadRef(ctx, archive.PastPrefix+run)
}

// archivedTip returns the newest operation of an archived run, "" when the archive does
// not know it. Operations that are not here are fetched.
func (s *Store) archivedTip(ctx context.Context, run string) (git.OID, error) {
	tip, err := s.pastTip(ctx, run)
	if err != nil || tip != "" {
		return tip, err
	}
	list, err := archive.ReadAll(ctx, s.repo, archive.ListPrefix)
	if err != nil {
		return "", err
	}
	if e := list[run]; e != nil && e.State == archive.Removed {
		return "", git.Errorf(CodeRunRemoved, nil, "run %s was removed by %s: %s", run, e.By, e.Because).
			WithHint("its newest operation was %s; a clone that has pruned nothing may still hold it", e.Op)
	}
	e := list.Archived(run)
	if e == nil {
		return "", nil
	}
	return s.bringPast(ctx, e)
}

// bringPast fetches an archived run, from the first remote that has it, and believes it
// before it is kept.
func (s *Store) bringPast(ctx context.Context, e *archive.Entry) (git.OID, error) {
	op := git.OID(e.Op)
	if !s.repo.HasCommit(ctx, op) {
		all, err := s.remotesByChoice(ctx)
		if err != nil {
			return "", err
		}
		var last error
		for _, remote := range all {
			if last = s.fetchArchived(ctx, remote, e); last == nil {
				break
			}
		}
		if !s.repo.HasCommit(ctx, op) {
			err := git.Errorf(CodeNoRun, last, "run %s is archived at operation %s, and its operations are not here", e.Run, op.Short())
			if len(all) == 0 {
				return "", err.WithHint("add the remote that keeps it: git remote add origin URL")
			}
			return "", err.WithHint("git agentxchain sync %s, when that remote can be reached", all[0])
		}
	}
	if err := s.believe(ctx, e.Run, op); err != nil {
		return "", err
	}
	return op, s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: archive.PastPrefix + e.Run, New: op}}, "agentxchain: an archived run came")
}

// remotesByChoice lists the remotes, the one that runs travel over first.
func (s *Store) remotesByChoice(ctx context.Context) ([]string, error) {
	all, err := transport.Remotes(ctx, s.repo)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if first, err := transport.PickRemote(ctx, s.repo, ""); err == nil {
		all = append([]string{first}, slices.DeleteFunc(all, func(r string) bool { return r == first })...)
	}
	return all, nil
}

// fetchArchived fetches the operations of one archived run: that commit alone where the
// server gives it, else all of its year.
func (s *Store) fetchArchived(ctx context.Context, remote string, e *archive.Entry) error {
	if err := transport.ValidName(remote); err != nil {
		return err
	}
	// Without a ref nothing is believed yet: bringPast makes one.
	if err := transport.Fetch(ctx, s.repo, remote, "--no-prune", e.Op); err == nil && s.repo.HasCommit(ctx, git.OID(e.Op)) {
		return nil
	}
	return s.fetchKept(ctx, remote, e.Year())
}

// keptRef is where the commit is seen that keeps a year's operations on a remote.
func keptRef(remote, year string) string { return record.SeenRefPrefix + remote + "/archive/" + year }

// fetchKept fetches what a remote keeps of a year.
func (s *Store) fetchKept(ctx context.Context, remote, year string) error {
	// A pattern, so that a remote without the ref is no failure.
	return transport.Fetch(ctx, s.repo, remote, "--prune", "+"+archive.KeepPrefix+year+"*:"+record.SeenRefPrefix+remote+"/archive/"+year+"*")
}

// PruneOptions of Prune.
type PruneOptions struct {
	Runs    []string // these; none: all that ended before Before
	Before  time.Time
	Because string // gives up what no remote keeps; for named runs only
	Wait    time.Duration
	DryRun  bool
}

// PruneDone is the outcome of Prune.
type PruneDone struct {
	Pruned  []*archive.Entry // a remote keeps them
	Removed []*archive.Entry // no remote does: they were given up
	Kept    []string         // no remote is known to keep them
	Notices []string
}

// Prune lets the operations of archived runs go from this clone, where a remote keeps them:
// commands that name such a run fetch it again. What no remote keeps goes only when it is
// named with a reason, which the list then tells. The space is git gc's to free.
//
// Errors: run_not_archived, run_not_elsewhere, and those of Begin.
func (s *Store) Prune(ctx context.Context, opt PruneOptions) (*PruneDone, error) {
	tx, list, err := s.beginArchive(ctx, opt.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	past, err := s.repo.Tips(ctx, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	want, err := prunable(list, past, opt)
	if err != nil {
		return nil, err
	}
	done := &PruneDone{}
	kept, err := s.keptElsewhere(ctx, done, list, want)
	if err != nil {
		return nil, err
	}
	var gone []git.RefUpdate
	for _, name := range want {
		e := *list[name]
		switch {
		case kept[name]:
			done.Pruned = append(done.Pruned, &e)
			gone = append(gone, git.RefUpdate{Name: archive.PastPrefix + name, Old: past[name]})
		case len(opt.Runs) == 0:
			done.Kept = append(done.Kept, name)
		case opt.Because == "":
			return nil, git.Errorf(CodeNotElsewhere, nil, "no remote is known to keep run %s: this may be its only copy", name).
				WithHint("git agentxchain sync brings the archive to the remote; to remove the run for good: git agentxchain runs prune %s --because TEXT", name)
		default:
			done.Removed = append(done.Removed, &e)
		}
	}
	if opt.DryRun {
		return done, nil
	}
	if err := s.repo.UpdateRefs(ctx, gone, "agentxchain: pruned"); err != nil {
		return nil, err
	}
	if err := s.forgetKept(ctx); err != nil {
		return nil, err
	}
	s.packRefs(ctx, len(gone))
	if len(done.Removed) == 0 {
		return done, nil
	}
	return done, s.changeArchive(ctx, list, done.Removed, func(e *archive.Entry) error {
		e.State, e.Because = archive.Removed, text.OneLine(opt.Because)
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: archive.PastPrefix + e.Run, Old: past[e.Run]}}
	})
}

// prunable lists the runs that opt means.
func prunable(list archive.List, past map[string]git.OID, opt PruneOptions) ([]string, error) {
	if len(opt.Runs) > 0 {
		for _, name := range opt.Runs {
			if list.Archived(name) == nil {
				return nil, notArchived(name)
			}
			if past[name] == "" {
				return nil, git.Errorf(CodeRunNotArchived, nil, "the operations of run %s are not here: it was pruned, or never came", name).
					WithHint("git agentxchain runs list --archived")
			}
		}
		return opt.Runs, nil
	}
	var out []string
	for name := range past {
		e := list.Archived(name)
		if e == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, e.Ended); err == nil && at.Before(opt.Before) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// keptElsewhere asks the remotes which of the runs they keep. It is proven here: the commit
// of the year leads to the run's newest operation.
func (s *Store) keptElsewhere(ctx context.Context, done *PruneDone, list archive.List, runs []string) (map[string]bool, error) {
	out := make(map[string]bool)
	all, err := s.remotesByChoice(ctx)
	if err != nil {
		return nil, err
	}
	years := make(map[string]bool)
	for _, name := range runs {
		years[list[name].Year()] = true
	}
	for _, remote := range all {
		for year := range years {
			if err := s.fetchKept(ctx, remote, year); err != nil {
				done.Notices = append(done.Notices, remote+" could not be asked what it keeps: "+transport.Complaint(err))
				break
			}
			// One git tells it for all runs.
			names, err := s.repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", "--merged="+keptRef(remote, year), archive.PastPrefix)
			if err != nil {
				continue // it keeps nothing of that year
			}
			for name := range strings.Lines(string(names)) {
				out[strings.TrimPrefix(strings.TrimSpace(name), archive.PastPrefix)] = true
			}
		}
	}
	return out, nil
}

// forgetKept lets go of what was seen of remotes' archives: it would hold every operation.
func (s *Store) forgetKept(ctx context.Context) error {
	refs, err := s.repo.ListRefs(ctx, record.SeenRefPrefix)
	if err != nil {
		return err
	}
	var gone []git.RefUpdate
	for _, ref := range refs {
		if strings.Contains(strings.TrimPrefix(ref.Name, record.SeenRefPrefix), "/archive/") && ref.OID != "" {
			gone = append(gone, git.RefUpdate{Name: ref.Name, Old: ref.OID})
		}
	}
	return s.repo.UpdateRefs(ctx, gone, "agentxchain: pruned")
}
