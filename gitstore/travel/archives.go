// Archived runs in a sync: their list travels, and a run archived by one side leaves the run refs of the other
// (docs/teams.md#archived-runs).

package travel

import (
	"context"
	"maps"
	"slices"
	"strings"

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
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// seenListRef returns the ref that remembers a remote's last list for a year.
func seenListRef(remote, year string) string {
	return record.SeenRefPrefix + remote + "/archive-list/" + year
}

// archives joins the lists of both sides. Entries are only ever added or replaced by newer ones: a remote whose
// list goes back is not followed.
func (l *landing) archives(ctx context.Context) error {
	s, remote := l.s, l.y.Remote
	l.y.retire = nil
	here, err := archive.Years(ctx, s.Repository(), archive.ListPrefix)
	if err != nil {
		return err
	}
	there, theirs, odd, err := listsThere(ctx, s.Repository(), remote)
	if err != nil {
		return err
	}
	for _, year := range odd {
		l.y.Notices = append(l.y.Notices, "the list of archived runs of "+year+" on "+text.OneLine(remote)+
			" cannot be read and was passed over: its administrator can remove "+archive.ListPrefix+year+
			" there, and the next sync pushes the list of this clone")
	}
	l.theirs = theirs
	seen, err := archive.Years(ctx, s.Repository(), record.SeenRefPrefix+remote+"/archive-list/")
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	for _, year := range slices.Sorted(maps.Keys(there)) {
		if here[year] != there[year] {
			to, err := joinLists(ctx, s.Repository(), s.Env(ctx), year, here[year], there[year])
			if fail.CodeOf(err) == fail.CodeRefBroken { // the local list is broken, and the error says what to do
				_, err = archive.ReadAll(ctx, s.Repository(), archive.ListPrefix)
			}
			if err != nil {
				return err
			}
			if to != here[year] {
				moves = append(moves, git.RefUpdate{Name: archive.ListPrefix + year, New: to, Old: here[year]})
			}
		}
	}
	for _, year := range slices.Sorted(maps.Keys(seen)) {
		on, err := history.Ancestor(ctx, s.Repository(), seen[year], there[year])
		if err != nil {
			return err
		}
		if !on && seen[year] != there[year] && !slices.Contains(odd, year) {
			l.y.Notices = append(l.y.Notices, "the list of archived runs of "+year+" on "+text.OneLine(remote)+
				" went back or was rewritten; this clone keeps what it saw ("+seen[year].Short()+
				") and pushes it again: ask the administrator of the server")
		}
	}
	for year, oid := range there {
		if seen[year] != oid {
			moves = append(moves, git.RefUpdate{Name: seenListRef(remote, year), New: oid, Old: seen[year]})
		}
	}
	slices.SortFunc(moves, git.ByName)
	if err := s.Repository().UpdateRefs(ctx, moves,
		"agentxchain: archived runs of "+text.OneLine(remote)); err != nil {
		return err
	}
	if l.list, err = archive.ReadAll(ctx, s.Repository(), archive.ListPrefix); err != nil {
		return err
	}
	l.past, err = s.Repository().Tips(ctx, archive.PastPrefix)
	return err
}

// listsThere reads the lists of a remote: the commit of each year, the entries of all, and the years whose list
// cannot be read. Anything may be under such a name there, and one bad year does not block the others.
func listsThere(ctx context.Context, repo *git.Repository, remote string) (
	years map[string]object.OID, all archive.List, odd []string, err error,
) {
	if years, err = archive.Years(ctx, repo, transport.TrackingArchive(remote)); err != nil {
		return nil, nil, nil, err
	}
	all = make(archive.List)
	for _, year := range slices.Sorted(maps.Keys(years)) {
		l, err := archive.Read(ctx, repo, years[year])
		switch {
		case ctx.Err() != nil:
			return nil, nil, nil, context.Cause(ctx)
		case err != nil:
			delete(years, year)
			odd = append(odd, year)
		default:
			all = all.Merge(l)
		}
	}
	return years, all, odd, nil
}

// joinLists returns a commit with the entries of both: one of the two if it has them all.
func joinLists(
	ctx context.Context, repo *git.Repository, env protocol.Env, year string, here, there object.OID,
) (object.OID, error) {
	ours, err := archive.Read(ctx, repo, here)
	if err != nil {
		return "", err
	}
	theirs, err := archive.Read(ctx, repo, there)
	if err != nil {
		return "", err
	}
	both := ours.Merge(theirs)
	saidHere, err := archive.SaidAt(ctx, repo, here)
	if err != nil {
		return "", err
	}
	saidThere, err := archive.SaidAt(ctx, repo, there)
	if err != nil {
		return "", err
	}
	said, err := archive.JoinSaid(ctx, repo, saidHere, saidThere)
	if err != nil {
		return "", err
	}
	if both.Equal(theirs) && said == saidThere {
		return there, nil
	}
	if both.Equal(ours) && said == saidHere {
		if on, err := history.Ancestor(ctx, repo, there, here); err != nil || on {
			return here, err
		}
	}
	return archive.Write(ctx, repo, both, said, record.Signature(&env), "archive: the list of "+year+", joined", there,
		here)
}

// stray returns runs that are in the archive here although the list says otherwise: they come back.
func (l *landing) stray() map[string]object.OID {
	out := make(map[string]object.OID)
	for name, tip := range l.past {
		if e := l.list[name]; e == nil || e.State == archive.Live ||
			e.State == archive.Archived && object.OID(e.Op) != tip {
			out[name] = tip
		}
	}
	return out
}

// landArchived settles an archived run, and reports whether there is nothing else to do. A run that continued after
// it was archived is treated like any other.
func (l *landing) landArchived(ctx context.Context, name, current string) (bool, error) {
	e := l.list[name]
	past := l.past[name]
	if e != nil && e.State == archive.Removed && l.here[name] == "" && l.there[name] == "" {
		return true, nil // where its operations are still kept, they stay
	}
	if e = l.list.Archived(name); e == nil {
		if err := l.bringBack(ctx, name, past); err != nil {
			return false, err
		}
		// It was unarchived here, and the remote does not know yet: what the remote has in its archive is not lost.
		if e = l.theirs.Archived(name); e == nil || l.there[name] != "" || l.here[name] == "" {
			return false, nil
		}
		if err := l.obtain(ctx, e); err != nil {
			l.unobtained(e, err)
			return true, nil
		}
		return l.beyond(ctx, e, current)
	}
	op := object.OID(e.Op)
	here, there, seen := l.here[name], l.there[name], l.seen[name]
	if here == "" && there == "" && seen == "" && (past == "" || past == op) {
		return true, nil
	}
	// What is known about the run here must be part of what was archived.
	for _, tip := range []object.OID{here, past, there, seen} {
		if tip == "" || tip == op {
			continue
		}
		if err := l.obtain(ctx, e); err != nil {
			l.unobtained(e, err)
			return true, nil
		}
		in, err := history.Ancestor(ctx, l.s.Repository(), tip, op)
		if err != nil {
			return true, err
		}
		if !in {
			return l.beyond(ctx, e, current)
		}
	}
	// Anyone who can push can write to a list: only an ended run leaves the run refs because of it.
	st, err := chain.StateAt(ctx, l.s.Repository(), op)
	if err != nil {
		return true, err
	}
	if !st.Status.Ended() {
		l.y.Notices = append(l.y.Notices, "the list of archived runs of "+e.Year()+" on "+text.OneLine(l.y.Remote)+
			" names run "+name+", which is not over at operation "+op.Short()+": the run stays")
		return false, l.bringBack(ctx, name, past)
	}
	if there != "" {
		l.y.retire = append(l.y.retire, transport.RefPush{Name: git.RunRefPrefix + name, Old: there})
	}
	return true, l.retire(ctx, e, here, past, seen)
}

// unobtained reports an archived run whose operations cannot be fetched or verified.
func (l *landing) unobtained(e *archive.Entry, err error) {
	r := l.y.run(e.Run)
	r.Tip, r.State, r.Code = l.here[e.Run], SyncRefused, fail.CodeOf(err)
	r.Why, r.Hint = text.OneLine(err.Error()), "git agentxchain fsck --replay --run "+e.Run
}

// obtain fetches the operations of an archived run, and verifies them.
func (l *landing) obtain(ctx context.Context, e *archive.Entry) error {
	op := object.OID(e.Op)
	if !l.s.Repository().HasCommit(ctx, op) {
		if err := proof.FetchArchived(ctx, l.s.Repository(), l.y.Remote, e); err != nil {
			return fail.Errorf(transport.CodeRemoteFailed, nil,
				"run %s is archived at operation %s, which %s does not give: %s", e.Run, op.Short(), l.y.Remote,
				transport.Complaint(err))
		}
		if !l.s.Repository().HasCommit(ctx, op) {
			return fail.Errorf(transport.CodeRemoteFailed, nil,
				"run %s is archived at operation %s, which %s does not have", e.Run, op.Short(), l.y.Remote)
		}
	}
	return proof.Believe(ctx, l.s.Repository(), e.Run, op)
}

// retire removes a run from the run refs here. A run in use by a work tree stays until that has begun another.
func (l *landing) retire(ctx context.Context, e *archive.Entry, here, past, seen object.OID) error {
	op := object.OID(e.Op)
	if seen != "" {
		l.moves = append(l.moves, git.RefUpdate{Name: record.SeenRefPrefix + l.y.Remote + "/" + e.Run, Old: seen})
	}
	if here == "" {
		return nil
	}
	if l.used == nil {
		var err error
		if l.used, err = l.s.RunsInUse(ctx); err != nil {
			return err
		}
	}
	if l.used[e.Run] != "" {
		return nil
	}
	if past != op {
		if err := l.s.Repository().UpdateRefs(ctx, []git.RefUpdate{{
			Name: archive.PastPrefix + e.Run,
			New:  op,
			Old:  past,
		}}, "agentxchain: archived elsewhere"); err != nil {
			return err
		}
	}
	r := l.y.run(e.Run)
	r.State = SyncArchive
	return l.s.Repository().UpdateRefs(ctx, []git.RefUpdate{{Name: git.RunRefPrefix + e.Run, Old: here}},
		"agentxchain: archived elsewhere")
}

// beyond lands a run that one side has archived and the other has continued: the run continues. The archived
// version is one of the two sides if the remote no longer has the run.
func (l *landing) beyond(ctx context.Context, e *archive.Entry, current string) (bool, error) {
	name, op := e.Run, object.OID(e.Op)
	if err := l.bringBack(ctx, name, l.past[name]); err != nil {
		return true, err
	}
	here, there := l.here[name], l.there[name]
	if there != "" {
		return false, nil // the remote's ref settles the rest
	}
	if seen := l.seen[name]; seen != "" {
		in, err := history.Ancestor(ctx, l.s.Repository(), seen, op)
		if err == nil && !in {
			in, err = l.keptThere(ctx, e, seen)
		}
		if err != nil || !in {
			return false, err // the remote lost operations: land reports it
		}
		l.moves = append(l.moves, git.RefUpdate{Name: record.SeenRefPrefix + l.y.Remote + "/" + name, Old: seen})
		delete(l.seen, name)
	}
	r := l.y.run(name)
	r.Tip, r.There, r.from = here, "", ""
	if here == "" {
		return true, nil
	}
	on, err := history.Ancestor(ctx, l.s.Repository(), op, here)
	if err != nil || on {
		return true, err
	}
	return true, l.join(ctx, r, here, op, current)
}

// keptThere reports whether the remote keeps an operation in its archive. If two machines archived a run at
// different operations, one of them is kept there without its own entry.
func (l *landing) keptThere(ctx context.Context, e *archive.Entry, op object.OID) (bool, error) {
	c, err := record.NewReader(ctx, l.s.Repository()).Commit(op)
	if err != nil {
		return false, err
	}
	for _, year := range slices.Compact([]string{e.Year(), c.Author.When.UTC().Format("2006")}) {
		if err := proof.FetchKept(ctx, l.s.Repository(), l.y.Remote, year); err != nil {
			return false, err
		}
		kept, err := l.s.Repository().ReadRef(ctx, proof.KeptRef(l.y.Remote, year))
		if err != nil {
			return false, err
		}
		if kept == "" {
			continue
		}
		if in, err := history.Ancestor(ctx, l.s.Repository(), op, kept); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// bringBack turns an archived run into an ordinary run here.
func (l *landing) bringBack(ctx context.Context, name string, past object.OID) error {
	if past == "" {
		return nil
	}
	if l.here[name] == "" {
		if err := l.s.Repository().UpdateRefs(ctx, []git.RefUpdate{{Name: git.RunRefPrefix + name, New: past}},
			"agentxchain: out of the archive"); err != nil {
			return err
		}
		l.here[name] = past
	}
	delete(l.past, name)
	if err := witness.Bring(ctx, l.s.Repository(), name); err != nil {
		return err
	}
	return l.s.Repository().UpdateRefs(ctx, []git.RefUpdate{{Name: archive.PastPrefix + name, Old: past}},
		"agentxchain: out of the archive")
}

// pushArchive pushes the archive to the remote: the operations, then the list that names them, then the deletion of
// run refs that are no longer needed. Every operation stays reachable there after each step. again says that the
// remote has moved meanwhile.
func pushArchive(ctx context.Context, repo *git.Repository, env protocol.Env, y *Synced) (again bool, err error) {
	here, err := archive.Years(ctx, repo, archive.ListPrefix)
	if err != nil {
		return false, err
	}
	there, err := archive.Years(ctx, repo, transport.TrackingArchive(y.Remote))
	if err != nil {
		return false, err
	}
	for _, year := range slices.Sorted(maps.Keys(here)) {
		if here[year] == there[year] {
			continue
		}
		if _, err := archive.Read(ctx, repo, there[year]); err != nil {
			return false, context.Cause(ctx) // it was skipped, and nothing may replace it
		}
		switch more, ok, err := pushYear(ctx, repo, env, y, year, here[year], there[year]); {
		case err != nil || more:
			return more, err
		case !ok:
			return false, nil // nothing is retired because of a list that was not pushed
		}
	}
	if len(y.retire) == 0 {
		return false, nil
	}
	said, err := transport.Push(ctx, repo, y.Remote, y.retire)
	if err != nil {
		return false, err
	}
	refused := 0
	why := ""
	for _, p := range y.retire {
		ofRun := strings.HasPrefix(p.Name, git.RunRefPrefix)
		switch a := said[p.Name]; {
		case a.State == transport.PushStale:
			again = true
		case !ofRun: // witness statements, which the list there has
		case a.State == transport.PushOK:
			y.Retired++
		default:
			refused, why = refused+1, a.Why
		}
	}
	if refused > 0 {
		y.Notices = append(y.Notices, y.Remote+" keeps the refs of "+text.Count(refused, "run", "runs")+
			" that are in its archive too: "+text.OneLine(why))
	}
	return again, nil
}

// pushYear pushes a year's list and the operations that it names. ok says that the remote has both.
func pushYear(
	ctx context.Context, repo *git.Repository, env protocol.Env, y *Synced, year string,
	here, there object.OID,
) (again, ok bool, err error) {
	ours, err := archive.Read(ctx, repo, here)
	if err != nil {
		return false, false, err
	}
	theirs, err := archive.Read(ctx, repo, there)
	if err != nil {
		return false, false, err
	}
	lacking := make(archive.List)
	for run, e := range ours {
		if t := theirs[run]; e.State == archive.Archived && (t == nil || t.Op != e.Op || t.State == archive.Removed) {
			lacking[run] = e
		}
	}
	if len(lacking) > 0 {
		for run, e := range lacking {
			if !repo.HasCommit(ctx, object.OID(e.Op)) {
				y.Notices = append(y.Notices, "run "+run+" is archived, "+y.Remote+
					" does not list it, and its operations are not here: sync in the clone that archived it")
				return false, false, nil
			}
		}
		if again, ok, err = pushKept(ctx, repo, env, y, year, lacking); err != nil || again || !ok {
			return again, ok, err
		}
	}
	again, ok, err = pushOne(ctx, repo, y, transport.RefPush{Name: archive.ListPrefix + year, New: here, Old: there})
	if err != nil || !ok {
		return again, ok, err
	}
	seen := git.RefUpdate{Name: seenListRef(y.Remote, year), New: here}
	if seen.Old, err = repo.ReadRef(ctx, seen.Name); err != nil {
		return false, false, err
	}
	return false, true, repo.UpdateRefs(ctx, []git.RefUpdate{seen}, "agentxchain: pushed to "+text.OneLine(y.Remote))
}

// pushKept adds operations to what the remote keeps of a year.
func pushKept(
	ctx context.Context, repo *git.Repository, env protocol.Env, y *Synced, year string, l archive.List,
) (again, ok bool, err error) {
	if err := proof.FetchKept(ctx, repo, y.Remote, year); err != nil {
		return false, false, fail.Errorf(transport.CodeRemoteFailed, nil,
			"%s could not be asked what it keeps of %s: %s", y.Remote, year, transport.Complaint(err)).
			WithHint("git agentxchain sync %s", y.Remote)
	}
	had, err := repo.ReadRef(ctx, proof.KeptRef(y.Remote, year))
	if err != nil {
		return false, false, err
	}
	to, err := archive.Join(ctx, repo, had, l, record.Signature(&env))
	if err != nil || to == had {
		return false, err == nil, err
	}
	again, ok, err = pushOne(ctx, repo, y, transport.RefPush{Name: archive.KeepPrefix + year, New: to, Old: had})
	if err != nil || !ok {
		return again, ok, err
	}
	return false, true, repo.UpdateRefs(ctx, []git.RefUpdate{{Name: proof.KeptRef(y.Remote, year), New: to, Old: had}},
		"agentxchain: pushed to "+text.OneLine(y.Remote))
}

// pushOne pushes one ref of the archive.
func pushOne(ctx context.Context, repo *git.Repository, y *Synced, p transport.RefPush) (again, ok bool, err error) {
	said, err := transport.Push(ctx, repo, y.Remote, []transport.RefPush{p})
	if err != nil {
		return false, false, err
	}
	switch a := said[p.Name]; a.State {
	case transport.PushOK:
		y.Pushed = true
		return false, true, nil
	case transport.PushStale:
		return true, false, nil
	default:
		y.Notices = append(y.Notices, y.Remote+" does not take "+p.Name+": "+a.Why+
			"; ask the administrator of the server to allow pushes to refs/agentxchain/*. The runs stay archived here")
		return false, false, nil
	}
}
