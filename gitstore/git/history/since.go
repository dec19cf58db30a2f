// What the project's own history gained between two commits.

package history

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// TurnCommit is a commit as shown to a person.
type TurnCommit struct {
	OID     object.OID
	Author  string // name and address
	Subject string
	Files   []string // changed against the first parent, project-relative
}

// CommitsSince returns at most limit commits that head has and base lacks, newest first; more says that there are
// others.
func CommitsSince(ctx context.Context, r *git.Repository, base, head object.OID, limit int) (commits []TurnCommit,
	more bool,
	err error) {
	if base == head || head == "" {
		return nil, false, nil
	}
	args := []string{
		"log", "-n", strconv.Itoa(limit + 1), "-z", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--diff-merges=first-parent",
		"--root", "--name-only", "--relative", "--format=tformat:%x01%H%x01%an <%ae>%x01%s%x01", string(head),
	}
	if base != "" {
		args = append(args, "^"+string(base))
	}
	out, err := r.Git.Run(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, false, err
	}
	for field := range bytes.SplitSeq(out, []byte{0}) {
		text := strings.Trim(string(field), "\n")
		switch parts := strings.Split(text, "\x01"); {
		case text == "":
		case len(parts) >= 5 && parts[0] == "":
			commits = append(commits, TurnCommit{
				OID:     object.OID(parts[1]),
				Author:  parts[2],
				Subject: strings.Join(parts[3:len(parts)-1], " "),
			})
		case len(commits) > 0:
			c := &commits[len(commits)-1]
			c.Files = append(c.Files, text)
		}
	}
	if len(commits) > limit {
		commits, more = commits[:limit], true
	}
	return commits, more, nil
}

// AuthorsSince returns the addresses of the authors of the commits that head has and base lacks, each once, as the commits
// have them: a .mailmap is not asked, which anyone who commits can write.
func AuthorsSince(ctx context.Context, r *git.Repository, base, head object.OID) ([]string, error) {
	if base == head || head == "" {
		return []string{}, nil
	}
	args := []string{"log", "--no-color", "--format=tformat:%ae", string(head)}
	if base != "" {
		args = append(args, "^"+string(base))
	}
	out, err := r.Git.Run(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]struct{})
	for line := range bytes.Lines(out) {
		seen[string(bytes.TrimRight(line, "\n"))] = struct{}{}
	}
	return slices.AppendSeq(make([]string, 0, len(seen)), maps.Keys(seen)), nil
}

// FilesOf returns the project's files that commits change; for a merge, those that differ from all of its parents.
func FilesOf(ctx context.Context, r *git.Repository, commits []object.OID) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range commits {
		in.WriteString(string(id))
		in.WriteByte('\n')
	}
	out, err := r.Git.Run(ctx, in.Bytes(), "diff-tree", "--stdin", "--root", "-r", "-c", "-z", "--no-commit-id",
		"--name-only", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--relative")
	if err != nil {
		return nil, err
	}
	names := git.NulNames(out)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// DeletedSince returns the oldest commit between base and head that deletes a path of the
// project, "" for none.
func DeletedSince(ctx context.Context, r *git.Repository, base, head object.OID, path string) (object.OID, error) {
	out, err := r.Git.Run(ctx, nil, "log", "--reverse", "--no-renames", "--diff-merges=first-parent",
		"--diff-filter=D",
		"--format=%H", string(base)+".."+string(head), "--", path)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return object.OID(first), nil
}
