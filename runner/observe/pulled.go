// Commits that were pulled during a turn: what the branches of the remote brought is not the turn's
// (docs/spec/observation.md#commits-that-were-pulled).

package observe

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxCommits is how many commits of a turn, or of a pulled branch, are shown and recorded.
const MaxCommits = 200

const (
	maxPulled       = 20000   // commits that one turn may have pulled
	maxPulledMerges = 200     // files that both sides changed
	maxPulledFile   = 4 << 20 // of these, in bytes
)

// pulled is what the remote's branches brought into HEAD since a turn began.
type pulled struct {
	record []result.Pulled
	there  map[string]bool // HEAD has exactly the pulled version of the path
	lost   []string        // was pulled, and HEAD has something else
	base   string          // the commit that the turn is compared with instead of its baseline's, "" for that one
}

// changes holds the files that differ between two commits, by path.
type changes map[string]history.TreeChange

// brought is one branch that brought something, compared with the commit that the turn began at.
type brought struct {
	up     travel.Upstream
	from   object.OID // where it and the turn's commit diverged
	files  changes    // changes of the branch since
	before changes    // changes of the turn's commit since
	other  changes    // from it to HEAD
}

// Pulls holds what was pulled up to a commit, so that it is looked up once per operation.
type Pulls struct {
	found *pulled
	to    object.OID
}

// pulled looks for pulled commits, once per operation. A remote that cannot be asked brings
// nothing, and a notice says so.
func (w *Work) pulled(
	ctx context.Context, turn *run.Turn, base *run.Baseline, st *gitstatus.Status,
) (*pulled, error) {
	from := HeadOf(base)
	if from == "" || st.Head == "" || from == st.Head {
		return &pulled{}, nil
	}
	if w.Pulls.found != nil && w.Pulls.to == st.Head {
		return w.Pulls.found, nil
	}
	p, err := w.lookPulled(ctx, turn, from, st)
	if err != nil {
		return nil, err
	}
	*w.Pulls = Pulls{p, st.Head}
	return p, nil
}

func (w *Work) lookPulled(ctx context.Context, turn *run.Turn, from object.OID, st *gitstatus.Status) (*pulled,
	error) {
	p := &pulled{there: make(map[string]bool)}
	ups, made, err := travel.Upstreams(ctx, w.Store.Repository(), st.Branch, from, st.Head)
	if fail.CodeOf(err) == transport.CodeRemoteFailed {
		w.Note("what was pulled during the turn counts as the turn's: " + err.Error())
		return p, nil
	}
	if len(ups) == 0 || err != nil {
		return p, err
	}
	var sides []*brought
	for _, up := range ups {
		b, own, err := w.side(ctx, turn, up, from, st.Head, made)
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue
		}
		sides = append(sides, b)
		if len(ups) == 1 && b.from == from && !own {
			p.base = string(up.Commit)
		}
	}
	if err := w.compareSides(ctx, p, sides); err != nil {
		return nil, err
	}
	for _, b := range sides {
		if err := w.recordSide(ctx, p, b, from); err != nil {
			return nil, err
		}
	}
	slices.Sort(p.lost)
	return p, nil
}

// side examines one branch and returns nil when it brought nothing that belongs to it alone. Files
// of commits that were made in this clone or name the turn stay the turn's, and own says that there
// are such commits. The turn also keeps files of commits without a turn where
// git_hooks.require_turn wants one, and files that no turn may change.
func (w *Work) side(
	ctx context.Context, turn *run.Turn, up travel.Upstream, from, head object.OID, made map[object.OID]bool,
) (b *brought, own bool, err error) {
	repo := w.Store.Repository()
	list, more, err := history.CommitsBeyond(ctx, repo, up.Commit, maxPulled, string(from))
	if err != nil {
		return nil, false, err
	}
	if more {
		w.Note(fmt.Sprintf("%s/%s brought more than %d commits, so they count as the turn's", up.Remote, up.Branch,
			maxPulled))
		return nil, false, nil
	}
	ofTurns := slices.ContainsFunc(w.Config.RequireTurn, func(p string) bool { return wire.MatchPath(p, up.Branch) })
	var ours []object.OID
	for _, k := range list {
		if made[k.OID] || strings.Contains(k.Trailers, turn.TurnID) ||
			ofTurns && !strings.Contains(k.Trailers, githooks.TrailerTurn+": ") {
			ours = append(ours, k.OID)
		}
	}
	b = &brought{up: up}
	if b.from, err = history.MergeBase(ctx, repo, from, up.Commit); err != nil || b.from == "" {
		return nil, false, err
	}
	mine, err := history.FilesOf(ctx, repo, ours)
	if err != nil {
		return nil, false, err
	}
	for _, q := range []struct {
		set  *changes
		a, b object.OID
	}{{&b.files, b.from, up.Commit}, {&b.before, b.from, from}, {&b.other, up.Commit, head}} {
		list, err := history.ChangesBetween(ctx, repo, q.a, q.b)
		if err != nil {
			return nil, false, err
		}
		*q.set = make(changes)
		for _, k := range list {
			(*q.set)[k.Path] = k
		}
	}
	for _, f := range mine {
		delete(b.files, f)
	}
	for f := range b.files {
		if protocol.KeptPath(w.Config, f) || strings.HasPrefix(wire.FoldPath(f), ".agentxchain/") {
			delete(b.files, f)
		}
	}
	return b, len(ours) > 0, nil
}

