// Which paths git is told not to see, and by which rule.

package gitstatus

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// IgnoredPath is a path that an ignore rule hides.
type IgnoredPath struct {
	Path string
	Rule string // file, line and pattern, such as ".gitignore:2: *.json"
}

// IgnoredPaths are such paths in the order in which they were asked for.
type IgnoredPaths []IgnoredPath

// Names are the paths alone.
func (list IgnoredPaths) Names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Path
	}
	return names
}

// Ignored returns those of the project-relative paths that git ignores, each with the rule, in their order. A file that
// git tracks is not ignored, unless tracked asks for what the rules alone say.
func Ignored(ctx context.Context, r *git.Repository, paths []string, tracked bool) (IgnoredPaths, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	// check-ignore is the one command that refuses the literal pathspecs git runs with here; it takes none.
	args := []string{"--no-literal-pathspecs", "check-ignore", "-z", "-v", "--stdin"}
	if tracked {
		args = slices.Insert(args, 2, "--no-index")
	}
	out, err := r.Git.Run(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), args...)
	if err != nil && git.ExitCode(err) != 1 { // 1: none of them is ignored
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	var found IgnoredPaths
	for ; len(fields) >= 4; fields = fields[4:] {
		file, line, pattern, path := fields[0], fields[1], fields[2], fields[3]
		if !strings.HasPrefix(pattern, "!") { // such a rule shows the path again
			found = append(found, IgnoredPath{Path: path, Rule: file + ":" + line + ": " + pattern})
		}
	}
	return found, nil
}
