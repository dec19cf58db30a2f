// Syncing the initiatives of a workspace with a remote of its repository: fetch, verify, follow, push, each by the
// server's compare-and-swap (docs/coordinator.md#on-another-machine).

package travel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeInitiativeApart means that two machines continued an initiative from one change.
const CodeInitiativeApart = "initiative_diverged"

// InitiativeSync are the options of SyncInitiatives.
type InitiativeSync struct {
	Remote  string   // "" picks one, see PickRemote
	Project string   // id of the project; a record of another project is refused
	Forget  []string // initiatives whose remembered tips are given up
	NoPush  bool

	// Exclusive runs land, which adopts what was fetched, while nothing else is at work in the workspace. Fetching
	// and pushing, which take time, are outside it.
	Exclusive func(ctx context.Context, land func(context.Context) error) error
	// Judge is called before an initiative moves here from one change, "" for none, to another: do the repositories
	// support it? An error refuses the move.
	Judge func(ctx context.Context, name string, from, to object.OID) error
	// Join is called when both sides continued from base, "" for two that began separately, and returns the change
	// with which this side continues: there if everything done here since base is what any clone does by itself, a
	// change on top of there if people also said something here, and "" if the two cannot be combined.
	Join func(ctx context.Context, base, here, there object.OID) (object.OID, error)
	// Follow updates the files of the workspace after the ref has moved.
	Follow func(ctx context.Context, name string, to object.OID) error
}

// SyncInitiatives syncs the initiatives here with a remote's. An initiative that both sides continued is refused:
// the coordinator's decisions cannot be decided again without the person who made them. If this side has only
// counted what repositories accepted, it continues from the remote's. A problem with one does not stop the others.
//
// Errors: no_remote, remote_failed, remote_contended, locked.
func SyncInitiatives(ctx context.Context, repo *git.Repository, opt InitiativeSync) (*Synced, error) {
	return syncRounds(ctx, repo, opt.Remote, syncPatience, func(y *Synced) (again bool, err error) {
		l := &initiativeLanding{repo: repo, y: y, opt: opt}
		if err := opt.Exclusive(ctx, l.all); err != nil || opt.NoPush {
			return false, err
		}
		again, err = l.push(ctx)
		if err == nil && y.Pushed {
			err = transport.PreferAuto(ctx, repo, y.Remote)
		}
		return again, err
	})
}

// lockSync keeps two fetching gits in one clone from interfering.
func lockSync(ctx context.Context, repo *git.Repository, wait time.Duration) (unlock func(), err error) {
	if err := git.MakeDir(filepath.Join(repo.CommonDir, "agentxchain")); err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	lock, err := lockfile.Acquire(ctx, filepath.Join(repo.CommonDir, "agentxchain", "sync.lock"), "sync", wait)
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Release() }, nil
}

// contended returns the error for a remote whose refs had moved each time, or were locked; why is its last answer.
func contended(remote string, tries int, why string) error {
	return fail.Errorf(transport.CodeRemoteBusy, nil,
		"%s did not move its refs, %d times in a row: others pushed first, or it holds a lock (%s)", remote, tries, why).
		WithHint("the operations are kept here: git agentxchain sync %s", remote)
}

// initiativeLanding is one round of a sync.
type initiativeLanding struct {
	repo *git.Repository
	y    *Synced
	opt  InitiativeSync

	seen  map[string]object.OID
	moves []git.RefUpdate // updates of remembered tips
}

func (l *initiativeLanding) seenRef(name string) string {
	return record.SeenRefPrefix + l.y.Remote + "/" + record.InitiativeNames + name
}

// all adopts what the remote has.
func (l *initiativeLanding) all(ctx context.Context) error {
	repo, names := l.repo, make(map[string]bool)
	here, err := repo.Tips(ctx, record.InitiativeRefPrefix)
	if err != nil {
		return err
	}
	there, err := repo.Tips(ctx, transport.TrackingInitiatives(l.y.Remote))
	if err != nil {
		return err
	}
	if l.seen, err = repo.Tips(ctx, l.seenRef("")); err != nil {
		return err
	}
	for _, m := range []map[string]object.OID{here, there, l.seen} {
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, err := git.RunRef(name); err != nil {
			continue
		}
		r := l.y.run(name)
		r.Tip, r.There, r.from = here[name], there[name], there[name]
		if err := l.land(ctx, r); err != nil {
			return err
		}
	}
	return repo.UpdateRefs(ctx, l.moves, "agentxchain: seen on "+text.OneLine(l.y.Remote))
}

