// The locations of the repositories and which of them a path belongs to, judged by real paths
// (docs/coordinator.md#the-configuration).

package coordinator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Roots holds the locations of the repositories on this machine.
type Roots struct {
	Workspace string // real path
	list      ojson.Map[root]
}

type root struct {
	path   string        // resolved as far as it exists
	info   fs.FileInfo   // of the directory, nil if it does not exist
	bad    *wire.Problem // why the location cannot be used, nil if it can
	remote string        // its server, if nothing is at the path
}

// resolve finds the repositories of a configuration. The problems are in the order of the repositories; those of
// optional repositories are in optional instead, and the initiative can do without them.
//
// Paths are resolved against the workspace and through symbolic links. A repository may be anywhere its declared
// path openly says; refused are a path inside the workspace that a link leads out of it, the workspace itself or a
// directory around it, and two repositories in one place or one inside the other (docs/siblings.md).
func resolve(cfg *initiative.Config, workspace string) (r *Roots, problems, optional wire.Problems) {
	r = &Roots{}
	abs, err := filepath.Abs(workspace)
	if err == nil {
		r.Workspace, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return r, wire.Problems{{Code: "workspace_unreadable", Field: "workspace", Value: workspace,
			Message: "the workspace " + workspace + " cannot be resolved: " + reason(err)}}, nil
	}
	for id, repo := range cfg.Repos.All() {
		p := r.place(id, repo)
		if p == nil {
			continue
		}
		if repo.Required {
			problems = append(problems, *p)
		} else {
			optional = append(optional, *p)
		}
	}
	return r, problems, optional
}

// place resolves one repository after those declared before it.
func (r *Roots) place(id string, repo *initiative.Repo) (problem *wire.Problem) {
	declared := filepath.FromSlash(repo.Path)
	if !filepath.IsAbs(declared) {
		declared = filepath.Join(r.Workspace, declared)
	}
	declared = filepath.Clean(declared)
	at := root{path: declared}
	defer func() {
		at.bad = problem
		r.list.Set(id, at)
	}()
	fail := func(code, format string, args ...any) *wire.Problem {
		return &wire.Problem{Code: code, Field: "repos." + id + ".path", Value: repo.Path,
			Message: fmt.Sprintf("repository %s: ", id) + fmt.Sprintf(format, args...)}
	}
	real, exists, err := realPath("", declared)
	if err != nil {
		return fail("repo_path_unreadable", "%s cannot be read: %s", declared, reason(err))
	}
	at.path = real
	if exists {
		// Once for each: every repository is compared with every other.
		at.info, _ = os.Stat(real)
	}
	if within(r.Workspace, declared) && !within(r.Workspace, real) {
		return fail("repo_path_escapes",
			"%s lies in the workspace, but a symbolic link leads to %s; declare that path itself", repo.Path, real)
	}
	if within(real, r.Workspace) {
		return fail(problemWorkspace,
			"%s is the workspace or a directory around it; a repository must be below or beside the workspace", real)
	}
	for other, o := range r.list.All() {
		switch {
		case o.path == real || at.info != nil && o.info != nil && os.SameFile(o.info, at.info):
			return fail(problemDuplicate, "%s is the place of %s too", real, other)
		case within(o.path, real):
			return fail(problemNested, "%s lies inside of %s", real, other)
		case within(real, o.path):
			return fail(problemNested, "%s lies around %s", real, other)
		}
	}
	if !exists && repo.Remote != "" {
		at.remote = repo.Remote
		return nil
	}
	if !exists {
		return fail(problemMissing, "%s does not exist", declared)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return fail("repo_path_unreadable", "%s cannot be read: %s", real, reason(err))
	case !info.IsDir():
		return fail("repo_path_not_directory", "%s is not a directory", real)
	}
	return nil
}

// problemMissing is the finding for a missing directory. Its location is known, so the paths inside it can still be
// judged.
const problemMissing = "repo_path_missing"

// Findings for locations that cannot hold a repository.
const (
	problemWorkspace = "repo_path_workspace"
	problemDuplicate = "repo_path_duplicate"
	problemNested    = "repo_path_nested"
)

// Path returns the real path of a repository's root; false if it has no usable one.
func (r *Roots) Path(repo string) (string, bool) {
	at, ok := r.list.Get(repo)
	return at.path, ok && at.bad == nil && at.remote == ""
}

