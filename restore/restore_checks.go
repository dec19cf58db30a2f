// Requirements of the checkout for restoring an artifact (docs/restore.md#what-is-checked-in-this-order, checks 8
// to 11).

package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// sameProject refuses an artifact of another project.
func (t *restoring) sameProject(ctx context.Context) error {
	here, err := t.projectHere()
	if err != nil {
		return err
	}
	theirs := ""
	if t.a != nil {
		theirs = t.a.projectID()
	}
	if b := t.out.Bundle; b != nil && (t.a == nil || theirs == here) {
		if theirs, err = b.Project(ctx, t.out.Run); err != nil {
			return err
		}
	}
	if theirs == here && here != "" {
		return nil
	}
	e := &wire.Error{
		Code:    CodeProjectMismatch,
		Field:   "project.id",
		Message: fmt.Sprintf("It was exported from the project %s, and this is %s.", named(theirs), named(here)),
		Hint:    "change to a clone of the project it was exported from",
	}
	if p := t.store.Beside(ctx).Named(theirs); p != nil && p.Dir != "" {
		e.Hint = "this repository has that project: " + p.In("restore FILE")
	}
	return e
}

func named(id string) string {
	if id == "" {
		return "without an id"
	}
	return fmt.Sprintf("%q", id)
}

// projectHere returns the id of the target. It only needs the id: the restore may be the repair of an otherwise
// wrong configuration.
func (t *restoring) projectHere() (string, error) {
	data, err := t.store.Work().Config()
	if err != nil {
		return "", err
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return "", &wire.Error{
			Code:    wire.CodeInvalidConfig,
			Field:   wire.ConfigPath,
			Message: wire.ConfigPath + " of this project is not JSON: " + err.Error() + ".",
		}
	}
	return o.Object("project").String("id"), nil
}

// sameHead refuses any commit but the exported one, unless --onto finds that it does not matter.
func (t *restoring) sameHead(ctx context.Context) error {
	if t.a == nil {
		return nil // the history in a bundle belongs to no commit
	}
	want := object.OID(t.a.head())
	status, err := gitstatus.Of(ctx, t.store.Repository(), t.store.Repository().Prefix)
	if err != nil {
		return err
	}
	have := status.Head
	t.head = have
	if have == want && have != "" {
		return nil
	}
	if same, err := t.sameTree(ctx, want, have); err != nil || same {
		return err
	}
	onto, err := t.relate(ctx, want, have)
	if err != nil {
		return err
	}
	if !t.opt.Onto {
		e := &wire.Error{
			Code:  CodeHeadMismatch,
			Field: "workspace.git.head_sha",
			Message: fmt.Sprintf("The artifact belongs to commit %s, and this checkout is at %s.", shown(want),
				shown(have)),
		}
		switch onto.Relation {
		case headAhead:
			e.Hint = fmt.Sprintf(
				"go back with git checkout %s, or let --onto find out whether what was committed since (%s) matters",
				shown(want), text.Count(onto.Commits, "commit", "commits"))
		case headUnknown:
			e.Hint = whereFrom(t)
		default:
			e.Hint = "git checkout " + shown(want)
		}
		return t.obstacle(e)
	}
	t.out.Head = onto
	err = onto.judge(ctx, t)
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return t.obstacle(e)
	}
	return err
}

// sameTree reports whether the checkout's commit is a different one with the same files: the exported one was
// amended, squashed or rebased. The baselines of active turns must be here nevertheless.
func (t *restoring) sameTree(ctx context.Context, want, have object.OID) (bool, error) {
	repo := t.store.Repository()
	here, err := repo.TreeOf(ctx, have)
	if err != nil || here == "" || !want.Valid(repo.ObjectFormat) {
		return false, err
	}
	theirs := object.OID(t.a.git().String("head_tree"))
	if theirs == "" && repo.HasCommit(ctx, want) {
		if theirs, err = repo.TreeOf(ctx, want); err != nil {
			return false, err
		}
	}
	if theirs != here {
		return false, nil
	}
	turns := objectOf(get(objectOf(t.a.a.state), "active_turns"))
	for _, id := range turns.Keys() {
		sha, _ := strings.CutPrefix(turns.Object(id).Object("baseline").String("head_ref"), "git:")
		if base := object.OID(sha); base.Valid(repo.ObjectFormat) && !repo.HasCommit(ctx, base) {
			return true, t.obstacle(&wire.Error{
				Code:  fail.CodeBaseMissing,
				Field: "active_turns." + id + ".baseline.head_ref",
				Message: fmt.Sprintf(
					"This commit has the files of the artifact's, but turn %s began at commit %s, which is not here.",
					id, shown(base)),
				Hint: whereFrom(t),
			})
		}
	}
	t.out.SameTree = true
	return true, nil
}

func shown(oid object.OID) string {
	if oid == "" {
		return "none"
	}
	return oid.Short()
}

// operationalNow reports whether a restore neither reads nor replaces a path, and may itself have just made it.
func operationalNow(path string) bool {
	return strings.HasPrefix(path, ".agentxchain/locks/") || strings.HasPrefix(path, ".agentxchain/transactions/")
}

// printable quotes a name that would affect a terminal.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
		return strconv.Quote(name)
	}
	return name
}

func dirtyKind(d gitstatus.DirtyPath) string {
	var kinds []string
	for _, k := range []struct {
		is   bool
		name string
	}{
		{d.Unmerged, "in conflict"},
		{d.Submodule, "submodule changed"},
		{d.Untracked, "untracked"},
		{d.Deleted, "deleted"},
		{d.Staged, "staged"},
	} {
		if k.is {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		kinds = []string{"modified"}
	}
	return strings.Join(slices.Compact(kinds), ", ")
}
