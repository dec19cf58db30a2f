// Synchronising the runs of a repository with a remote: fetch, believe, join, push
// (docs/teams.md). The server is any git; what decides between machines is its
// compare-and-swap of a ref.

package gitstore

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

const (
	// SeenRefPrefix is where the newest believed tip of each run on each remote is
	// remembered: below it <remote>/<run>.
	SeenRefPrefix = git.RefSpace + "seen/"
	// AsideRefPrefix is where tips are kept that were refused: below it
	// <remote>/<run>/<operation>.
	AsideRefPrefix = git.RefSpace + "aside/"
)

// maxSyncTries bounds how often a sync decides again because another pushed first.
const maxSyncTries = 8

// syncPatience is how long a sync waits for another one of the same clone.
const syncPatience = time.Minute

// SyncOptions of Sync.
type SyncOptions struct {
	Remote  string        // "" picks one, see PickRemote
	Wait    time.Duration // for the lock
	Reindex Reindex
	Branch  bool     // push the branch that is checked out along, never forced
	Forget  []string // runs whose remembered tips are given up
	// WithoutCommits also moves operations whose commits of the project one side lacks.
	WithoutCommits bool
	NoPush         bool
}

// States of a run after a sync.
const (
	SyncSame    = "same"    // both sides have the same operations
	SyncCame    = "came"    // operations came from the remote
	SyncWent    = "went"    // operations went to it
	SyncJoined  = "joined"  // both went on; ours were decided again after theirs
	SyncWaits   = "waits"   // something has to come first; Why says what
	SyncRefused = "refused" // what the remote has is not believed, or it takes nothing
)

// SyncedRun is what a sync did with one run.
type SyncedRun struct {
	Run    string
	State  string
	Came   int // operations
	Went   int
	Tip    git.OID // here
	There  git.OID // on the remote, as far as known
	Joined *Joined
	Code   string // of what is wrong, "" when nothing is
	Why    string
	Hint   string
	Aside  string // ref that keeps a refused tip
	Began  bool   // the run is new here

	from git.OID // where the remote was
}

// Synced is the outcome of a sync.
type Synced struct {
	Remote   string
	Tracking bool // the refspecs were added just now
	Runs     []*SyncedRun
	Tries    int
	Notices  []string
	Entered  string // the run that was brought into this work tree
	Pushed   bool   // the remote has taken something
}

// run returns the entry of a run, a new one when there is none.
func (y *Synced) run(name string) *SyncedRun {
	for _, r := range y.Runs {
		if r.Run == name {
			return r
		}
	}
	r := &SyncedRun{Run: name, State: SyncSame}
	y.Runs = append(y.Runs, r)
	return r
}

// Sync brings runs and conflicts of this repository and of a remote together. What is
// wrong with one run is said in its entry and does not stop the others. Errors:
// no_remote, remote_failed, remote_contended, locked, and those of Begin.
func (s *Store) Sync(ctx context.Context, opt SyncOptions) (*Synced, error) {
	remote, err := PickRemote(ctx, s.repo, opt.Remote)
	if err != nil {
		return nil, err
	}
	y := &Synced{Remote: remote}
	if err := validRemoteName(remote); err != nil {
		return y, err
	}
	if y.Tracking, err = TrackRuns(ctx, s.repo, remote); err != nil {
		return y, err
	}
	// One at a time in a clone: two gits that fetch would be in each other's way.
	if err := os.MkdirAll(filepath.Join(s.repo.CommonDir, "agentxchain"), 0o777); err != nil {
		return y, git.Errorf(git.CodeUnreadable, err, "the git directory cannot be written to")
	}
	lock, err := AcquireLock(ctx, filepath.Join(s.repo.CommonDir, "agentxchain", "sync.lock"), "sync", max(opt.Wait, syncPatience))
	if err != nil {
		return y, err
	}
	defer func() { _ = lock.Release() }()
	for y.Tries = 1; ; y.Tries++ {
		if err := fetchRuns(ctx, s.repo, remote); err != nil {
			return y, err
		}
		if err := s.landAll(ctx, y, opt); err != nil {
			return y, err
		}
		if opt.NoPush {
			return y, nil
		}
		again, err := s.pushAll(ctx, y, opt)
		if err == nil && y.Pushed {
			err = s.preferAuto(ctx, remote)
		}
		if err != nil || !again {
			return y, err
		}
		if y.Tries == maxSyncTries {
			return y, git.Errorf(CodeRemoteBusy, nil, "others pushed to %s first, %d times in a row", remote, y.Tries).
				WithHint("the operations are kept here: git agentxchain sync %s", remote)
		}
		if err := jitter(ctx, y.Tries); err != nil {
			return y, err
		}
	}
}

