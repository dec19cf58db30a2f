// What a sync does with each run: what to believe of the remote, then fast-forward, join, or set aside
// (docs/teams.md).

package travel

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// landing holds what landAll knows about both sides.
type landing struct {
	s     *gitstore.Store
	y     *Synced
	opt   SyncOptions
	here  map[string]object.OID
	there map[string]object.OID
	seen  map[string]object.OID
	mine  string // project id
	other *gitstore.Beside
	held  []string
	begun []chain.Range       // runs that are new here, with the remote's tip
	moves []git.RefUpdate     // updates of remembered tips
	heads map[object.OID]bool // commits of the project looked up so far: is it here?

	list   archive.List          // archived runs, as both sides know them
	theirs archive.List          // the remote's list
	past   map[string]object.OID // archived runs whose operations are here
	used   map[string]string     // runs that work trees are in
}

// landAll adopts what the remote has, under the lock.
func landAll(ctx context.Context, s *gitstore.Store, y *Synced, opt SyncOptions) error {
	l := &landing{s: s, y: y, opt: opt, held: s.AgentsAtWork().Held, heads: make(map[object.OID]bool)}
	if err := l.regain(ctx); err != nil {
		return err
	}
	tx, err := s.Begin(ctx, "sync", opt.Wait)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Close() }()
	view := tx.View()
	y.Notices = append(y.Notices, view.Notices...)
	if view.Config != nil {
		l.mine = view.Config.Project.ID
	}
	if err := l.look(ctx); err != nil {
		return err
	}
	for _, name := range opt.Forget {
		if y.Tries == 1 && name != ForgetGone && l.seen[name] == "" {
			y.Notices = append(y.Notices, "nothing of run "+name+" was seen on "+y.Remote+", so nothing is forgotten")
		}
	}
	if err := l.withdrawConflicts(ctx); err != nil {
		return err
	}
	if err := l.archives(ctx); err != nil {
		return err
	}
	names := make([]string, 0, len(l.here)+len(l.there))
	for _, m := range []map[string]object.OID{l.here, l.there, l.seen, l.stray()} {
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
	if err := l.begin(ctx); err != nil {
		return err
	}
	if err := takeConflicts(ctx, s, y); err != nil {
		return err
	}
	if err := witness.Take(ctx, s.Repository(), y.Remote, l.list); err != nil {
		return err
	}
	said, err := witness.Archive(ctx, s.Repository(), s.Env(ctx), l.list, y.Remote)
	if err != nil {
		return err
	}
	y.retire = append(y.retire, said...)
	if view.Run == "" {
		if err := l.unseen(ctx); err != nil {
			return err
		}
		if err := enter(ctx, s, y); err != nil {
			return err
		}
	}
	// Last: if this sync does not get here, the next one treats what was not seen as new.
	if err := s.Repository().UpdateRefs(ctx, l.moves, "agentxchain: seen on "+text.OneLine(y.Remote)); err != nil {
		return err
	}
	l.pack(ctx)
	return nil
}

// look reads the refs of both sides.
func (l *landing) look(ctx context.Context) (err error) {
	if l.here, err = l.s.Repository().Tips(ctx, git.RunRefPrefix); err != nil {
		return err
	}
	if l.there, err = l.s.Repository().Tips(ctx, transport.TrackingPrefix(l.y.Remote)); err != nil {
		return err
	}
	l.seen, err = l.s.Repository().Tips(ctx, record.SeenRefPrefix+l.y.Remote+"/")
	return err
}

// regain restores the run of this work tree from the remote if its ref is gone here: no transaction can begin
// without one.
func (l *landing) regain(ctx context.Context) error {
	s := l.s
	name := s.CurrentRun()
	if git.BadRunID(name) != "" {
		return nil
	}
	if tip, err := chain.Tip(ctx, s.Repository(), name); err != nil || tip != "" {
		return err
	}
	if err := l.look(ctx); err != nil || l.there[name] == "" {
		return err
	}
	if data, err := s.Work().Config(); err == nil {
		if cfg, _, err := config.Decode(data); err == nil {
			l.mine = cfg.Project.ID
		}
	}
	if err := l.archives(ctx); err != nil {
		return err
	}
	if err := l.land(ctx, name, ""); err != nil {
		return err
	}
	err := l.begin(ctx)
	l.begun, l.moves = nil, nil
	if r := l.y.run(name); r.Began {
		r.Began = false // the work tree is in it already
		return err
	} else if err == nil && r.Code != "" {
		err = fail.Errorf(r.Code, nil, "run %s of %s cannot be brought back: %s", name, text.OneLine(l.y.Remote),
			r.Why).WithHint("%s", r.Hint)
	}
	return err
}