// land adopts one initiative.
func (l *initiativeLanding) land(ctx context.Context, r *SyncedRun) error {
	repo, here, there, seen := l.repo, r.Tip, r.There, l.seen[r.Run]
	if seen != "" && forgotten(l.opt.Forget, r.Run, there) {
		l.moves = append(l.moves, git.RefUpdate{Name: l.seenRef(r.Run), Old: seen})
		seen = ""
	}
	b, err := setBack(ctx, repo, "the remote", there, seen)
	if err != nil {
		return err
	}
	if b != nil {
		return l.refuse(ctx, r, b.Code, b.Why, forgetHint(l.y.Remote, r.Run, there, 1))
	}
	if there == "" || there == here {
		r.resettle(SyncSame)
		l.remember(r, there, seen)
		return nil
	}
	base := object.OID("")
	if here != "" {
		if base, err = history.MergeBase(ctx, repo, here, there); err != nil {
			return err
		}
		if base == there {
			l.remember(r, there, seen) // it is part of what is here
			return nil
		}
	}
	if err := record.VerifyInitiative(ctx, repo, r.Run, there, base, l.opt.Project); err != nil {
		return l.believeNot(ctx, r, err)
	}
	l.remember(r, there, seen)
	to := there
	if base != here {
		if to, err = l.opt.Join(ctx, base, here, there); err != nil {
			return err
		}
		if to == "" {
			return l.apart(ctx, r, base)
		}
	}
	if err := l.opt.Judge(ctx, r.Run, base, there); err != nil {
		return l.believeNot(ctx, r, err)
	}
	if base != here {
		if _, err := keepLost(ctx, repo, r.Run, here); err != nil {
			return err
		}
	}
	ops, err := chain.Since(ctx, repo, base, there)
	if err != nil {
		return err
	}
	if err := repo.UpdateRefs(ctx, []git.RefUpdate{{Name: record.InitiativeRefPrefix + r.Run, New: to, Old: here}},
		"agentxchain: came from "+text.OneLine(l.y.Remote)); err != nil {
		return err
	}
	r.Began = r.Began || here == ""
	r.came(to, len(ops))
	return l.opt.Follow(ctx, r.Run, to)
}

// apart reports that both sides continued.
func (l *initiativeLanding) apart(ctx context.Context, r *SyncedRun, base object.OID) error {
	theirs := "git agentxchain multi restore " + r.Run + " --theirs " + l.y.Remote
	if base == "" {
		return l.refuse(ctx, r, record.CodeForeignRun, "the initiative there shares no change with the one here",
			"ask the person who pushed it; nothing of it was taken. To go on from it and keep what is here: "+theirs)
	}
	ours, err := countOps(ctx, l.repo, base, r.Tip)
	if err != nil {
		return err
	}
	others, err := countOps(ctx, l.repo, base, r.There)
	if err != nil {
		return err
	}
	r.State, r.Code = SyncRefused, CodeInitiativeApart
	r.Why = "both sides went on from change " + base.Short() + ": " + text.Count(ours, "change", "changes") +
		" here, " +
		text.Count(others, "change", "changes") + " on " + l.y.Remote
	r.Hint = theirs +
		" goes on from the remote's: what was accepted is counted again, gates decided only here are asked again, and the changes here are kept"
	return nil
}

// believeNot keeps a refused tip for inspection.
func (l *initiativeLanding) believeNot(ctx context.Context, r *SyncedRun, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	code, hint := cmp.Or(wire.ErrorCode(err), record.CodeUnproven), ""
	var h interface{ ErrorHint() string }
	if errors.As(err, &h) {
		hint = h.ErrorHint()
	}
	if hint == "" {
		hint = "ask the person who pushed it; nothing of it was taken"
	}
	return l.refuse(ctx, r, code, text.OneLine(err.Error()), hint)
}