// jitter waits a random time that grows with the tries: those who collided must not meet
// again.
func jitter(ctx context.Context, tries int) error {
	t := time.NewTimer(time.Duration(rand.Int64N(int64(50*time.Millisecond) << min(tries, 6))))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// tips reads refs below a prefix: name after it -> object.
func (s *Store) tips(ctx context.Context, prefix string) (map[string]git.OID, error) {
	refs, err := s.repo.ListRefs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]git.OID, len(refs))
	for _, ref := range refs {
		if ref.OID != "" && ref.Target == "" && !ref.Broken {
			out[strings.TrimPrefix(ref.Name, prefix)] = ref.OID
		}
	}
	return out, nil
}

// landing is what landAll knows of both sides.
type landing struct {
	s     *Store
	y     *Synced
	opt   SyncOptions
	here  map[string]git.OID
	there map[string]git.OID
	seen  map[string]git.OID
	mine  string // project id
	held  []string
	moves []git.RefUpdate // of remembered tips
}

// landAll takes over what the remote has, under the lock.
func (s *Store) landAll(ctx context.Context, y *Synced, opt SyncOptions) error {
	tx, err := s.Begin(ctx, "sync", opt.Wait)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Close() }()
	view := tx.View()
	y.Notices = append(y.Notices, view.Notices...)
	l := &landing{s: s, y: y, opt: opt, held: s.atWork().Held}
	if view.Config != nil {
		l.mine = view.Config.Project.ID
	}
	if l.here, err = s.tips(ctx, git.RunRefPrefix); err != nil {
		return err
	}
	if l.there, err = s.tips(ctx, TrackingPrefix(y.Remote)); err != nil {
		return err
	}
	if l.seen, err = s.tips(ctx, SeenRefPrefix+y.Remote+"/"); err != nil {
		return err
	}
	names := make([]string, 0, len(l.here)+len(l.there))
	for _, m := range []map[string]git.OID{l.here, l.there, l.seen} {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, err := git.RunRef(name); err != nil {
			continue
		}
		if err := l.land(ctx, name, view.Run); err != nil {
			return err
		}
	}
	if err := s.takeConflicts(ctx, y.Remote); err != nil {
		return err
	}
	if err := s.repo.UpdateRefs(ctx, l.moves, "agentxchain: seen on "+oneLine(y.Remote)); err != nil {
		return err
	}
	if view.Run == "" {
		if err := s.enter(ctx, y); err != nil {
			return err
		}
	}
	return nil
}

// land takes over one run of the remote.
func (l *landing) land(ctx context.Context, name, current string) error {
	s, r := l.s, l.y.run(name)
	here, there, seen := l.here[name], l.there[name], l.seen[name]
	r.Tip, r.There, r.from = here, there, there
	if seen != "" && slices.Contains(l.opt.Forget, name) {
		l.moves = append(l.moves, git.RefUpdate{Name: SeenRefPrefix + l.y.Remote + "/" + name, Old: seen})
		if here == "" {
			l.moves = append(l.moves, git.RefUpdate{Name: LostRefPrefix + name + "/" + string(seen), New: seen})
		}
		seen = ""
	}
	if went, err := l.wentBack(ctx, r, there, seen); err != nil || went {
		return err
	}
	if there == "" || there == here {
		r.resettle(SyncSame)
		return l.remember(r, there, seen)
	}
	ok, err := l.believed(ctx, r, there)
	if err != nil || !ok {
		return err
	}
	if err := l.remember(r, there, seen); err != nil {
		return err
	}
	if here != "" {
		behind, err := s.repo.Ancestor(ctx, there, here)
		if err != nil || behind {
			return err
		}
	}
	if wait, err := l.lacks(ctx, r, there); err != nil || wait {
		return err
	}
	forward := here == ""
	if !forward {
		if forward, err = s.repo.Ancestor(ctx, here, there); err != nil {
			return err
		}
	}
	if forward {
		return l.forward(ctx, r, here, there, current)
	}
	return l.join(ctx, r, here, there, current)
}

