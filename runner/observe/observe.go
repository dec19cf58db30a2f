// The baseline of a turn, and what changed since (docs/spec/observation.md).

package observe

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Work is a work tree at one moment, as git reports it.
type Work struct {
	Store  *gitstore.Store
	Config *config.Config
	Status *gitstatus.Status
	Hidden func(context.Context) (*gitstatus.Hidden, error) // what Status does not show
	Note   func(notice string)                              // receives what the person has to know
	Pulls  *Pulls                                           // looked for already
	Hid    []string                                         // found by Observe, hidden from Status by git's index
}

// DirtyPaths returns every dirty path that is not operational, sorted.
func DirtyPaths(st *gitstatus.Status) []string {
	return dirty(st, func(p string) bool { return !wire.Operational(p) })
}

// authored returns every dirty path that is operational and written by people, sorted.
func authored(st *gitstatus.Status) []string { return dirty(st, wire.Authored) }

func dirty(st *gitstatus.Status, of func(path string) bool) []string {
	var out []string
	for p := range st.Dirty {
		if of(p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// ProjectDirty returns the dirty paths an actor can own, sorted.
func ProjectDirty(st *gitstatus.Status) []string {
	return slices.DeleteFunc(DirtyPaths(st), func(p string) bool { return !wire.ProjectOwned(p) })
}

// RefuseUnmerged refuses to look at a work tree in the middle of a merge: the changes there belong
// to no turn yet.
func RefuseUnmerged(st *gitstatus.Status) error {
	if len(st.Unmerged) == 0 {
		return nil
	}
	return &wire.Error{Code: wire.CodeDirtyTree, Field: "work_tree",
		Message: fmt.Sprintf("A merge is unresolved in the work tree (%s).", wire.ListSome(st.Unmerged, 1)),
		Hint:    "resolve it (git status shows how), then try again",
		Details: ojson.NewObject("files", st.Unmerged)}
}

// RefuseUnderWay refuses to begin or commit work in the middle of a rebase, merge or bisect: the commits of a turn would
// be refused by git, or left behind when that ends.
func RefuseUnderWay(repo *git.Repository) error {
	command, end := repo.UnderWay()
	if command == "" {
		return nil
	}
	return &wire.Error{Code: wire.CodeDirtyTree, Field: "work_tree",
		Message: fmt.Sprintf("A git %s is under way in the work tree.", command),
		Hint:    end + "; then try again"}
}

// RefuseInside refuses files that include a submodule with changes of its own: a commit here names
// a commit there and includes nothing else.
func RefuseInside(st *gitstatus.Status, files []string) error {
	var inside []string
	for _, p := range files {
		if d := st.Dirty[p]; d.SubmoduleModified || d.SubmoduleNewContent && !d.SubmoduleCommit && !d.Staged {
			inside = append(inside, p)
		}
	}
	if len(inside) == 0 {
		return nil
	}
	return &wire.Error{Code: wire.CodeDirtyTree, Field: "work_tree",
		Message: fmt.Sprintf("A submodule has changes that are not committed in it (%s).", wire.ListSome(inside, 3)),
		Hint: fmt.Sprintf("commit or undo them there (for example: git -C %s commit -a); then try again",
			wire.ShellWord(inside[0])),
		Details: ojson.NewObject("files", inside)}
}

// Baseline captures the work tree for a new attempt.
func (w *Work) Baseline(ctx context.Context, at string) (*run.Baseline, error) {
	st := w.Status
	if err := RefuseUnmerged(st); err != nil {
		return nil, err
	}
	b := &run.Baseline{Kind: "git_worktree", Clean: len(ProjectDirty(st)) == 0, CapturedAt: at}
	if st.Head != "" {
		b.HeadRef = new(string(st.Head))
	}
	h, err := w.Hidden(ctx)
	if err != nil {
		return nil, err
	}
	b.IgnoreRules = h.Rules
	paths := slices.Concat(DirtyPaths(st), h.Flagged, authored(st))
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		b.DirtySnapshot.Set(p, w.Store.Fingerprint(p))
	}
	return b, nil
}

// Observe compares the work tree with a turn's baseline (docs/spec/observation.md#what-is-observed).
func (w *Work) Observe(ctx context.Context, turn *run.Turn) (result.Observation, error) {
	var o result.Observation
	st := w.Status
	if err := RefuseUnmerged(st); err != nil {
		return o, err
	}
	base := turn.Baseline
	if base == nil {
		base = &run.Baseline{Kind: "git_worktree"}
	}
	brought, err := w.pulled(ctx, turn, base, st)
	if err != nil {
		return o, err
	}
	paths, err := w.changed(ctx, base, brought)
	if err != nil {
		return o, err
	}
	w.mark(&o, base, paths)
	if turn.Attempt > 1 {
		o.Since = base.CapturedAt
	}
	if o.Committed, err = w.committed(ctx, base, st); err != nil {
		return o, err
	}
	o.Committed = slices.DeleteFunc(o.Committed, func(p string) bool { return brought.there[p] })
	o.Pulled, o.ComparedWith = brought.record, brought.base
	o.Available = true
	if st.Head != "" {
		o.HeadRef = new(string(st.Head))
	}
	o.Dirty = ProjectDirty(st)
	o.DiffSummary = new(summarise(st, o.FilesChanged))
	return o, nil
}

// changed lists the paths that may have changed since base, sorted: what git reports of the work tree, what it was
// told to hide or takes for unchanged, and what base had. What was pulled belongs to others, unless it was changed
// again here.
func (w *Work) changed(ctx context.Context, base *run.Baseline, brought *pulled) ([]string, error) {
	st := w.Status
	since, err := w.since(ctx, base, st)
	if err != nil {
		return nil, err
	}
	unseen, err := w.unseen(ctx, base, st)
	if err != nil {
		return nil, err
	}
	touched, err := w.touched(ctx, base, st)
	if err != nil {
		return nil, err
	}
	w.Hid = slices.DeleteFunc(slices.Clone(touched), func(p string) bool {
		_, isDirty := st.Dirty[p]
		return isDirty || slices.Contains(unseen, p) // the latter are hidden by flags
	})
	notPulled := func(p string) bool {
		_, isDirty := st.Dirty[p]
		return isDirty || !brought.there[p] // else it holds what was pulled
	}
	var out []string
	// A file that was dirty at the start and has since been committed or reverted is in none of git's lists; its
	// fingerprint reveals it (docs/compatibility.md#where-we-differ-on-purpose).
	for _, p := range slices.Concat(DirtyPaths(st), authored(st), since, base.DirtySnapshot.Keys()) {
		if notPulled(p) {
			out = append(out, p)
		}
	}
	out = slices.Concat(out, brought.lost, unseen, touched)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// mark takes the fingerprints of paths, which are sorted, and adds to o those that differ from base. The person is
// told which files people wrote and no result declares.
func (w *Work) mark(o *result.Observation, base *run.Baseline, paths []string) {
	var told []string
	for _, p := range paths {
		observed := wire.Observable(p) || wire.Authored(p) && protocol.KeptPath(w.Config, p)
		if !observed && !wire.Authored(p) {
			continue
		}
		mark := w.Store.Fingerprint(p)
		was, ok := base.DirtySnapshot.Get(p)
		switch same := ok && was == mark; {
		case same && observed:
			if _, isDirty := w.Status.Dirty[p]; isDirty {
				o.UnchangedDirt = append(o.UnchangedDirt, p)
			}
		case same:
		case observed:
			o.FilesChanged = append(o.FilesChanged, p)
			o.Markers.Set(p, mark)
		default:
			told = append(told, p)
		}
	}
	if len(told) > 0 {
		w.Note(fmt.Sprintf("%s changed while the turn was out, and no result declares it: it decides what roles are told "+
			"or what hooks run. Look at it before the next turn: git diff", wire.ListSome(told, 3)))
	}
}

// unseen lists what git status was told not to show, as far as that happened during the turn: files
// behind flags of the index, and untracked files that have changed behind ignore rules other than
// the project's own. A person's earlier rules hide what they always hid.
func (w *Work) unseen(ctx context.Context, base *run.Baseline, st *gitstatus.Status) ([]string, error) {
	if base.IgnoreRules == "" {
		return nil, nil // not looked for when the turn began: what was hidden then is unknown
	}
	h, err := w.Hidden(ctx)
	if err != nil {
		return nil, err
	}
	if h.Rules == base.IgnoreRules {
		return h.Flagged, nil
	}
	repo := w.Store.Repository()
	all, err := gitstatus.Unignored(ctx, repo, repo.Prefix)
	if err != nil {
		return nil, err
	}
	found := h.Flagged
	for _, p := range all {
		if !st.Dirty[p].Untracked && !wire.Operational(p) {
			found = append(found, p)
		}
	}
	if behind := found[len(h.Flagged):]; len(behind) > 0 {
		w.Note(fmt.Sprintf(
			"the rules by which git ignores files (.git/info/exclude, core.excludesFile) changed during the turn; what they hide counts as changed: %s", wire.ListSome(behind, 3)))
	}
	return found, nil
}

// touched lists what changed during the turn although git's index takes it for unchanged.
func (w *Work) touched(ctx context.Context, base *run.Baseline, st *gitstatus.Status) ([]string, error) {
	if base.Kind == "no_git" {
		return nil, nil
	}
	began, _ := wire.ParseTime(base.CapturedAt) // zero if the time is unknown: all files are looked at
	repo := w.Store.Repository()
	return gitstatus.Touched(ctx, repo, repo.Prefix, st.Head, began)
}

// since lists what differs between the baseline commit and the work tree. The dirty set covers it
// when HEAD has not moved.
func (w *Work) since(ctx context.Context, base *run.Baseline, st *gitstatus.Status) ([]string, error) {
	repo := w.Store.Repository()
	from := HeadOf(base)
	switch {
	case from == st.Head:
		return nil, nil
	case from == "":
		if base.Kind == "no_git" {
			return nil, nil
		}
		// The branch was unborn when the turn began: everything is new.
		return gitstatus.TrackedFiles(ctx, repo)
	}
	return gitstatus.DiffNames(ctx, repo, from)
}

// committed lists what differs between the baseline commit and HEAD: what commits during the turn
// changed, whatever author they name.
func (w *Work) committed(ctx context.Context, base *run.Baseline, st *gitstatus.Status) ([]string, error) {
	repo := w.Store.Repository()
	from := HeadOf(base)
	if st.Head == "" || from == st.Head || base.Kind == "no_git" {
		return nil, nil
	}
	if from == "" {
		from = object.EmptyTree(repo.ObjectFormat)
	}
	names, err := history.ChangedBetween(ctx, repo, from, st.Head)
	slices.Sort(names)
	return slices.DeleteFunc(names, func(p string) bool { return !wire.Observable(p) }), err
}

// HeadOf returns the commit that a baseline was taken at, "" for none.
func HeadOf(b *run.Baseline) object.OID {
	if b == nil || b.HeadRef == nil {
		return ""
	}
	return object.OID(*b.HeadRef)
}

// summarise lists the changes the way the reference's diff_summary does: tracked
// paths as " path | what", then the untracked ones.
func summarise(st *gitstatus.Status, files []string) string {
	var tracked, untracked []byte
	for _, p := range files {
		d, dirty := st.Dirty[p]
		switch {
		case dirty && d.Untracked:
			untracked = fmt.Appendf(untracked, "\n  - %s", p)
		case dirty && d.Deleted:
			tracked = fmt.Appendf(tracked, "\n %s | deleted", p)
		case dirty:
			tracked = fmt.Appendf(tracked, "\n %s | modified", p)
		default:
			tracked = fmt.Appendf(tracked, "\n %s | committed", p)
		}
	}
	out := ""
	if len(tracked) > 0 {
		out = string(tracked[1:])
	}
	if len(untracked) > 0 {
		if out != "" {
			out += "\n"
		}
		out += "Untracked files:" + string(untracked)
	}
	return out
}
