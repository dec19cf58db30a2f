// Which commits of a range are the work of accepted turns (docs/ci.md#proof-of-a-range).

package attribution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CommitKind says what accounts for a commit.
type CommitKind string

// Kinds of commits.
const (
	CommitTurn        CommitKind = "turn"        // all its changes are the work of accepted turns
	CommitPerson      CommitKind = "person"      // it contains no turn's work, and claims none
	CommitApproval    CommitKind = "approval"    // it signs documents as a recorded approval has them
	CommitMerge       CommitKind = "merge"       // it joins histories and changes nothing itself
	CommitUnaccounted CommitKind = "unaccounted" // it claims a turn's work, or has some, and that is not proven
)

// How turns account for a commit's change of a file, strongest first.
const (
	FileCheckpoint = "checkpoint" // the commit is the turn's checkpoint
	FileExact      = "exact"      // the contents before and after are those of turns' own commits
	FileMerged     = "merged"     // the turns' change, applied to another version of the file
	FileSplit      = "split"      // a part of the turns' change, which later commits of the range complete
	FileApproval   = "approval"   // the document is as a person's recorded approval has it
	FileContent    = "content"    // the file is as accepted for the turn, whose own commit is not in this clone
)

// RangeFile is a file that a commit changes.
type RangeFile struct {
	Path  string  // from the root of the work tree
	How   string  // FileCheckpoint, …; "" when no turn accounts for it
	Turns []*Turn // whose work it is
	Why   string  // with How "", a phrase if more is known

	entry
}

// RangeCommit is a commit of a range with what accounts for it.
type RangeCommit struct {
	OID       object.OID
	Parents   []object.OID
	Author    string // NAME <EMAIL>
	Subject   string
	Kind      CommitKind
	Turns     []*Turn  // turns whose work it contains
	Named     []string // turns that its message names and no run here knows
	Why       string   // with CommitUnaccounted
	Files     []*RangeFile
	Protected []string // its files on which governance depends

	tree    object.OID
	claimed []*Turn // turns its message names
}

// Range says what accounts for the commits of BASE..HEAD.
type Range struct {
	Base, Head object.OID
	Commits    []*RangeCommit // oldest first
	Runs       []string       // recorded runs known here
}

// Codes of ranges that cannot be judged.
const (
	CodeRecordMissing  = "record_missing"
	CodeHistoryShallow = "history_shallow"
	CodeUnknownRange   = "unknown_range"
)

// maxRangeCommits bounds a range.
const maxRangeCommits = 200_000

// Commits says for each commit of base..head which accepted turns' work it is. A message is only a claim: a commit
// counts when each file it changes is, by its contents, the recorded work of a turn.
//
// Errors: unknown_range, history_shallow when the clone ends before base, record_missing when no run is recorded
// here, and the errors of reading the recorded runs: an invalid record cannot account for anything.
func Commits(ctx context.Context, repo *git.Repository, base, head string) (*Range, error) {
	j := &judge{
		ctx:    ctx,
		repo:   repo,
		past:   record.NewPast(ctx, repo),
		byPath: make(map[string][]*work),
		shas:   make(map[object.OID]string),
		used:   make(map[useKey]bool),
		out:    &Range{},
		asked:  base + ".." + head,
	}
	var err error
	if j.out.Base, err = j.resolve(base); err != nil {
		return nil, err
	}
	if j.out.Head, err = j.resolve(head); err != nil {
		return nil, err
	}
	if err := j.whole(); err != nil {
		return nil, err
	}
	if err := j.wholeRecord(); err != nil {
		return nil, err
	}
	if j.book, err = readBook(ctx, repo, &Query{}, nil, string(j.out.Head), string(j.out.Base)); err != nil {
		return nil, err
	}
	if len(j.book.turns) == 0 {
		return nil, recordMissing(ctx, repo, string(j.out.Head))
	}
	if err := j.readApproved(); err != nil {
		return nil, err
	}
	for run := range j.book.byRun {
		j.out.Runs = append(j.out.Runs, run)
	}
	slices.Sort(j.out.Runs)
	if j.out.Commits, err = readRange(ctx, repo, j.out.Base, j.out.Head); err != nil {
		return nil, err
	}
	if err := j.judge(); err != nil {
		return nil, err
	}
	return j.out, nil
}

// fetch returns the command that fetches what is missing here.
func (j *judge) fetch() string {
	return "git agentxchain verify range --fetch " + wire.ShellWord(j.asked)
}

