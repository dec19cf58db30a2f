// Syncing the runs of a repository with a remote: fetch, verify, join, push (docs/teams.md). The server is any git
// server; its compare-and-swap of a ref decides between machines.

package travel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxSyncTries bounds how often a sync decides again because another pushed first.
const maxSyncTries = 8

// syncPatience is how long a sync waits for another sync of the same clone.
const syncPatience = time.Minute

// SyncOptions are the options of Sync.
type SyncOptions struct {
	Remote  string        // "" picks one, see PickRemote
	Wait    time.Duration // for waiting for the lock
	Reindex gitstore.Reindex
	Branch  bool     // also push the current branch, never forced
	Forget  []string // runs whose remembered tips are given up; ForgetGone means all that the remote no longer has
	// WithoutCommits also moves operations whose commits of the project one side lacks.
	WithoutCommits bool
	NoPush         bool
}

// States of a run after a sync.
const (
	SyncSame    = "same"     // both sides have the same operations
	SyncCame    = "came"     // operations came from the remote
	SyncWent    = "went"     // operations went to the remote
	SyncJoined  = "joined"   // both continued; ours were decided again after theirs
	SyncWaits   = "waits"    // something has to come first; Why says what
	SyncRefused = "refused"  // the remote's run is not believed, or the remote rejects ours
	SyncArchive = "archived" // the run left the run refs here for the archive
)

// SyncedRun is what a sync did with one run.
type SyncedRun struct {
	Run    string
	State  string
	Came   int // operations
	Went   int
	Tip    object.OID // newest operation here
	There  object.OID // newest on the remote, as far as known
	Joined *gitstore.Joined
	Code   string // code of the problem, "" for none
	Why    string
	Hint   string
	Aside  string // ref that keeps a refused tip
	Began  bool   // the run is new here

	from  object.OID        // where the remote was
	other *gitstore.Project // the project beside to which the run belongs, and which follows it itself
}

// Synced is the outcome of a sync.
type Synced struct {
	Remote   string
	Tracking bool // the refspecs have just been added
	Runs     []*SyncedRun
	Tries    int
	Notices  []string
	Entered  string // the run or initiative that was brought into this work tree
	Over     bool   // that run or initiative has ended
	Pushed   bool   // the remote has accepted something
	Retired  int    // archived runs whose refs were removed from the remote

	Arrived   []proof.Arrival  // decisions of people that came
	Conflicts []*join.Conflict // conflicts from the remote, or outcomes of known ones

	retire []transport.RefPush // run refs of archived runs that the remote still has
	byName map[string]*SyncedRun
	beaten string // the remote's answer when a ref was not where expected
}

// run returns the entry of a run, creating it if necessary.
func (y *Synced) run(name string) *SyncedRun {
	if r := y.byName[name]; r != nil {
		return r
	}
	r := &SyncedRun{Run: name, State: SyncSame}
	y.Runs, y.byName[name] = append(y.Runs, r), r
	return r
}

// Sync syncs the runs and conflicts of this repository with a remote. A problem with one run is reported in its
// entry and does not stop the others. Errors: no_remote, remote_failed, remote_contended, locked, and those of
// Begin.
func Sync(ctx context.Context, s *gitstore.Store, opt SyncOptions) (*Synced, error) {
	y, err := syncRounds(ctx, s.Repository(), opt.Remote, max(opt.Wait, syncPatience),
		func(y *Synced) (again bool, err error) {
			if err := landAll(ctx, s, y, opt); err != nil || opt.NoPush {
				return false, err
			}
			again, err = pushAll(ctx, s.Repository(), y, opt)
			if err == nil && !again {
				again, err = pushArchive(ctx, s.Repository(), s.Env(ctx), y)
			}
			if err == nil && y.Pushed {
				err = transport.PreferAuto(ctx, s.Repository(), y.Remote)
			}
			return again, err
		})
	if y != nil {
		y.leaveToOthers()
	}
	return y, err
}

// leaveToOthers takes out the runs that the remote has for other projects of the repository: their files are not
// those of this project, so a sync there follows them.
func (y *Synced) leaveToOthers() {
	left := make(map[gitstore.Project]int)
	y.Runs = slices.DeleteFunc(y.Runs, func(r *SyncedRun) bool {
		if r.other != nil {
			left[*r.other]++
		}
		return r.other != nil
	})
	for _, p := range slices.SortedFunc(maps.Keys(left), func(a, b gitstore.Project) int { return cmp.Compare(a.ID, b.ID) }) {
		if command := p.In("sync " + wire.ShellWord(y.Remote)); command != "" {
			y.Notices = append(y.Notices, fmt.Sprintf("%s of %s there: %s", text.Count(left[p], "run", "runs"), &p, command))
		}
	}
}