func (l *initiativeLanding) refuse(ctx context.Context, r *SyncedRun, code, why, hint string) error {
	r.State, r.Code, r.Why, r.Hint = SyncRefused, code, why, hint
	if r.There == "" {
		return nil
	}
	r.Aside = record.AsideRefPrefix + l.y.Remote + "/" + record.InitiativeNames + r.Run + "/" + string(r.There)
	have, err := l.repo.ReadRef(ctx, r.Aside)
	if err != nil || have != "" {
		return err
	}
	return l.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: r.Aside, New: r.There}}, "agentxchain: refused")
}

// remember notes what was verified of the remote.
func (l *initiativeLanding) remember(r *SyncedRun, there, seen object.OID) {
	if there != "" && there != seen {
		name := l.seenRef(r.Run)
		l.moves = slices.DeleteFunc(l.moves, func(u git.RefUpdate) bool { return u.Name == name })
		l.moves = append(l.moves, git.RefUpdate{Name: name, New: there, Old: l.seen[r.Run]})
	}
}

// push pushes what the remote lacks. again says that the remote has moved meanwhile.
func (l *initiativeLanding) push(ctx context.Context) (again bool, err error) {
	var refs []transport.RefPush
	var begun []string // initiatives that the remote did not have yet
	runs := make(map[string]*SyncedRun)
	for _, r := range l.y.Runs {
		if r.Tip == "" || r.Tip == r.from || r.State == SyncRefused {
			continue
		}
		ops, err := chain.Since(ctx, l.repo, r.from, r.Tip)
		if err != nil {
			return false, err
		}
		p := transport.RefPush{Name: record.InitiativeRefPrefix + r.Run, New: r.Tip, Old: r.from, Ops: len(ops)}
		refs, runs[p.Name] = append(refs, p), r
		if r.from == "" {
			begun = append(begun, r.Run)
		}
	}
	if len(refs) == 0 {
		return false, nil
	}
	said, err := transport.Push(ctx, l.repo, l.y.Remote, refs)
	if err != nil {
		return false, err
	}
	known, err := l.repo.Tips(ctx, l.seenRef(""))
	if err != nil {
		return false, err
	}
	var seen []git.RefUpdate
	for _, p := range refs {
		a, r := said[p.Name], runs[p.Name]
		switch a.State {
		case transport.PushOK:
			l.y.Pushed = true
			r.Went, r.There, r.from = r.Went+p.Ops, p.New, p.New
			r.resettle(SyncWent)
			seen = append(seen, git.RefUpdate{Name: l.seenRef(r.Run), New: p.New, Old: known[r.Run]})
		case transport.PushStale:
			again, l.y.beaten = true, a.Why
		case transport.PushRefused:
			r.State, r.Code = SyncRefused, transport.CodeRemoteRefused
			r.Why = l.y.Remote + " does not take " + p.Name + ": " + a.Why
			r.Hint = "ask the administrator of the server to allow pushes to " + record.InitiativeRefPrefix +
				"* there; the changes stay here"
		}
	}
	if err := l.repo.UpdateRefs(ctx, seen, "agentxchain: pushed to "+text.OneLine(l.y.Remote)); err != nil {
		return again, err
	}
	return again, l.beginnings(ctx, begun)
}

