// The commits of a range and the files each changes, in one git process.

package attribution

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// entry is a change of one file: modes and contents before and after. In a merge it is a file that differs from
// every parent.
type entry struct {
	oldMode, newMode string
	old, new         object.OID // "" for a missing file
}

const fileMode, executable, symlink, module, noMode = "100644", "100755", "120000", "160000", "000000"

// regular reports whether the change keeps the kind of file: an ordinary file stays one, and a new file is one.
func (e *entry) regular() bool {
	plain := func(mode string) bool { return mode == fileMode || mode == executable || mode == noMode }
	return plain(e.oldMode) && plain(e.newMode) &&
		(e.oldMode == e.newMode || e.oldMode == noMode || e.newMode == noMode)
}

// logFields are the fields that git log prints of a commit before its files.
const logFields = "%H%x00%T%x00%P%x00%an <%ae>%x00%s%x00%B%x00"

// readRange lists base..head, parents before children.
func readRange(ctx context.Context, repo *git.Repository, base, head object.OID) ([]*RangeCommit, error) {
	out, err := repo.Git.Run(ctx, nil, "log", "-z", "--topo-order", "--reverse", "--raw", "-c", "--root",
		"--no-abbrev",
		"--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes",
		"--no-mailmap", "--no-color", "--ignore-submodules=none", "--format=tformat:"+logFields,
		string(head), "^"+string(base), "--")
	if err != nil {
		return nil, err
	}
	var all []*RangeCommit
	tokens := bytes.Split(out, []byte{0})
	for i := 0; i < len(tokens); {
		token := string(bytes.TrimLeft(tokens[i], "\n"))
		switch {
		case token == "":
			i++
		case token[0] == ':':
			if len(all) == 0 || i+1 >= len(tokens) {
				return nil, fmt.Errorf("git log lists a file of no commit")
			}
			e, err := parseEntry(token)
			if err != nil {
				return nil, err
			}
			c := all[len(all)-1]
			c.Files = append(c.Files, &RangeFile{Path: string(tokens[i+1]), entry: e})
			i += 2
		case i+5 >= len(tokens):
			return nil, fmt.Errorf("git log ends within a commit")
		default:
			if len(all) == maxRangeCommits {
				return nil, fail.Errorf(fail.CodeGitFailed, nil, "the range has more than %d commits", maxRangeCommits)
			}
			c := &RangeCommit{
				OID:     object.OID(token),
				tree:    object.OID(tokens[i+1]),
				Author:  string(tokens[i+3]),
				Subject: string(tokens[i+4]),
				Named:   namedTurns(string(tokens[i+5])),
			}
			for p := range strings.FieldsSeq(string(tokens[i+2])) {
				c.Parents = append(c.Parents, object.OID(p))
			}
			all = append(all, c)
			i += 6
		}
	}
	return all, nil
}

// parseEntry reads ":100644 100644 <old> <new> M", with one more colon, mode and object for each further parent.
func parseEntry(s string) (entry, error) {
	n := len(s) - len(strings.TrimLeft(s, ":"))
	f := strings.Fields(s[n:])
	if len(f) != 2*(n+1)+1 {
		return entry{}, fmt.Errorf("git reports a changed file as %q", s)
	}
	e := entry{oldMode: f[0], newMode: f[n], old: object.OID(f[n+1]), new: object.OID(f[2*n+1])}
	for _, id := range []*object.OID{&e.old, &e.new} {
		if strings.Trim(string(*id), "0") == "" {
			*id = ""
		}
	}
	return e, nil
}

// diffs lists the changes between each pair of trees, or of each commit itself: one git process. A question is a
// commit or "TREE TREE".
func diffs(ctx context.Context, repo *git.Repository, questions []string) (map[string]map[string]entry, error) {
	out := make(map[string]map[string]entry)
	if len(questions) == 0 {
		return out, nil
	}
	slices.Sort(questions)
	questions = slices.Compact(questions)
	data, err := repo.Git.Run(ctx, []byte(strings.Join(questions, "\n")+"\n"), "diff-tree", "--stdin", "-r", "-z",
		"--root",
		"--no-renames", "--no-abbrev", "--no-relative", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var at map[string]entry
	tokens := bytes.Split(data, []byte{0})
	for i := 0; i < len(tokens); i++ {
		for token := string(tokens[i]); token != ""; {
			if token[0] == ':' {
				e, err := parseEntry(token)
				if err != nil || i+1 >= len(tokens) || at == nil {
					return nil, fmt.Errorf("git reports a changed file as %q", token)
				}
				i++
				at[string(tokens[i])] = e
				break
			}
			// The name of the question ends with a line feed when two trees are compared,
			// else with a NUL.
			head, rest, _ := strings.Cut(token, "\n")
			at = make(map[string]entry)
			out[head] = at
			token = rest
		}
	}
	return out, nil
}
