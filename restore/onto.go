// Restoring onto a HEAD that has moved on since the export: which paths decide, and how.

package restore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// How the checkout's commit relates to the exported one.
const (
	headAhead   = "ahead"    // it continues it
	headBehind  = "behind"   // the other way round
	headApart   = "diverged" // neither
	headUnborn  = "unborn"   // the current branch has no commit
	headUnknown = "unknown"  // the exported commit is not in this repository
)

// Onto is the result of comparing the exported commit with the checkout's.
type Onto struct {
	Exported, Head object.OID
	Relation       string
	Commits        int // commits that only the checkout has
	Deciding       []Deciding
	Passed         int // changed paths that do not matter: they are in no baseline
}

// Deciding is a path, or a commit that the run refers to, that was examined.
type Deciding struct {
	Path  string
	Holds bool
	Why   string
}

// Object returns the comparison as JSON.
func (o *Onto) Object() *ojson.Object {
	list := ojson.List(o.Deciding, func(d Deciding) *ojson.Object {
		return ojson.NewObject("path", d.Path, "holds", d.Holds, "why", d.Why)
	})
	return ojson.NewObject("exported", string(o.Exported), "target", string(o.Head), "relation", o.Relation,
		"commits", o.Commits, "deciding", list, "passed", o.Passed)
}

func (t *restoring) relate(ctx context.Context, want, have object.OID) (*Onto, error) {
	repo := t.store.Repository()
	o := &Onto{Exported: want, Head: have, Relation: headApart}
	switch {
	case !repo.HasCommit(ctx, want):
		o.Relation = headUnknown
		return o, nil
	case have == "":
		o.Relation = headUnborn
		return o, nil
	}
	ahead, err := history.Ancestor(ctx, repo, want, have)
	if err != nil {
		return nil, err
	}
	if ahead {
		o.Relation = headAhead
		o.Commits, err = history.CommitsBetween(ctx, repo, want, have)
		return o, err
	}
	if behind, err := history.Ancestor(ctx, repo, have, want); err != nil {
		return nil, err
	} else if behind {
		o.Relation = headBehind
	}
	return o, nil
}

// judge decides whether the commits since the export contradict it. A governed file they changed must equal the
// artifact's. While turns are active, what they observe since their baseline must still be their own work: no other
// file may have changed. Commits that the run refers to must be in this history.
func (o *Onto) judge(ctx context.Context, t *restoring) error {
	switch o.Relation {
	case headUnknown:
		return o.refuse("commit %s, which the artifact belongs to, is not in this repository", whereFrom(t))
	case headUnborn:
		return o.refuse("the branch that is checked out has no commit, and the artifact belongs to %s",
			"git checkout "+shown(o.Exported))
	case headBehind:
		return o.refuse("this checkout is behind commit %s, which the artifact belongs to",
			"git merge --ff-only "+shown(o.Exported))
	case headApart:
		return o.refuse("this checkout does not go on from commit %s, which the artifact belongs to",
			"git checkout "+shown(o.Exported))
	}
	repo := t.store.Repository()
	state := objectOf(t.a.a.state)
	turns := objectOf(get(state, "active_turns"))
	changed, err := history.ChangedBetween(ctx, repo, o.Exported, o.Head)
	if err != nil {
		return err
	}
	for _, p := range changed {
		switch {
		case restorable(p) && t.in.Holds(t.store.Work().Root, p):
			o.add(p, true, "committed since the export, with the bytes the artifact has")
		case restorable(p):
			o.add(p, false, "committed since the export, and "+t.otherwise(p))
		case t.isWork(p) && !t.in.Holds(t.store.Work().Root, p):
			o.add(p, false, "committed since the export, and the work in progress changes it")
		case turns.Len() > 0 && wire.Observable(p):
			o.add(p, false,
				fmt.Sprintf("committed since the export, and turn %s would be taken for its author: its baseline is from before",
					turns.Keys()[0]))
		default:
			o.Passed++
		}
	}
	refs := map[string]string{"accepted_integration_ref": state.String("accepted_integration_ref")}
	for _, id := range turns.Keys() {
		refs["active_turns."+id+".baseline.head_ref"] = turns.Object(id).Object("baseline").String("head_ref")
	}
	for _, where := range slices.Sorted(maps.Keys(refs)) {
		sha, _ := strings.CutPrefix(refs[where], "git:")
		if sha == "" || strings.HasPrefix(sha, "workspace:") {
			continue
		}
		in, err := history.Ancestor(ctx, repo, object.OID(sha), o.Head)
		if err != nil {
			return err
		}
		if !in {
			why := "names commit " + printable(sha[:min(12, len(sha))]) + ", which is not part of this history"
			if len(history.ShallowCommits(repo)) > 0 {
				why += " as far as this shallow clone has it"
			}
			o.add("state."+where, false, why)
		}
	}
	return o.verdict(t)
}

// otherwise describes how the artifact differs from a file in the checkout.
func (t *restoring) otherwise(p string) string {
	if !t.in.Brings(p) {
		return "the artifact does not have it"
	}
	return "it is not here as the artifact has it"
}

// whereFrom says how to get a missing commit.
func whereFrom(t *restoring) string {
	if len(history.ShallowCommits(t.store.Repository())) > 0 {
		return "this clone is shallow: git fetch --unshallow, then try again"
	}
	return "fetch it from the repository the artifact was made in, then check it out"
}

func (o *Onto) add(path string, holds bool, why string) {
	o.Deciding = append(o.Deciding, Deciding{path, holds, why})
}

func (o *Onto) refuse(format, hint string) error {
	return &wire.Error{
		Code:    CodeHeadMismatch,
		Field:   "workspace.git.head_sha",
		Message: strings.ToUpper(format[:1]) + fmt.Sprintf(format[1:], shown(o.Exported)) + ".",
		Hint:    hint,
	}
}

func (o *Onto) verdict(t *restoring) error {
	e := &wire.Error{
		Code:  CodeContradicted,
		Field: "workspace.git.head_sha",
		Hint:  "git checkout " + shown(o.Exported) + ", or export again where the run is",
	}
	if len(history.ShallowCommits(t.store.Repository())) > 0 {
		e.Hint += "; this clone is shallow, git fetch --unshallow may bring what is missing"
	}
	var lines []string
	for _, d := range o.Deciding {
		if !d.Holds {
			lines = append(lines, printable(d.Path)+": "+d.Why)
			e.Problems = append(e.Problems, wire.Problem{
				Code:    CodeContradicted,
				Field:   d.Path,
				Message: printable(d.Path) + ": " + d.Why,
			})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	e.Message = fmt.Sprintf("What was committed since %s (%s) contradicts the artifact: %s.", shown(o.Exported),
		text.Count(o.Commits, "commit", "commits"), strings.Join(lines[:min(len(lines), 10)], "; "))
	if len(lines) > 10 {
		e.Message += fmt.Sprintf(" There are %d more.", len(lines)-10)
	}
	return e
}