// missing reports whether nothing exists at the location of a repository.
func (r *Roots) missing(repo string) bool {
	bad := r.list.Value(repo).bad
	return bad != nil && bad.Code == problemMissing
}

// remote returns the address of a repository that exists only on its server, "" for one that is here.
func (r *Roots) remote(repo string) string {
	return r.list.Value(repo).remote
}

// Owner implements Places. It follows a path through symbolic links, including the last component: what counts is
// where a write would end up. If a file system could read a backslash as a separator, the path must be inside in
// both readings.
func (r *Roots) Owner(repo, file string) (string, *wire.Error) {
	at, ok := r.list.Get(repo)
	switch {
	case !ok:
		return "", &wire.Error{
			Code:    initiative.CodeRepoUnresolved,
			Field:   repo,
			Message: fmt.Sprintf("Repository %s has no place on this machine.", ojson.Shown(repo)),
		}
	case at.bad != nil && at.bad.Code != problemMissing:
		return "", &wire.Error{
			Code:     initiative.CodeRepoUnresolved,
			Field:    at.bad.Field,
			Problems: wire.Problems{*at.bad},
			Message:  "The " + at.bad.Message + ".",
		}
	case strings.TrimSpace(file) == "" || strings.IndexByte(file, 0) >= 0 || len(file) > maxPathBytes:
		return "", &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "files_changed",
			Message: fmt.Sprintf("files_changed names %s, which is not a path.", ojson.Shown(file)),
		}
	}
	owner, e := r.owner(at.path, file)
	if e == nil && owner == repo && strings.Contains(file, `\`) {
		owner, e = r.owner(at.path, strings.ReplaceAll(file, `\`, "/"))
	}
	return owner, e
}

// maxPathBytes is the maximum length of a path on common systems.
const maxPathBytes = 4096

func (r *Roots) owner(base, file string) (string, *wire.Error) {
	native := filepath.FromSlash(file)
	if filepath.IsAbs(native) || filepath.VolumeName(native) != "" || strings.HasPrefix(file, "/") {
		base = ""
	} else if hasDrive(file) {
		return "", nil
	}
	real, _, err := realPath(base, native)
	if err != nil {
		return "", &wire.Error{Code: wire.CodeInvalidArgument, Field: "files_changed",
			Message: fmt.Sprintf("files_changed names %s, and it cannot be found out where that is: %s.",
				ojson.Shown(file), reason(err))}
	}
	owner, deepest := "", -1
	for id, at := range r.list.All() {
		// If an optional repository is inside another, the inner one counts.
		if within(at.path, real) && len(at.path) > deepest {
			owner, deepest = id, len(at.path)
		}
	}
	return owner, nil
}

// hasDrive reports whether another system reads a path as absolute.
func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// within reports whether p is dir or below it; both are clean and absolute. It
// compares whole components: /a/bc is not within /a/b, /a/..b is within /a.
func within(dir, p string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 40

var errTooManyLinks = errors.New("too many symbolic links")

// realPath returns where p, relative to the real directory base or absolute (base is "" then), ends up after every
// symbolic link, and whether that exists. Unlike filepath.EvalSymlinks it continues beyond what exists: a file that
// a turn removed still has a location. ".." is applied after the link before it, as the system does, not to the
// text.
func realPath(base, p string) (real string, exists bool, err error) {
	sep := string(filepath.Separator)
	cur, rest := base, p
	if base == "" {
		volume := filepath.VolumeName(p)
		cur, rest = volume+sep, p[len(volume):]
	}
	parts := split(rest)
	exists = true
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		next := filepath.Join(cur, part)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), isNotDir(err):
			exists, cur = false, next
			continue
		case err != nil:
			return "", false, err
		case info.Mode()&fs.ModeSymlink == 0:
			cur = next
			continue
		}
		if links++; links > maxLinks {
			return "", false, errTooManyLinks
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", false, err
		}
		if filepath.IsAbs(target) {
			volume := filepath.VolumeName(target)
			cur, target = volume+sep, target[len(volume):]
		}
		parts = append(split(target), parts...)
	}
	if _, err := os.Lstat(cur); err != nil {
		exists = false
	} else if !exists {
		exists = true // ".." led back to an existing directory
	}
	return cur, exists, nil
}

func split(p string) []string {
	return slices.Collect(strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == filepath.Separator }))
}

// isNotDir reports whether a component before the last is a file. Anything below it does not exist, but has a
// location.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// reason returns a system error without the path, which the message already contains.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}
