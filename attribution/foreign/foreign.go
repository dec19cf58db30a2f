// What other tools said of the commits that are asked about.

package foreign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Tools whose notes are read.
const (
	GitAI  = "git-ai"
	Entire = "entire"
)

// Sources lists the tools.
func Sources() []string { return []string{Entire, GitAI} }

// Setting is the key of git's configuration that names the tools whose notes are shown, one per value.
const Setting = "agentxchain.foreign"

// Fetch fetches a tool's notes from a remote, under the tool's own ref names, and returns the remote's name.
// Without a name it uses the remote for runs; "" where the repository has none. Errors: no_remote for an unknown
// name, remote_failed.
func Fetch(ctx context.Context, repo *git.Repository, source, remote string) (string, error) {
	if all, err := transport.Remotes(ctx, repo); err != nil || remote == "" && len(all) == 0 {
		return "", err
	}
	remote, err := transport.PickRemote(ctx, repo, remote)
	if err != nil {
		return "", err
	}
	if source == GitAI {
		return remote, transport.FetchRefs(ctx, repo, remote, gitAIRef+":"+gitAIRef)
	}
	return remote, transport.FetchRefs(ctx, repo, remote,
		"+refs/heads/"+entireBranch+":refs/remotes/"+remote+"/"+entireBranch, entireRefs+"*:"+entireRefs+"*")
}

// Shown returns the tools whose notes are shown in a repository.
func Shown(ctx context.Context, repo *git.Repository) []string {
	out, err := repo.Git.Run(ctx, nil, "config", "--get-all", Setting)
	if err != nil {
		return nil // none is set
	}
	return slices.DeleteFunc(Sources(), func(s string) bool {
		return !slices.Contains(strings.Fields(string(out)), s)
	})
}

// Claim is what a tool said about who wrote something. Members are "" where it does not say.
type Claim struct {
	Source  string // GitAI or Entire
	Agent   string // the program that wrote it
	Model   string // the language model it used
	Session string // the tool's own name of the session
	Person  string // the person named besides the agent, or instead of one
	Whole   bool   // about the whole file in the commit, not single lines
}

// said is one claim and what it is about.
type said struct {
	Claim
	path     string
	from, to int // lines of the file in the commit, inclusive; 0 with Whole
}

// Book is what was said of some commits.
type Book struct {
	commits map[object.OID][]said
	// Unreadable are commits with notes in an unreadable form.
	Unreadable []object.OID
}

// Claims returns the claims about a line of a file in a commit, each tool's latest first.
func (b *Book) Claims(commit object.OID, path string, line int) []Claim {
	if b == nil {
		return nil
	}
	var out []Claim
	for _, s := range slices.Backward(b.commits[commit]) {
		about := s.path == path && (s.Whole || s.from <= line && line <= s.to)
		known := slices.ContainsFunc(out, func(c Claim) bool {
			return c == s.Claim || c.Source == s.Source && !c.Whole
		})
		if about && !known {
			out = append(out, s.Claim)
		}
	}
	return out
}

// Summary is what a repository has of one tool.
type Summary struct {
	Commits    int            // with readable notes
	Unreadable int            // with unreadable notes
	Agents     map[string]int // commits by agent; "" for those without one
}

// Read reads what the tools said of commits. It omits commits without notes. Errors: invalid_argument for another
// tool, and those of reading objects.
func Read(ctx context.Context, repo *git.Repository, sources []string, commits []object.OID) (*Book, error) {
	b := &Book{commits: make(map[object.OID][]said)}
	for _, source := range sources {
		var err error
		switch source {
		case GitAI:
			err = b.readGitAI(ctx, repo, commits)
		case Entire:
			err = b.readEntire(ctx, repo, commits)
		default:
			err = unknown(source)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Survey reads all notes of a tool in a repository. Errors: as Read.
func Survey(ctx context.Context, repo *git.Repository, source string) (*Summary, error) {
	var commits []object.OID
	var err error
	switch source {
	case GitAI:
		notes, nerr := gitAINotes(ctx, repo)
		for _, n := range notes {
			commits = append(commits, n.commit)
		}
		err = nerr
	case Entire:
		commits, err = entireCommits(ctx, repo)
	default:
		err = unknown(source)
	}
	if err != nil {
		return nil, err
	}
	b, err := Read(ctx, repo, []string{source}, commits)
	if err != nil {
		return nil, err
	}
	out := &Summary{Commits: len(b.commits), Unreadable: len(b.Unreadable), Agents: make(map[string]int)}
	for _, list := range b.commits {
		seen := make(map[string]bool)
		for _, s := range list {
			if !seen[s.Agent] {
				seen[s.Agent] = true
				out.Agents[s.Agent]++
			}
		}
	}
	return out, nil
}

func unknown(source string) error {
	return &wire.Error{
		Code: wire.CodeInvalidArgument,
		Message: fmt.Sprintf("%q is not a tool whose notes can be imported; the tools are %s.", source,
			strings.Join(Sources(), " and ")),
		Hint: "git agentxchain import " + Sources()[0],
	}
}

// limits of documents that other tools wrote.
var limits = ojson.Limits{Bytes: 8 << 20, Depth: 32}

func decode(data []byte) (*ojson.Object, bool) {
	v, err := ojson.DecodeLimited(data, limits)
	if err != nil {
		return nil, false
	}
	o, ok := v.(*ojson.Object)
	return o, ok
}