// withdrawConflicts removes conflicts about operations that are still in their run: a join found them, and died
// before it moved the run. The join is repeated with the current state. The remote has none of them yet.
func (l *landing) withdrawConflicts(ctx context.Context) error {
	s := l.s
	lacking, err := lackingRefs(ctx, s.Repository(), record.ConflictRefPrefix, transport.TrackingConflicts(l.y.Remote))
	if err != nil {
		return err
	}
	var which bytes.Buffer
	var left []git.RefUpdate
	for _, p := range lacking {
		run, op, _ := strings.Cut(strings.TrimPrefix(p.Name, record.ConflictRefPrefix), "/")
		if tip := l.here[run]; tip != "" && p.Old == "" && object.OID(op).Valid(s.Repository().ObjectFormat) {
			which.WriteString(string(p.New) + "\n^" + string(tip) + "\n")
			left = append(left, git.RefUpdate{Name: p.Name, Old: p.New})
		}
	}
	if len(left) == 0 {
		return nil
	}
	out, err := s.Repository().Git.Run(ctx, which.Bytes(), "rev-list", "--stdin")
	if err != nil {
		return err
	}
	lost := make(map[string]bool)
	for op := range strings.FieldsSeq(string(out)) {
		lost[op] = true
	}
	for _, u := range left {
		run, op, _ := strings.Cut(strings.TrimPrefix(u.Name, record.ConflictRefPrefix), "/")
		if lost[op] {
			continue
		}
		if in, err := history.Ancestor(ctx, s.Repository(), object.OID(op), l.here[run]); err != nil || !in {
			continue // not a conflict of ours
		}
		if err := s.Repository().UpdateRefs(ctx, []git.RefUpdate{u},
			"agentxchain: the operation is in its run"); err != nil {
			return err
		}
	}
	return nil
}

// unseen counts runs as new if an interrupted sync fetched them before it had noted what it saw, and so before it
// had brought one of them into the work tree.
func (l *landing) unseen(ctx context.Context) error {
	for _, r := range l.y.Runs {
		if r.Began || r.Tip == "" || r.There == "" || l.seen[r.Run] != "" || r.State == SyncRefused {
			continue
		}
		if l.used == nil {
			var err error
			if l.used, err = l.s.RunsInUse(ctx); err != nil {
				return err
			}
		}
		r.Began = l.used[r.Run] == ""
	}
	return nil
}