func (j *judge) resolve(name string) (object.OID, error) {
	id, err := Resolve(j.ctx, j.repo, name)
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Hint == "" {
		refusal.Hint = j.fetch() + " brings what a shallow checkout lacks, also the base"
	}
	return id, err
}

// Resolve finds the commit with a name. Where the name can mean several refs, git takes the tag: a person who may
// push a tag with a branch's name could then decide where a range begins, and which policy applies.
//
// Errors: unknown_range.
func Resolve(ctx context.Context, repo *git.Repository, name string) (object.OID, error) {
	out, err := repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", &wire.Error{Code: CodeUnknownRange, Message: fmt.Sprintf("%q names no commit of this clone.", name)}
	}
	stem := name
	if i := strings.IndexAny(name, "^~@:"); i >= 0 {
		stem = name[:i]
	}
	if stem == "" || stem == "HEAD" || strings.HasPrefix(stem, "refs/") || object.OID(stem).Valid(repo.ObjectFormat) ||
		!git.SafeRefName("refs/heads/"+stem) {
		return object.OID(strings.TrimSpace(string(out))), nil
	}
	refs, err := repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)",
		"refs/"+stem, "refs/tags/"+stem, "refs/heads/"+stem, "refs/remotes/"+stem)
	if err != nil {
		return "", err
	}
	var names []string
	commits := make(map[string]bool)
	for line := range strings.Lines(string(refs)) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasSuffix(f[0], "/"+stem) { // git also lists what is below a name
			continue
		}
		names, commits[f[len(f)-1]] = append(names, f[0]), true
	}
	if len(commits) > 1 {
		return "", &wire.Error{
			Code:    CodeUnknownRange,
			Message: fmt.Sprintf("%q names several commits of this clone: %s.", stem, strings.Join(names, ", ")),
			Hint:    "write the name in full, such as " + names[0],
		}
	}
	return object.OID(strings.TrimSpace(string(out))), nil
}

// whole refuses a clone whose history ends within the range: what lies before the end would seem to come with the
// first commit.
func (j *judge) whole() error {
	cut := history.ShallowCommits(j.repo)
	if len(cut) == 0 {
		return nil
	}
	out, err := j.repo.Git.Run(j.ctx, nil, "rev-list", string(j.out.Head), "^"+string(j.out.Base))
	if err != nil {
		return err
	}
	n := 0
	var ends string
	for line := range strings.Lines(string(out)) {
		n++
		if id := strings.TrimSpace(line); cut[object.OID(id)] {
			ends = id
		}
	}
	if ends == "" {
		return nil
	}
	return &wire.Error{
		Code: CodeHistoryShallow,
		Message: fmt.Sprintf("The history of this clone ends at %.12s, within the range: %d commits of it are here.",
			ends, n),
		Hint: fmt.Sprintf("%s brings as much as it takes, up to %d commits; or git fetch --deepen=%d, again until this passes, "+
			"or git fetch --unshallow (fetch-depth: 0 in a workflow)", j.fetch(), deepest(), max(100, 2*n)),
	}
}

// wholeRecord refuses a record that was fetched with a depth: none of its operations can be proven.
func (j *judge) wholeRecord() error {
	ref, err := transport.CutRecord(j.ctx, j.repo)
	if err != nil || ref == "" {
		return err
	}
	return &wire.Error{
		Code:    CodeHistoryShallow,
		Message: fmt.Sprintf("The record in this clone was fetched with a depth: the history of %s ends before its first operation.", ref),
		Hint: fmt.Sprintf("%s brings the rest; or git fetch --depth=%d REMOTE '%s*:%s*'", j.fetch(), transport.WholeDepth,
			git.RunRefPrefix, git.RunRefPrefix),
	}
}

// recordMissing says that no run is recorded here, or that a commit has no project that could have one.
func recordMissing(ctx context.Context, repo *git.Repository, commit string) error {
	workspace, _ := repo.Git.Run(ctx, nil, "cat-file", "-t", commit+":"+repo.Prefix+initiative.ConfigFile)
	if len(workspace) > 0 && len(chain.ProjectsIn(ctx, repo, commit)) == 0 {
		return &wire.Error{
			Code: CodeRecordMissing,
			Message: "This is the workspace of an initiative: the runs that account for commits are recorded in its repositories, " +
				"and none here.",
			Hint: "run this in each repository; git agentxchain verify approvals judges the gates of the initiative",
		}
	}
	return &wire.Error{
		Code:    CodeRecordMissing,
		Message: "No run is recorded in this clone: the record was not pushed, or not fetched.",
		Hint: "git agentxchain verify range --fetch brings it; " +
			"where there is none, git agentxchain sync in the clone that has the runs pushes it",
	}
}
