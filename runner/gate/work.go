// Whether this checkout has the work that a gate, or the next turn, builds on.

package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Away is the work of an accepted turn that is committed elsewhere than on the branch here.
type Away struct {
	Turn    string
	Commit  object.OID
	Absent  bool   // the clone does not have the commit at all
	Command string // fetches it, "" when no known branch has it
}

// What describes it in a sentence without its end.
func (a *Away) What() string {
	if a.Absent {
		return "commit " + a.Commit.Short() + " of turn " + a.Turn + " is not in this clone"
	}
	return "commit " + a.Commit.Short() + " of turn " + a.Turn + " is not on this branch"
}

// Bring returns the command that brings the work here.
func (a *Away) Bring() string {
	if a.Command != "" {
		return a.Command
	}
	return "git merge " + a.Commit.Short()
}

// Asking returns the history row of the accepted turn whose request waits; nil when nothing waits or it is not known.
func Asking(v *gitstore.View) *ojson.Object {
	w := v.State.Waiting()
	if w == nil {
		return nil
	}
	row := v.Index.QueuedRow
	if w.Type == run.GateCompletion {
		row = v.Index.QueuedDone
	}
	if row == nil && v.Index.LastRow.String("turn_id") == w.By {
		row = v.Index.LastRow
	}
	return row
}

// Work reports that the work of the accepted turn of row is neither in the files of the project at dir nor on its
// branch: a reset or another branch removed it, or it was not pulled yet. A rebased or squashed commit has the same
// files. It returns nil when the work is here and when that is unknown, as in a clone that never fetched it.
func Work(ctx context.Context, repo *git.Repository, dir string, row *ojson.Object) *Away {
	made, files := object.OID(row.String("checkpoint_sha")), row.Strings("files_changed")
	if len(files) == 0 || !made.Valid(repo.ObjectFormat) {
		return nil
	}
	for path, digest := range markers(row) {
		if clean, problem := wire.CleanPath(path); problem == "" {
			data, err := projectfile.Read(dir, clean, projectfile.MaxGate)
			if err != nil || data != nil && wire.Digest(data) == digest {
				return nil
			}
		}
	}
	head := repo.Head(ctx)
	if head == "" || !repo.HasCommit(ctx, made) {
		return nil
	}
	if has, err := history.Ancestor(ctx, repo, made, head); has || err != nil {
		return nil
	}
	changed, err := history.ChangedBetween(ctx, repo, made, head)
	if err != nil || slices.ContainsFunc(files, func(f string) bool { return !slices.Contains(changed, f) }) {
		return nil
	}
	return &Away{Turn: row.String("turn_id"), Commit: made, Command: bringing(ctx, repo, made)}
}

// markers returns the digests of the files that the turn of row changed, as it was accepted.
func markers(row *ojson.Object) map[string]string {
	out := map[string]string{}
	seen := row.Object("observed_artifact").Object("file_markers")
	for _, path := range seen.Keys() {
		out[path] = seen.String(path)
	}
	return out
}

// bringing returns the command that brings a commit of other branches: a pull when the upstream of the branch here
// has the commit, else a switch to another branch.
func bringing(ctx context.Context, repo *git.Repository, commit object.OID) string {
	out, err := repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", "--contains="+string(commit),
		"refs/heads", "refs/remotes")
	if err != nil {
		return ""
	}
	having := strings.Fields(string(out))
	at, _ := repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	if here := strings.TrimSpace(string(at)); here != "" {
		remote, branch := repo.Setting(ctx, "branch."+here+".remote"), repo.Setting(ctx, "branch."+here+".merge")
		branch = strings.TrimPrefix(branch, "refs/heads/")
		if slices.Contains(having, "refs/remotes/"+remote+"/"+branch) {
			return "git pull " + wire.ShellWord(remote) + " " + wire.ShellWord(branch)
		}
	}
	for _, ref := range having {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			return "git switch " + wire.ShellWord(name)
		}
	}
	for _, ref := range having {
		name := strings.TrimPrefix(ref, "refs/remotes/")
		_, branch, _ := strings.Cut(name, "/")
		if branch == "HEAD" || strings.HasPrefix(branch, "agentxchain/") {
			continue
		}
		if oid, err := repo.ReadRef(ctx, "refs/heads/"+branch); err == nil && oid != "" {
			return "git switch " + wire.ShellWord(branch) // the pull comes after that
		}
		return "git switch --track " + wire.ShellWord(name)
	}
	return ""
}

// Before returns those documents among files that the asking turn has changed and that are here as they were before
// the phase, when its work is elsewhere: a person would answer for other documents than the turn handed in. It
// returns the work without such documents too, nil when it is not elsewhere.
func Before(ctx context.Context, store *gitstore.Store, v *gitstore.View, files []evidence.FileBlob) ([]string, *Away) {
	row, repo := Asking(v), store.Repository()
	away := Work(ctx, repo, store.Dir(), row)
	marks := protocol.DocumentMarks(v.Config, v.State)
	if row == nil || marks == nil {
		return nil, away
	}
	handed := markers(row)
	var out []string
	for _, f := range files {
		digest := run.DocumentMissing
		if f.Blob != nil {
			digest = wire.Digest(f.Blob.Data)
		}
		m, marked := marks.Get(f.Path)
		if want := handed[f.Path]; marked && want != "" && want != digest && m.Phase == digest {
			out = append(out, f.Path)
		}
	}
	if len(out) == 0 {
		return nil, away
	}
	// A withdrawn approval leaves the marks of the phase it opened, so the marks alone prove nothing.
	if made := object.OID(row.String("checkpoint_sha")); away == nil && made.Valid(repo.ObjectFormat) &&
		!repo.HasCommit(ctx, made) {
		away = &Away{Turn: row.String("turn_id"), Commit: made, Absent: true, Command: "git fetch --all"}
	}
	if away == nil {
		return nil, nil
	}
	return out, away
}