// land adopts one run of the remote.
func (l *landing) land(ctx context.Context, name, current string) error {
	if over, err := l.landArchived(ctx, name, current); err != nil || over {
		return err
	}
	s, r := l.s, l.y.run(name)
	here, there, seen := l.here[name], l.there[name], l.seen[name]
	r.Tip, r.There, r.from = here, there, there
	if seen != "" && forgotten(l.opt.Forget, name, there) {
		l.moves = append(l.moves, git.RefUpdate{Name: record.SeenRefPrefix + l.y.Remote + "/" + name, Old: seen})
		if here == "" {
			l.moves = append(l.moves, git.RefUpdate{Name: record.LostRefPrefix + name + "/" + string(seen), New: seen})
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
		behind, err := history.Ancestor(ctx, s.Repository(), there, here)
		if err != nil || behind {
			return err
		}
	}
	if l.lacks(ctx, r, there) {
		return nil
	}
	forward := here == ""
	if !forward {
		if forward, err = history.Ancestor(ctx, s.Repository(), here, there); err != nil {
			return err
		}
	}
	if forward {
		return l.forward(ctx, r, here, there, current)
	}
	return l.join(ctx, r, here, there, current)
}

// resettle sets the state of a run unless an earlier try has changed the run.
func (r *SyncedRun) resettle(state string) {
	if r.State == SyncSame || r.State == SyncWaits || r.State == SyncRefused {
		r.State, r.Code, r.Why, r.Hint = state, "", "", ""
	}
}

// wentBack reports whether a remote has lost operations it once showed, or has a different history: it is not
// followed.
func (l *landing) wentBack(ctx context.Context, r *SyncedRun, there, seen object.OID) (bool, error) {
	b, err := setBack(ctx, l.s.Repository(), "the remote", there, seen)
	if b == nil || err != nil {
		return false, err
	}
	r.State, r.Code, r.Why = SyncRefused, b.Code, b.Why
	r.Hint = forgetHint(l.y.Remote, r.Run, there, gone(l.seen, l.there))
	if len(l.there) == 0 {
		// Git takes a web page that answers any request for an empty repository.
		r.Hint = "look first whether git ls-remote " + l.y.Remote +
			" shows the repository: another address, or a page that asks for a password, has no run either. If it does, " + r.Hint
	}
	return true, l.aside(ctx, r, there)
}

// aside keeps a refused tip for inspection.
func (l *landing) aside(ctx context.Context, r *SyncedRun, tip object.OID) error {
	if tip == "" {
		return nil
	}
	r.Aside = record.AsideRefPrefix + l.y.Remote + "/" + r.Run + "/" + string(tip)
	have, err := l.s.Repository().ReadRef(ctx, r.Aside)
	if err != nil || have != "" {
		return err
	}
	return l.s.Repository().UpdateRefs(ctx, []git.RefUpdate{{Name: r.Aside, New: tip}}, "agentxchain: refused")
}

// believed verifies what the remote has.
func (l *landing) believed(ctx context.Context, r *SyncedRun, there object.OID) (bool, error) {
	refuse := func(code, why, hint string) (bool, error) {
		r.State, r.Code, r.Why, r.Hint = SyncRefused, code, why, hint
		return false, l.aside(ctx, r, there)
	}
	// What git fetched was complete: an object that cannot be read now is damaged in this clone, and the remote's
	// version must not be replaced because of it.
	amiss := func(code, why string) (bool, bool, error) {
		back := object.WayBack(code, text.OneLine(l.y.Remote))
		if back == "" {
			return false, false, nil
		}
		ok, err := refuse(record.CodeUnproven, "what the remote has cannot be read in this clone: "+why,
			"nothing of it was taken. "+back+"; then git agentxchain sync "+text.OneLine(l.y.Remote))
		return true, ok, err
	}
	ask := "ask the person who pushed it; nothing of it was taken"
	if l.here[r.Run] != "" {
		ask += ". To put back there what this clone has: git push --force " + text.OneLine(l.y.Remote) + " " +
			git.RunRefPrefix + r.Run
	}
	id, err := chain.ProjectAt(ctx, l.s.Repository(), there)
	if err != nil {
		if !errors.As(err, new(*object.KindError)) {
			if said, ok, err := amiss(fail.CodeOf(err), text.OneLine(err.Error())); said {
				return ok, err
			}
		}
		return refuse(record.CodeUnproven, "what the remote has under this name, "+there.Short()+
			", cannot be read as an operation", ask)
	}
	if id != "" && l.mine != "" && id != l.mine {
		if p := l.beside(ctx).Of(ctx, there); p != nil {
			ahead, err := history.Ancestor(ctx, l.s.Repository(), there, l.here[r.Run])
			if !ahead {
				r.other = p // what came is for that project to follow; what went from it may go on
			}
			return false, err
		}
		return refuse(record.CodeForeignRun,
			"the run belongs to project "+text.OneLine(id)+", this is "+text.OneLine(l.mine),
			"ask the person who pushed it; nothing of it was taken")
	}
	if here := l.here[r.Run]; here != "" {
		base, err := history.MergeBase(ctx, l.s.Repository(), here, there)
		if err != nil {
			return false, err
		}
		if base == "" {
			e := gitstore.ForeignRun(r.Run, there)
			return refuse(record.CodeForeignRun, e.Message, e.Hint)
		}
	}
	v, err := proof.Verify(ctx, l.s.Repository(), r.Run, there)
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		if said, ok, err := amiss(fail.CodeOf(err), text.OneLine(err.Error())); said {
			return ok, err
		}
		return refuse(record.CodeUnproven, text.OneLine(err.Error()), ask)
	}
	if !v.Sound() {
		f := v.Findings[0]
		if said, ok, err := amiss(f.Code, "operation "+f.Op.Short()+": "+text.OneLine(f.Message)); said {
			return ok, err
		}
		return refuse(record.CodeUnproven,
			"operation "+f.Op.Short()+" of the remote is not believed: "+text.OneLine(f.Message), ask)
	}
	l.y.Arrived = append(l.y.Arrived, v.Arrived...)
	l.y.Notices = append(l.y.Notices, proof.ArrivalNotices(v.Arrived)...)
	return true, nil
}

// beside returns the other projects of the repository.
func (l *landing) beside(ctx context.Context) *gitstore.Beside {
	if l.other == nil {
		others := l.s.Beside(ctx)
		l.other = &others
	}
	return l.other
}

// remember notes a verified tip of the remote.
func (l *landing) remember(r *SyncedRun, there, seen object.OID) error {
	if there != "" && there != seen {
		l.moves = slices.DeleteFunc(l.moves, func(u git.RefUpdate) bool {
			return u.Name == record.SeenRefPrefix+l.y.Remote+"/"+r.Run
		})
		l.moves = append(l.moves, git.RefUpdate{
			Name: record.SeenRefPrefix + l.y.Remote + "/" + r.Run,
			New:  there,
			Old:  l.seen[r.Run],
		})
	}
	return nil
}

