// Archiving ended runs: they leave the refs that every listing, fetch and push goes through, and stay provable
// (docs/teams.md#archived-runs).

package archiving

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Codes of archiving.
const (
	CodeRunNotEnded    = "run_not_ended"    // only a run that has ended can be archived
	CodeRunInUse       = "run_in_use"       // a work tree is in the run
	CodeRunNotArchived = "run_not_archived" // there is nothing to unarchive or to prune
)

// packAfter is how many refs move before git packs them again: each loose one is a file.
const packAfter = 100

// Options of Archive.
type Options struct {
	Runs   []string  // these runs; none: all that ended before Before
	Before time.Time // compared with the time of the newest operation
	Wait   time.Duration
	DryRun bool
}

// Done is the outcome of Archive.
type Done struct {
	Archived []*archive.Entry
	Already  []string          // named, but archived already
	InUse    map[string]string // run -> the work tree that is in it; these runs are left where they are
	Notices  []string
}

// beginArchive takes the lock and reads the list.
func beginArchive(ctx context.Context, s *gitstore.Store, wait time.Duration) (*gitstore.Tx, archive.List, error) {
	tx, err := s.Begin(ctx, "archive", wait)
	if err != nil {
		return nil, nil, err
	}
	list, err := archive.ReadAll(ctx, s.Repository(), archive.ListPrefix)
	if err != nil {
		_ = tx.Close()
		return nil, nil, err
	}
	return tx, list, nil
}

// Archive moves ended runs into the archive: their refs are no longer run refs, and the list that travels names
// them. Nothing is removed.
//
// Errors: no_run, run_not_ended, run_in_use, record_unproven, and those of Begin.
func Archive(ctx context.Context, s *gitstore.Store, opt Options) (*Done, error) {
	tx, list, err := beginArchive(ctx, s, opt.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	done := &Done{Notices: tx.View().Notices, InUse: make(map[string]string)}
	used, err := s.RunsInUse(ctx)
	if err != nil {
		return nil, err
	}
	tips, err := s.Repository().Tips(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	want := opt.Runs
	var known map[string]*run.State
	if len(opt.Runs) == 0 {
		if want, known, err = endedBefore(ctx, s.Repository(), opt.Before); err != nil {
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
			return nil, chain.NoRun(name)
		case where != "" && len(opt.Runs) == 0:
			done.InUse[name] = where
			continue
		}
		e, err := archiveEntry(ctx, s, name, tip, known[name], list[name])
		if err != nil {
			return nil, err
		}
		if where != "" {
			return nil, fail.Errorf(CodeRunInUse, nil, "run %s is the one that the work tree %s is in", name, where).
				WithHint("archive it when another run has begun there; %s begins one", in(s, where, "assign --new-run"))
		}
		done.Archived = append(done.Archived, e)
	}
	if err := countEntries(ctx, s.Repository(), done.Archived); err != nil {
		return nil, err
	}
	if opt.DryRun || len(done.Archived) == 0 {
		return done, nil
	}
	return done, changeArchive(ctx, s.Repository(), s.Env(ctx), list, done.Archived, func(e *archive.Entry) error {
		e.State = archive.Archived
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: git.RunRefPrefix + e.Run, Old: object.OID(e.Op)}}
	})
}

// endedBefore lists the runs that have ended and whose newest operation is older than a time, newest first, with
// their states.
func endedBefore(
	ctx context.Context, repo *git.Repository, before time.Time,
) (names []string, states map[string]*run.State, err error) {
	all, err := chain.RunTips(ctx, repo, 0)
	if err != nil {
		return nil, nil, err
	}
	states = make(map[string]*run.State)
	for _, t := range all {
		if !t.Last.Time.Before(before) {
			continue
		}
		if st, err := chain.StateAt(ctx, repo, t.Ref.OID); err == nil && st.Status.Ended() {
			names, states[t.Run] = append(names, t.Run), st
		}
	}
	return names, states, nil
}

// in returns a command that is to be given in a directory.
func in(s *gitstore.Store, dir, rest string) string {
	if dir == s.Dir() {
		return "git agentxchain " + rest
	}
	return (&gitstore.Project{Dir: dir}).In(rest)
}

// abandonCommand returns the command that ends the run of an operation, which may be of another project.
func abandonCommand(ctx context.Context, s *gitstore.Store, op object.OID) string {
	dir := s.Dir()
	if p := s.Beside(ctx).Of(ctx, op); p != nil {
		dir = cmp.Or(p.Dir, dir)
	}
	return in(s, dir, "abandon")
}