// resettle sets the state of a run unless something was done with it in an earlier try.
func (r *SyncedRun) resettle(state string) {
	if r.State == SyncSame || r.State == SyncWaits || r.State == SyncRefused {
		r.State, r.Code, r.Why, r.Hint = state, "", "", ""
	}
}

// wentBack reports a remote that has lost operations it once showed, or tells another
// story: it is not followed.
func (l *landing) wentBack(ctx context.Context, r *SyncedRun, there, seen git.OID) (bool, error) {
	if seen == "" || there == seen {
		return false, nil
	}
	if there != "" {
		on, err := l.s.repo.Ancestor(ctx, seen, there)
		if err != nil || on {
			return false, err
		}
	}
	r.State, r.Code = SyncRefused, CodeRemoteBack
	lost := ""
	switch {
	case there == "":
		r.Why = "the remote no longer has this run; it was at operation " + seen.Short()
	default:
		base, err := l.s.mergeBase(ctx, seen, there)
		if err != nil {
			return false, err
		}
		if base == "" {
			r.Why = "the remote has another run under this name; it was at operation " + seen.Short()
			r.Code = CodeRemoteForked
			break
		}
		n, err := l.s.countOps(ctx, base, seen)
		if err != nil {
			return false, err
		}
		lost = counted(n, "operation") + " up to " + seen.Short()
		if base == there {
			r.Why = "the remote went back to operation " + there.Short() + " and lacks " + lost
		} else {
			r.Code = CodeRemoteForked
			r.Why = "the remote was rewritten: it went back to operation " + base.Short() + ", lacks " + lost + " and went on to " + there.Short()
		}
	}
	r.Hint = "nothing was followed, and this clone still has what it saw: ask whoever runs the server. To push it there again and go on: git agentxchain sync " + l.y.Remote + " --forget " + r.Run
	return true, l.aside(ctx, r, there)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// aside keeps a tip that was refused, for a look.
func (l *landing) aside(ctx context.Context, r *SyncedRun, tip git.OID) error {
	if tip == "" {
		return nil
	}
	r.Aside = AsideRefPrefix + l.y.Remote + "/" + r.Run + "/" + string(tip)
	have, err := l.s.repo.ReadRef(ctx, r.Aside)
	if err != nil || have != "" {
		return err
	}
	return l.s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: r.Aside, New: tip}}, "agentxchain: refused")
}

// believed holds what the remote has against the one door.
func (l *landing) believed(ctx context.Context, r *SyncedRun, there git.OID) (bool, error) {
	refuse := func(code, why, hint string) (bool, error) {
		r.State, r.Code, r.Why, r.Hint = SyncRefused, code, why, hint
		return false, l.aside(ctx, r, there)
	}
	data, _, err := FileAt(ctx, l.s.repo, there, treeConfig)
	if err != nil {
		return refuse(CodeUnproven, "the remote's operation "+there.Short()+" cannot be read", "git agentxchain fsck --replay")
	}
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil && l.mine != "" && cfg.Project.ID != l.mine {
		return refuse(CodeForeignRun, "the run belongs to project "+oneLine(cfg.Project.ID)+", this is "+oneLine(l.mine),
			"ask whoever pushed it; nothing of it was taken")
	}
	if here := l.here[r.Run]; here != "" {
		base, err := l.s.mergeBase(ctx, here, there)
		if err != nil {
			return false, err
		}
		if base == "" {
			e := foreignRun(r.Run, there)
			return refuse(CodeForeignRun, e.Message, e.Hint)
		}
	}
	v, err := l.s.Verify(ctx, r.Run, there)
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		return refuse(CodeUnproven, oneLine(err.Error()), "git agentxchain fsck --replay")
	}
	if !v.Sound() {
		f := v.Findings[0]
		return refuse(CodeUnproven, "operation "+f.Op.Short()+" of the remote is not believed: "+oneLine(f.Message),
			"ask whoever pushed it; nothing of it was taken")
	}
	l.y.Notices = append(l.y.Notices, arrivalNotices(v.Arrived)...)
	return true, nil
}