// syncRounds fetches and calls round, until it need not be repeated because another machine pushed first.
func syncRounds(ctx context.Context, repo *git.Repository, remote string, wait time.Duration,
	round func(*Synced) (again bool, err error),
) (*Synced, error) {
	remote, err := transport.PickRemote(ctx, repo, remote)
	if err != nil {
		return nil, err
	}
	y := &Synced{Remote: remote, byName: make(map[string]*SyncedRun)}
	if err := transport.ValidName(remote); err != nil {
		return y, err
	}
	unlock, err := lockSync(ctx, repo, wait)
	if err != nil {
		return y, err
	}
	defer unlock()
	// The configuration may be the first thing written.
	y.Notices = append(y.Notices, repo.SweepLocks(ctx, gitcommit.Settle)...)
	var others []string
	if y.Tracking, others, err = transport.TrackRuns(ctx, repo, remote); err != nil {
		return y, err
	}
	defer repo.HoldRefs(git.RefSpace, transport.TrackingSpace(remote))()
	for y.Tries = 1; ; y.Tries++ {
		if err := transport.FetchRuns(ctx, repo, remote, others); err != nil {
			return y, err
		}
		again, err := round(y)
		if err != nil || !again {
			return y, err
		}
		if y.Tries == maxSyncTries {
			return y, contended(remote, y.Tries, y.beaten)
		}
		if err := transport.Backoff(ctx, y.Tries); err != nil {
			return y, err
		}
	}
}

// enter enters an arrived run in a work tree that has none: the newest unfinished one of the branch that is checked
// out, else the newest unfinished one, else the newest.
func enter(ctx context.Context, s *gitstore.Store, y *Synced) error {
	type arrived struct {
		*SyncedRun
		when   time.Time
		branch string // of its newest operation, "" where that is unknown
	}
	var all []arrived
	reader := record.NewReader(ctx, s.Repository())
	others := s.Beside(ctx)
	for _, r := range y.Runs {
		if r.Tip == "" || !r.Began || others.Of(ctx, r.Tip) != nil {
			continue
		}
		c, err := reader.Commit(r.Tip)
		if err != nil {
			return err
		}
		a := arrived{SyncedRun: r, when: c.Author.When}
		if rec, err := reader.Record(c.Tree); err == nil {
			a.branch = rec.Env.Git.Branch
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil
	}
	_, here, err := s.Repository().Checkout(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b arrived) int { return b.when.Compare(a.when) })
	best, found := all[0], false
	for _, r := range all {
		data, _, err := chain.FileAt(ctx, s.Repository(), r.Tip, record.FileState)
		if err != nil {
			return err
		}
		state, _ := run.DecodeState(data)
		if state == nil || state.Status.Ended() || found && (here == "" || r.branch != here) {
			continue
		}
		best, found = r, true
		if here == "" || r.branch == here {
			break
		}
	}
	if err := s.Enter(ctx, best.Run); err != nil {
		return err
	}
	if best.branch != "" && here != "" && best.branch != here {
		y.Notices = append(y.Notices, text.OneLine("run "+best.Run+" was worked on in branch "+best.branch+
			", and this work tree is on "+here))
	}
	y.Entered = best.Run
	return nil
}

// takeConflicts adopts conflicts of the remote: new ones, and outcomes of known ones. Two settlements of one
// conflict do not exclude each other; the remote's stays.
func takeConflicts(ctx context.Context, s *gitstore.Store, y *Synced) error {
	repo := s.Repository()
	there, err := repo.Tips(ctx, transport.TrackingConflicts(y.Remote))
	if err != nil {
		return err
	}
	here, err := repo.Tips(ctx, record.ConflictRefPrefix)
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	var came []*join.Conflict
	for name, oid := range there {
		ref := record.ConflictRefPrefix + name
		if here[name] == oid {
			continue
		}
		c := conflict.At(ctx, repo, ref, oid)
		if c == nil {
			continue
		}
		if here[name] != "" {
			behind, err := history.Ancestor(ctx, repo, oid, here[name])
			if err != nil {
				return err
			}
			if behind {
				continue
			}
		}
		moves = append(moves, git.RefUpdate{Name: ref, New: oid, Old: here[name]})
		came = append(came, c)
	}
	slices.SortFunc(moves, git.ByName)
	if err := repo.UpdateRefs(ctx, moves, "agentxchain: conflicts of "+text.OneLine(y.Remote)); err != nil {
		return err
	}
	if len(came) > 0 {
		came = s.Beside(ctx).Without(ctx, came)
	}
	join.SortConflicts(came)
	y.Conflicts = append(y.Conflicts, came...)
	return nil
}

// OpenConflicts counts the conflicts that wait for a person.
func OpenConflicts(list []*join.Conflict) int {
	n := 0
	for _, c := range list {
		if c.Status == join.ConflictOpen {
			n++
		}
	}
	return n
}