// lacks reports whether the newest operation of an arriving run names a commit of the project that is not here yet.
func (l *landing) lacks(ctx context.Context, r *SyncedRun, there object.OID) bool {
	if l.opt.WithoutCommits || len(history.ShallowCommits(l.s.Repository())) > 0 {
		return false
	}
	head := chain.CodeHead(ctx, l.s.Repository(), there)
	if _, asked := l.heads[head]; !asked {
		l.heads[head] = head == "" || l.s.Repository().HasCommit(ctx, head)
	}
	if l.heads[head] {
		return false
	}
	r.State, r.Code = SyncWaits, "base_missing"
	r.Why = "the remote's newest operation was made at commit " + head.Short() + ", which is not here"
	r.Hint = "the person who made it pushes the branch of that commit; or, without it: git agentxchain sync " +
		l.y.Remote + " --without-commits"
	return true
}

// forward adopts a run that only continued elsewhere. A run that is new here waits for begin.
func (l *landing) forward(ctx context.Context, r *SyncedRun, here, there object.OID, current string) error {
	if here == "" && r.Run != current {
		l.begun = append(l.begun, chain.Range{Run: r.Run, To: there})
		return nil
	}
	s := l.s
	ops, err := chain.Since(ctx, s.Repository(), here, there)
	if err != nil {
		return err
	}
	if err := s.Repository().UpdateRefs(ctx, []git.RefUpdate{{Name: git.RunRefPrefix + r.Run, New: there, Old: here}},
		"agentxchain: came from "+text.OneLine(l.y.Remote)); err != nil {
		return err
	}
	r.came(there, len(ops))
	if r.Run == current {
		return s.CatchUp(ctx)
	}
	return nil
}

// begin adopts all runs that are new here at once: a clone of a repository with many runs begins with all of them.
func (l *landing) begin(ctx context.Context) error {
	ops, err := chain.Ranges(ctx, l.s.Repository(), l.begun)
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	for _, b := range l.begun {
		moves = append(moves, git.RefUpdate{Name: git.RunRefPrefix + b.Run, New: b.To})
	}
	if err := l.s.Repository().UpdateRefs(ctx, moves, "agentxchain: came from "+text.OneLine(l.y.Remote)); err != nil {
		return err
	}
	for _, b := range l.begun {
		r := l.y.run(b.Run)
		r.Began = true
		r.came(b.To, len(ops[b.Run]))
	}
	return nil
}

// manyRefs is the number of new runs from which their refs are packed at once: otherwise every later look would
// have to open a file for each.
const manyRefs = 500

// pack has git pack the refs of many new runs into one file. This is housekeeping: a failure changes nothing.
func (l *landing) pack(ctx context.Context) {
	if len(l.begun) >= manyRefs {
		_, _ = l.s.Repository().Git.Run(ctx, nil, "pack-refs", "--all")
	}
}

// came notes n operations that arrived, up to tip.
func (r *SyncedRun) came(tip object.OID, n int) {
	r.Came += n
	r.Tip = tip
	r.resettle(SyncCame)
}

// join decides again the operations made here.
func (l *landing) join(ctx context.Context, r *SyncedRun, here, there object.OID, current string) error {
	s := l.s
	if r.Run == current && len(l.held) > 0 {
		r.State, r.Code = SyncWaits, "turn_at_work"
		r.Why = "both sides went on, and turn " + text.OneLine(l.held[0]) + " is at work here"
		r.Hint = "git agentxchain sync " + l.y.Remote + ", when it has ended"
		return nil
	}
	if err := proof.Believe(ctx, s.Repository(), r.Run, here); err != nil {
		r.State, r.Code, r.Why = SyncRefused, record.CodeUnproven, text.OneLine(err.Error())
		return nil
	}
	j, n, err := joinRun(ctx, s, r.Run, here, there, l.opt.Reindex)
	if err != nil {
		return err
	}
	r.Came += n
	r.Tip, r.Joined, r.State = j.Tip, r.Joined.With(j), SyncJoined
	if r.Run == current {
		_, err = s.SettleJoin(ctx)
	}
	return err
}

// countOps counts the operations after base up to tip.
func countOps(ctx context.Context, repo *git.Repository, base, tip object.OID) (int, error) {
	out, err := repo.Git.Run(ctx, nil, "rev-list", "--count", string(base)+".."+string(tip), "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}