// remember notes a believed tip of the remote.
func (l *landing) remember(r *SyncedRun, there, seen git.OID) error {
	if there != "" && there != seen {
		l.moves = slices.DeleteFunc(l.moves, func(u git.RefUpdate) bool { return u.Name == SeenRefPrefix+l.y.Remote+"/"+r.Run })
		l.moves = append(l.moves, git.RefUpdate{Name: SeenRefPrefix + l.y.Remote + "/" + r.Run, New: there, Old: l.seen[r.Run]})
	}
	return nil
}

// lacks reports an arriving run whose newest operation names a commit of the project that
// is not here yet.
func (l *landing) lacks(ctx context.Context, r *SyncedRun, there git.OID) (bool, error) {
	if l.opt.WithoutCommits || len(l.s.repo.ShallowCommits()) > 0 {
		return false, nil
	}
	head := l.s.codeHead(ctx, there)
	if head == "" || l.s.repo.HasCommit(ctx, head) {
		return false, nil
	}
	r.State, r.Code = SyncWaits, "base_missing"
	r.Why = "the remote's newest operation was made at commit " + head.Short() + ", which is not here"
	r.Hint = "whoever made it pushes the branch of that commit; or, without it: git agentxchain sync " + l.y.Remote + " --without-commits"
	return true, nil
}

// codeHead is the commit of the project an operation was made at, "" for none.
func (s *Store) codeHead(ctx context.Context, op git.OID) git.OID {
	c, err := s.reader(ctx).commit(op)
	if err != nil {
		return ""
	}
	head := git.OID(trailer(c.Message, trailerHead))
	if !head.Valid(s.repo.ObjectFormat) {
		return ""
	}
	return head
}

// forward takes over a run that only went on elsewhere.
func (l *landing) forward(ctx context.Context, r *SyncedRun, here, there git.OID, current string) error {
	s := l.s
	var err error
	n := 0
	if here == "" {
		n, err = s.countOps(ctx, "", there)
		r.Began = true
	} else {
		n, err = s.countOps(ctx, here, there)
	}
	if err != nil {
		return err
	}
	if err := s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: git.RunRefPrefix + r.Run, New: there, Old: here}}, "agentxchain: came from "+oneLine(l.y.Remote)); err != nil {
		return err
	}
	r.Came += n
	r.Tip = there
	r.resettle(SyncCame)
	if r.Run == current {
		return s.follow(ctx)
	}
	return nil
}

// follow brings the working files along.
func (s *Store) follow(ctx context.Context) error {
	in, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	if in.sit == sitBehind {
		return s.rollForward(in)
	}
	return nil
}

// join decides again on what was done here.
func (l *landing) join(ctx context.Context, r *SyncedRun, here, there git.OID, current string) error {
	s := l.s
	if r.Run == current && len(l.held) > 0 {
		r.State, r.Code = SyncWaits, "turn_at_work"
		r.Why = "both sides went on, and turn " + oneLine(l.held[0]) + " is at work here"
		r.Hint = "git agentxchain sync " + l.y.Remote + ", when it has ended"
		return nil
	}
	if err := s.believe(ctx, r.Run, here); err != nil {
		r.State, r.Code, r.Why = SyncRefused, CodeUnproven, oneLine(err.Error())
		return nil
	}
	j, err := s.joinRun(ctx, r.Run, here, there, l.opt.Reindex)
	if err != nil {
		return err
	}
	n, err := s.countOps(ctx, j.Base, there)
	if err != nil {
		return err
	}
	if err := s.commitJoin(ctx, j, here); err != nil {
		return err
	}
	r.Came += n
	r.Tip, r.Joined, r.State = j.Tip, r.Joined.with(j), SyncJoined
	if r.Run == current {
		_, err = s.settleJoin(ctx)
	}
	return err
}