// compareSides decides for each pulled path whether HEAD has the pulled version: as in the branch
// or, where the turn's own commit had changed it too, as git merges both.
func (w *Work) compareSides(ctx context.Context, p *pulled, sides []*brought) error {
	var merges []merge
	for _, b := range sides {
		for f, theirs := range b.files {
			if slices.ContainsFunc(sides, func(o *brought) bool { _, too := o.files[f]; return o != b && too }) {
				continue // it is not decided here which of the two is right: the turn answers for it
			}
			ours, both := b.before[f]
			other, differs := b.other[f]
			switch {
			case both:
				m := merge{
					path:   f,
					base:   blob{theirs.OldMode, theirs.OldOID},
					theirs: blob{theirs.NewMode, theirs.NewOID},
					ours:   blob{ours.NewMode, ours.NewOID},
				}
				if m.got = m.theirs; differs {
					m.got = blob{other.NewMode, other.NewOID}
				}
				merges = append(merges, m)
			case differs:
				p.lost = append(p.lost, f)
			default:
				p.there[f] = true
			}
		}
	}
	return w.asMerged(ctx, p, merges)
}

// blob is a file in a tree, the zero value where it has none.
type blob struct {
	mode object.Mode
	oid  object.OID
}

// merge is a file that both sides changed, and its version in HEAD.
type merge struct {
	path                    string
	base, ours, theirs, got blob
}

// asMerged decides for each file whether HEAD has git's merge of both sides. It has not for a
// conflict, nor for a file too large to merge here.
func (w *Work) asMerged(ctx context.Context, p *pulled, merges []merge) error {
	repo := w.Store.Repository()
	var read []merge // by content
	var names []string
	for _, m := range merges {
		mode, plain := threeWay(m.base.mode, m.ours.mode, m.theirs.mode)
		oid, whole := threeWay(m.base.oid, m.ours.oid, m.theirs.oid)
		switch all := []blob{m.base, m.ours, m.theirs, m.got}; {
		case plain && whole && m.got == blob{mode, oid}:
			p.there[m.path] = true
		case plain && !whole && m.got.mode == mode && len(read) < maxPulledMerges &&
			!slices.ContainsFunc(all,
				func(b blob) bool { return b.mode != object.ModeFile && b.mode != object.ModeExec }):
			read = append(read, m)
			for _, b := range all {
				names = append(names, string(b.oid))
			}
		default:
			p.lost = append(p.lost, m.path)
		}
	}
	found := make([][]byte, len(names))
	err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		if o.Found && len(o.Data) <= maxPulledFile {
			found[i] = append([]byte{}, o.Data...)
		}
	})
	if err != nil {
		return err
	}
	for i, m := range read {
		v := found[4*i : 4*i+4]
		there := !slices.ContainsFunc(v, func(data []byte) bool { return data == nil })
		if there {
			merged, clean, err := repo.MergeFile(ctx, v[1], v[0], v[2])
			if err != nil {
				return err
			}
			there = clean && bytes.Equal(merged, v[3])
		}
		if there {
			p.there[m.path] = true
		} else {
			p.lost = append(p.lost, m.path)
		}
	}
	return nil
}

// threeWay merges, like git, what cannot be merged in parts.
func threeWay[T comparable](base, ours, theirs T) (merged T, ok bool) {
	switch {
	case ours == theirs, theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	return merged, false
}

// recordSide notes what was left to a branch.
func (w *Work) recordSide(ctx context.Context, p *pulled, b *brought, from object.OID) error {
	var files []string
	for f := range b.files {
		if p.there[f] {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	slices.Sort(files)
	commits, more, err := history.CommitsSince(ctx, w.Store.Repository(), from, b.up.Commit, MaxCommits)
	if err != nil {
		return err
	}
	r := result.Pulled{Remote: b.up.Remote, Branch: b.up.Branch, Head: string(b.up.Commit), Files: files, More: more}
	for _, k := range commits {
		r.Commits = append(r.Commits, result.PulledCommit{Commit: string(k.OID), Author: k.Author, Subject: k.Subject})
	}
	p.record = append(p.record, r)
	return nil
}