// beginnings pushes the commits at which initiatives began, which may be on no branch of the remote. The records
// are there already, even if the server rejects everything else.
func (l *initiativeLanding) beginnings(ctx context.Context, names []string) error {
	var refs []transport.RefPush
	for _, name := range names {
		p := transport.RefPush{Name: record.BeginningRefPrefix + name}
		var err error
		if p.New, err = l.repo.ReadRef(ctx, p.Name); err != nil {
			return err
		}
		if p.New != "" {
			refs = append(refs, p)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	said, err := transport.Push(ctx, l.repo, l.y.Remote, refs)
	if transport.Interrupted(ctx, err) {
		return err
	}
	for _, p := range refs {
		a := said[p.Name]
		if err != nil && a.State == "" {
			a = transport.PushResult{State: transport.PushRefused, Why: text.OneLine(err.Error())}
		}
		if a.State == transport.PushRefused {
			l.y.Notices = append(l.y.Notices, fmt.Sprintf("%s does not keep the commit at which initiative %s began (%s): %s",
				l.y.Remote, text.OneLine(strings.TrimPrefix(p.Name, record.BeginningRefPrefix)), p.Name, a.Why))
		}
	}
	return nil
}

// TakeTheirs replaces the initiative here with the one that was last fetched from a remote. The changes that were
// here keep their own ref, which is returned, "" when there are none.
//
// Errors: not_found, record_unproven, run_foreign, and those of judge.
func TakeTheirs(ctx context.Context, repo *git.Repository, name, remote, project string,
	judge func(ctx context.Context, name string, from, to object.OID) error) (to object.OID, lost string, err error) {
	ref := record.InitiativeRefPrefix + name
	here, err := repo.ReadRef(ctx, ref)
	if err != nil {
		return "", "", err
	}
	if to, err = repo.ReadRef(ctx, transport.TrackingInitiatives(remote)+name); err != nil {
		return "", "", err
	}
	if to == "" {
		return "", "", fail.Errorf(CodeNoInitiative, nil, "%s was not seen to have initiative %s", remote,
			text.OneLine(name)).
			WithHint("git agentxchain sync %s", remote)
	}
	base := object.OID("")
	if here != "" {
		if base, err = history.MergeBase(ctx, repo, here, to); err != nil {
			return "", "", err
		}
	}
	if err := record.VerifyInitiative(ctx, repo, name, to, base, project); err != nil {
		return "", "", err
	}
	if err := judge(ctx, name, base, to); err != nil {
		return "", "", err
	}
	if here == to {
		return to, "", nil
	}
	if here != "" && base != here {
		if lost, err = keepLost(ctx, repo, name, here); err != nil {
			return "", "", err
		}
	}
	return to, lost, repo.UpdateRefs(ctx, []git.RefUpdate{{Name: ref, New: to, Old: here}},
		"agentxchain: taken from "+text.OneLine(remote))
}

// keepLost keeps changes that are given up under their own ref, which it returns.
func keepLost(ctx context.Context, repo *git.Repository, name string, tip object.OID) (string, error) {
	lost := record.LostRefPrefix + record.InitiativeNames + name + "/" + string(tip)
	have, err := repo.ReadRef(ctx, lost)
	if err != nil || have != "" {
		return lost, err
	}
	return lost, repo.UpdateRefs(ctx, []git.RefUpdate{{Name: lost, New: tip}}, "agentxchain: given up")
}

// CodeNoInitiative means that there is no record of the initiative.
const CodeNoInitiative = "no_initiative"

// InitiativeTip is an initiative that is recorded here, or was seen on a remote.
type InitiativeTip struct {
	Name   string
	Op     object.OID
	Remote string // "" if it is recorded here
}

// InitiativeTips lists initiatives by the time of their newest change, newest first; one that is recorded here is
// not listed again for remotes.
func InitiativeTips(ctx context.Context, repo *git.Repository) ([]InitiativeTip, error) {
	out, err := repo.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate",
		"--format=%(objectname) %(objecttype) %(refname)",
		record.InitiativeRefPrefix, transport.TrackingRefs+"*/agentxchain/"+record.InitiativeNames+"*")
	if err != nil {
		return nil, err
	}
	var here, there []InitiativeTip
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) != 3 || f[1] != object.KindCommit {
			continue
		}
		t := InitiativeTip{Op: object.OID(f[0])}
		if name, ok := strings.CutPrefix(f[2], record.InitiativeRefPrefix); ok {
			t.Name = name
			here = append(here, t)
			continue
		}
		t.Remote, t.Name, _ = strings.Cut(strings.TrimPrefix(f[2], transport.TrackingRefs),
			"/agentxchain/"+record.InitiativeNames)
		if git.BadRunID(t.Name) == "" {
			there = append(there, t)
		}
	}
	for _, t := range there {
		if !slices.ContainsFunc(here, func(h InitiativeTip) bool { return h.Name == t.Name }) {
			here = append(here, t)
		}
	}
	return here, nil
}
