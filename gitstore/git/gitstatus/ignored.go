// Which paths git ignores, and by which rule.

package gitstatus

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// IgnoredPath is a path that an ignore rule hides.
type IgnoredPath struct {
	Path string
	Rule string // file, line and pattern, such as ".gitignore:2: *.json"
}

// IgnoredPaths lists ignored paths in the order of the request.
type IgnoredPaths []IgnoredPath

// Names returns only the paths.
func (list IgnoredPaths) Names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Path
	}
	return names
}

// Ignored returns the project-relative paths that git ignores, each with the rule, in the given order. A tracked
// file is not ignored, unless tracked is set, which applies the rules alone. A path that leads through a link or
// into a submodule is not a file of this repository, so no rule hides it.
//
// An agent may have written the paths. check-ignore fails altogether on one behind a link or in a submodule, so it
// gets none of the former, and does not read the index. It is also the only command that refuses the literal
// pathspecs git runs with here: a leading directory makes each path a plain name, whatever it begins with.
func Ignored(ctx context.Context, r *git.Repository, paths []string, tracked bool) (IgnoredPaths, error) {
	const here = "./"
	var ask strings.Builder
	within := plainDirs{}
	for _, p := range paths {
		if within.holds(r.ProjectDir, path.Dir(p)) {
			ask.WriteString(here + p + "\x00")
		}
	}
	if ask.Len() == 0 {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, []byte(ask.String()), "--no-literal-pathspecs", "check-ignore", "--no-index", "-z", "-v",
		"--stdin")
	if err != nil && git.ExitCode(err) != 1 { // 1: none of them is ignored
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	var found IgnoredPaths
	for ; len(fields) >= 4; fields = fields[4:] {
		file, line, pattern, name := fields[0], fields[1], fields[2], fields[3]
		if !strings.HasPrefix(pattern, "!") { // such a rule shows the path again
			found = append(found, IgnoredPath{
				Path: strings.TrimPrefix(name, here),
				Rule: file + ":" + line + ": " + pattern,
			})
		}
	}
	if len(found) == 0 || tracked {
		return found, nil
	}
	entries, err := TrackedFiles(ctx, r)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f IgnoredPath) bool { return tracksAny(entries, f.Path) }), nil
}

// tracksAny reports whether entries, which are sorted, contain the path or one above it, which would be a
// submodule.
func tracksAny(entries []string, name string) bool {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if _, has := slices.BinarySearch(entries, name); has {
			return true
		}
	}
	return false
}

// plainDirs caches directories of a project: true for one that is reached without a link.
type plainDirs map[string]bool

// holds reports whether dir, below root, is reached without a link. Missing directories count as such.
func (d plainDirs) holds(root, dir string) bool {
	if dir == "." {
		return true
	}
	plain, known := d[dir]
	if !known {
		plain = d.holds(root, path.Dir(dir))
		if info, err := os.Lstat(filepath.Join(root, dir)); err == nil {
			plain = plain && info.Mode()&fs.ModeSymlink == 0
		}
		d[dir] = plain
	}
	return plain
}