// with adds the outcome of a further try.
func (j *Joined) with(next *Joined) *Joined {
	if j == nil {
		return next
	}
	next.Conflicts = append(slices.Clip(j.Conflicts), next.Conflicts...)
	next.Same = append(slices.Clip(j.Same), next.Same...)
	return next
}

// countOps counts the operations after base up to tip; all of them for "".
func (s *Store) countOps(ctx context.Context, base, tip git.OID) (int, error) {
	what := string(tip)
	if base != "" {
		what = string(base) + ".." + what
	}
	out, err := s.repo.Git.Run(ctx, nil, "rev-list", "--count", what, "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// enter brings the newest unfinished run that came into a work tree that has none.
func (s *Store) enter(ctx context.Context, y *Synced) error {
	var best *SyncedRun
	var when time.Time
	for _, r := range y.Runs {
		if r.Tip == "" || !r.Began {
			continue
		}
		c, err := s.reader(ctx).commit(r.Tip)
		if err != nil {
			return err
		}
		if best == nil || c.Author.When.After(when) {
			best, when = r, c.Author.When
		}
	}
	if best == nil {
		return nil
	}
	if _, err := s.repairFromRef(ctx, RepairOptions{Run: best.Run}); err != nil {
		return err
	}
	y.Entered = best.Run
	return nil
}

// takeConflicts takes over conflicts of the remote: new ones, and what became of known
// ones. Two settlements of one conflict do not exclude each other; the remote's stays.
func (s *Store) takeConflicts(ctx context.Context, remote string) error {
	there, err := s.tips(ctx, trackingConflicts(remote))
	if err != nil {
		return err
	}
	here, err := s.tips(ctx, ConflictRefPrefix)
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	for name, oid := range there {
		ref := ConflictRefPrefix + name
		if here[name] == oid || s.conflictAt(ctx, ref, oid) == nil {
			continue
		}
		if here[name] != "" {
			behind, err := s.repo.Ancestor(ctx, oid, here[name])
			if err != nil {
				return err
			}
			if behind {
				continue
			}
		}
		moves = append(moves, git.RefUpdate{Name: ref, New: oid, Old: here[name]})
	}
	slices.SortFunc(moves, func(a, b git.RefUpdate) int { return cmp.Compare(a.Name, b.Name) })
	return s.repo.UpdateRefs(ctx, moves, "agentxchain: conflicts of "+oneLine(remote))
}

// pushAll pushes what the remote lacks. again says that the remote has moved meanwhile.
func (s *Store) pushAll(ctx context.Context, y *Synced, opt SyncOptions) (again bool, err error) {
	var refs []refPush
	runs := make(map[string]*SyncedRun)
	for _, r := range y.Runs {
		if r.Tip == "" || r.Tip == r.from || r.State == SyncRefused || r.State == SyncWaits {
			continue
		}
		tip, err := s.pushable(ctx, y.Remote, r, opt)
		if err != nil {
			return false, err
		}
		if tip == "" || tip == r.from {
			continue
		}
		p := refPush{Name: git.RunRefPrefix + r.Run, New: tip, Old: r.from}
		refs, runs[p.Name] = append(refs, p), r
	}
	conflicts, err := s.conflictPushes(ctx, y.Remote)
	if err != nil {
		return false, err
	}
	refs = append(refs, conflicts...)
	var extra []string
	if opt.Branch {
		if head, err := s.repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD"); err == nil {
			extra = []string{strings.TrimSpace(string(head))}
		}
	}
	if len(refs) == 0 && len(extra) == 0 {
		return false, nil
	}
	said, err := pushRefs(ctx, s.repo, y.Remote, refs, extra...)
	if err != nil {
		return false, err
	}
	var seen []git.RefUpdate
	for _, p := range refs {
		a, r := said[p.Name], runs[p.Name]
		if a.State == pushedStale {
			again = true
		}
		if a.State == pushedOK {
			y.Pushed = true
		}
		if r == nil {
			continue
		}
		switch a.State {
		case pushedOK:
			n, err := s.countOps(ctx, p.Old, p.New)
			if err != nil {
				return false, err
			}
			r.Went, r.There, r.from = r.Went+n, p.New, p.New
			if r.State != SyncWaits { // what is left waits for a commit
				r.resettle(SyncWent)
			}
			u := git.RefUpdate{Name: SeenRefPrefix + y.Remote + "/" + r.Run, New: p.New}
			if u.Old, err = s.repo.ReadRef(ctx, u.Name); err != nil {
				return false, err
			}
			seen = append(seen, u)
		case pushedRefused:
			r.State, r.Code = SyncRefused, CodeRemoteRefused
			r.Why = y.Remote + " does not take " + p.Name + ": " + a.Why
			r.Hint = "ask whoever runs the server to allow pushes to refs/agentxchain/* (runs and conflicts) there; the operations stay here"
		}
	}
	return again, s.repo.UpdateRefs(ctx, seen, "agentxchain: pushed to "+oneLine(y.Remote))
}

// conflictPushes are the conflicts the remote lacks.
func (s *Store) conflictPushes(ctx context.Context, remote string) ([]refPush, error) {
	here, err := s.tips(ctx, ConflictRefPrefix)
	if err != nil {
		return nil, err
	}
	there, err := s.tips(ctx, trackingConflicts(remote))
	if err != nil {
		return nil, err
	}
	var out []refPush
	for name, oid := range here {
		if there[name] != oid {
			out = append(out, refPush{Name: ConflictRefPrefix + name, New: oid, Old: there[name]})
		}
	}
	slices.SortFunc(out, func(a, b refPush) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// pushable is the newest operation whose commits of the project the remote has, so that
// no record gets there before what it names.
func (s *Store) pushable(ctx context.Context, remote string, r *SyncedRun, opt SyncOptions) (git.OID, error) {
	if opt.WithoutCommits {
		return r.Tip, nil
	}
	what := string(r.Tip)
	if r.from != "" {
		what = string(r.from) + ".." + what
	}
	ops, err := s.logFrom(ctx, git.OID(what), 0)
	if err != nil {
		return "", err
	}
	slices.Reverse(ops)
	known := make(map[string]bool)
	tip := r.from
	for i, op := range ops {
		if head := op.CodeHead; head != "" {
			had, asked := known[head]
			if !asked {
				if had, err = s.remoteHas(ctx, remote, git.OID(head), opt.Branch); err != nil {
					return "", err
				}
				known[head] = had
			}
			if !had {
				r.resettle(SyncWaits)
				r.Code = "base_missing"
				r.Why = counted(len(ops)-i, "operation") + " made at commit " + git.OID(head).Short() + ", which " + remote + " does not have"
				r.Hint = "git push " + remote + ", then git agentxchain sync " + remote + "; or both at once: git agentxchain sync " + remote + " --branch"
				return tip, nil
			}
		}
		tip = op.Op
	}
	return tip, nil
}

// remoteHas reports whether the remote's branches lead to a commit, as far as is known
// here. A remote none of whose branches is tracked is not asked about.
func (s *Store) remoteHas(ctx context.Context, remote string, commit git.OID, branch bool) (bool, error) {
	if !commit.Valid(s.repo.ObjectFormat) || !s.repo.HasCommit(ctx, commit) {
		return true, nil // it is not ours to push
	}
	if branch {
		if on, err := s.HeadCommit(ctx); err == nil && on != "" {
			if in, err := s.repo.Ancestor(ctx, commit, on); err != nil || in {
				return in, err
			}
		}
	}
	out, err := s.repo.Git.Run(ctx, nil, "for-each-ref", "--contains="+string(commit), "--format=%(refname)", remoteRefs+remote+"/")
	return len(bytesWithout(out, remoteRefs+remote+"/agentxchain/")) > 0, err
}

// bytesWithout drops the lines that begin with a prefix.
func bytesWithout(out []byte, prefix string) []string {
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// OpenConflicts counts those that wait for a person.
func OpenConflicts(list []*protocol.Conflict) int {
	n := 0
	for _, c := range list {
		if c.Status == protocol.ConflictOpen {
			n++
		}
	}
	return n
}