// archiveEntry returns the entry of a run to be archived, without its number of operations. st is its state if
// already read.
func archiveEntry(
	ctx context.Context, s *gitstore.Store, name string, tip object.OID, st *run.State,
	before *archive.Entry,
) (*archive.Entry, error) {
	repo := s.Repository()
	if err := proof.Believe(ctx, repo, name, tip); err != nil {
		return nil, err
	}
	if st == nil {
		var err error
		if st, err = chain.StateAt(ctx, repo, tip); err != nil {
			return nil, err
		}
	}
	if !st.Status.Ended() {
		return nil, fail.Errorf(CodeRunNotEnded, nil, "run %s is not over: it is %s", name, st.Status).
			WithHint("archive it when it is complete; %s ends it for good", abandonCommand(ctx, s, tip))
	}
	c, err := record.NewReader(ctx, repo).Commit(tip)
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

// countEntries counts the operations of runs, with a single git process.
func countEntries(ctx context.Context, repo *git.Repository, entries []*archive.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var tips bytes.Buffer
	for _, e := range entries {
		tips.WriteString(e.Op + "\n")
	}
	out, err := repo.Git.Run(ctx, tips.Bytes(), "rev-list", "--first-parent", "--parents", "--stdin")
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

// changeArchive records changed entries in the list and then drops refs. It creates the new refs first: after a
// crash in between, both exist.
func changeArchive(ctx context.Context, repo *git.Repository, env protocol.Env, list archive.List,
	entries []*archive.Entry,
	change func(*archive.Entry) error, drop func(*archive.Entry) []git.RefUpdate) error {
	var keep, gone []git.RefUpdate
	for _, e := range entries {
		e.Changed()
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
			have, err := repo.ReadRef(ctx, to+e.Run)
			if err != nil {
				return err
			}
			keep = append(keep, git.RefUpdate{Name: to + e.Run, New: object.OID(e.Op), Old: have})
		}
		gone = append(gone, drop(e)...)
	}
	moves, err := listMoves(ctx, repo, env, list, entries)
	if err != nil {
		return err
	}
	if err := repo.UpdateRefs(ctx, append(keep, moves...), "agentxchain: archive"); err != nil {
		return err
	}
	if err := repo.UpdateRefs(ctx, gone, "agentxchain: archive"); err != nil {
		return err
	}
	if _, err := witness.Archive(ctx, repo, env, list, ""); err != nil {
		return err
	}
	packRefs(ctx, repo, len(gone))
	return nil
}

// listMoves writes the lists of the years that entries belong to.
func listMoves(
	ctx context.Context, repo *git.Repository, env protocol.Env, list archive.List,
	entries []*archive.Entry,
) ([]git.RefUpdate, error) {
	years, err := archive.Years(ctx, repo, archive.ListPrefix)
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
		var parents []object.OID
		if years[year] != "" {
			parents = append(parents, years[year])
		}
		said, err := archive.SaidAt(ctx, repo, years[year])
		if err != nil {
			return nil, err
		}
		oid, err := archive.Write(ctx, repo, list.Year(year), said, record.Signature(&env),
			"archive: the list of "+year, parents...)
		if err != nil {
			return nil, err
		}
		moves = append(moves, git.RefUpdate{Name: archive.ListPrefix + year, New: oid, Old: years[year]})
	}
	return moves, nil
}

// packRefs has git pack the refs when many have moved. A failure only costs time later.
func packRefs(ctx context.Context, repo *git.Repository, moved int) {
	if moved >= packAfter {
		_, _ = repo.Git.Run(ctx, nil, "pack-refs", "--all")
	}
}

// Unarchive turns archived runs back into ordinary runs, as if they had never left.
//
// Errors: run_not_archived, and those of fetching a run whose operations are not here.
func Unarchive(ctx context.Context, s *gitstore.Store, runs []string, wait time.Duration) ([]*archive.Entry, error) {
	tx, list, err := beginArchive(ctx, s, wait)
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
		tip, err := proof.ArchivedTip(ctx, s.Repository(), name)
		if err != nil {
			return nil, err
		}
		out := *e
		out.Op = string(tip)
		entries = append(entries, &out)
	}
	if err := changeArchive(ctx, s.Repository(), s.Env(ctx), list, entries, func(e *archive.Entry) error {
		e.State = archive.Live
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: archive.PastPrefix + e.Run, Old: object.OID(e.Op)}}
	}); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := witness.Bring(ctx, s.Repository(), e.Run); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func notArchived(name string) *fail.Error {
	return fail.Errorf(CodeRunNotArchived, nil, "run %s is not in the archive", name).
		WithHint("git agentxchain runs list --archived")
}
