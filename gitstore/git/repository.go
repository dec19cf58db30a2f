// Finding the git repository around a directory.

package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Repository is an opened git repository and the project directory in it. All
// paths are absolute with symbolic links resolved, as git reports them.
type Repository struct {
	TopLevel     string // work tree root; "" in a bare repository
	ProjectDir   string // the directory passed to Discover
	Prefix       string // ProjectDir below TopLevel, "" or ending in "/"
	GitDir       string // of this work tree
	CommonDir    string // shared by all linked work trees
	ObjectsDir   string // where new objects go; in receive hooks a quarantine
	ObjectFormat string // FormatSHA1 or FormatSHA256
	RefFormat    string // "files" or "reftable"
	Git          *Git   // runs in ProjectDir

	ObjectsOnce sync.Once
	ObjectStore Objects
	personalMu  sync.Mutex
	person      map[string]string // see personal
	held        heldRefs          // see HoldRefs
	Unsound     atomic.Value      // the last invalid chain, a *Verdict, for servers
}

// The questions for git, one answer line each, in this order. The last two fail outside a work tree, after the
// others were printed.
var discoverFlags = []string{
	"--is-bare-repository", "--is-inside-work-tree", "--show-object-format", "--show-ref-format",
	"--git-dir", "--git-common-dir", "--git-path objects", "--show-prefix", "--show-toplevel",
}

const (
	ansBare = iota
	ansInside
	ansObjectFormat
	ansRefFormat
	ansGitDir
	ansCommonDir
	ansObjectsDir
	ansPrefix
	ansTopLevel
	ansCount
)

// Discover opens the repository that contains dir, with at most one git process. dir may be below the work tree's
// root: the project is then in a subdirectory.
//
// Errors carry the codes not_a_git_repository, bare_repository, dubious_ownership, git_missing, git_too_old,
// unsupported_repository_format or git_failed.
func Discover(ctx context.Context, dir string) (*Repository, error) {
	r, err := discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	if r.TopLevel == "" {
		return nil, fail.Errorf(fail.CodeBareRepository, nil, "%s is a bare repository, it has no files to work on",
			r.GitDir).
			WithHint("run this in a clone that has a work tree")
	}
	return r, nil
}

// DiscoverBare is Discover, but also opens bare repositories, for hooks that run on a server. TopLevel, ProjectDir
// and Prefix are empty there.
func DiscoverBare(ctx context.Context, dir string) (*Repository, error) { return discover(ctx, dir) }

// DiscoverForeign opens a repository other than the one this process was started in (see NewForeignGit).
func DiscoverForeign(ctx context.Context, dir string) (*Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail.Errorf(fail.CodeNotRepository, err, "the directory %s cannot be entered", dir)
	}
	r, err := Ask(ctx, NewForeignGit(abs))
	if err == nil && r.TopLevel == "" {
		return nil, fail.Errorf(fail.CodeBareRepository, nil, "%s is a bare repository, it has no files to work on",
			r.GitDir)
	}
	return r, err
}

func discover(ctx context.Context, dir string) (*Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail.Errorf(fail.CodeNotRepository, err, "the directory %s cannot be entered", dir)
	}
	if named := os.Getenv("GIT_WORK_TREE"); named != "" {
		at := named
		if os.Getenv("GIT_DIR") == "" && !filepath.IsAbs(named) { // git then runs in dir
			at = filepath.Join(abs, named)
		}
		if fi, err := os.Stat(at); err != nil || !fi.IsDir() { // git would silently find nothing
			return nil, fail.Errorf(fail.CodeNotRepository, nil, "GIT_WORK_TREE names %s, where no directory is", named).
				WithHint("unset GIT_WORK_TREE")
		}
	}
	env := os.Environ()
	gitDir := os.Getenv("GIT_DIR")
	if gitDir == "" {
		g := newGit(abs, env)
		if ans, ok := lookUp(abs, env); ok && g.BinErr == nil {
			return newRepository(g, ans)
		}
		return Ask(ctx, g)
	}
	// Git resolves these against its own working directory, which is the project directory: make them absolute
	// first.
	for _, k := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"} {
		if v := os.Getenv(k); v != "" && !filepath.IsAbs(v) {
			if p, err := filepath.Abs(v); err == nil {
				env = append(dropVars(env, []string{k}), k+"="+p)
			}
		}
	}
	if os.Getenv("GIT_WORK_TREE") != "" {
		return Ask(ctx, newGit(abs, env))
	}
	// A hook runs with GIT_DIR but without GIT_WORK_TREE, and git then takes the working directory for the root of
	// the work tree. That is wrong for a project in a subdirectory, so look upwards from dir as git itself would
	// without the variable, and use the answer if it is the same repository.
	if r, err := Ask(ctx, newGit(abs, dropVars(env, []string{"GIT_DIR", "GIT_COMMON_DIR"}))); err == nil &&
		SameFile(r.GitDir, gitDir) {
		return r, nil
	}
	return Ask(ctx, newGit(abs, env))
}

// SameFile reports whether two names refer to one file, following links.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Ask asks git which repository is around the directory it runs in.
func Ask(ctx context.Context, g *Git) (*Repository, error) {
	args := []string{"rev-parse", "--path-format=absolute"}
	for _, f := range discoverFlags {
		args = append(args, strings.Fields(f)...)
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		if strings.Contains(ComplaintOf(err), "must be run in a work tree") {
			return askBare(ctx, g)
		}
		return nil, explainDiscovery(g.Dir, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "--path-format") {
		return nil, tooOld()
	}
	if len(lines) != ansCount {
		// A directory name contains a newline: ask one by one, so that each answer is unambiguous.
		if lines, err = askEach(ctx, g, discoverFlags); err != nil {
			return nil, err
		}
	}
	return newRepository(g, lines)
}

// askBare opens a repository whose answers end before the work tree questions.
func askBare(ctx context.Context, g *Git) (*Repository, error) {
	lines, err := askEach(ctx, g, discoverFlags[:ansPrefix])
	if err != nil {
		return nil, err
	}
	if lines[ansBare] != "true" {
		return nil, fail.Errorf(fail.CodeNotRepository, nil,
			"%s is inside a repository's git directory, not in a work tree",
			g.Dir).
			WithHint("change to the work tree and run the command again")
	}
	return newRepository(g, append(lines, "", ""))
}

func askEach(ctx context.Context, g *Git, flags []string) ([]string, error) {
	lines := make([]string, 0, ansCount)
	for _, f := range flags {
		out, err := g.Run(ctx, nil, append([]string{"rev-parse", "--path-format=absolute"}, strings.Fields(f)...)...)
		if err != nil {
			return nil, explainDiscovery(g.Dir, err)
		}
		lines = append(lines, strings.TrimSuffix(string(out), "\n"))
	}
	return lines, nil
}

func newRepository(g *Git, ans []string) (*Repository, error) {
	r := &Repository{
		GitDir: ans[ansGitDir], CommonDir: ans[ansCommonDir], ObjectsDir: ans[ansObjectsDir],
		Prefix: ans[ansPrefix], TopLevel: ans[ansTopLevel],
		ObjectFormat: ans[ansObjectFormat], RefFormat: ans[ansRefFormat], Git: g,
	}
	if strings.HasPrefix(r.RefFormat, "--") {
		// rev-parse echoes unknown flags. A git without the flag can only open the files format.
		r.RefFormat = "files"
	}
	if object.HexLen(r.ObjectFormat) == 0 {
		return nil, fail.Errorf(fail.CodeUnsupportedFormat, nil, "the repository uses the unknown object format %q",
			r.ObjectFormat)
	}
	if r.TopLevel != "" {
		r.ProjectDir = filepath.Join(r.TopLevel, filepath.FromSlash(r.Prefix))
		g.Dir = r.ProjectDir
	}
	g.Scope = &LocalScope{GitDir: r.GitDir, CommonDir: r.CommonDir, top: r.TopLevel}
	return r, nil
}

// leadsNowhere returns the error for a reference to a missing repository: in GIT_DIR, or in the file .git of a
// linked work tree or submodule.
func leadsNowhere(dir string) error {
	if named := os.Getenv("GIT_DIR"); named != "" {
		return fail.Errorf(fail.CodeNotRepository, nil, "GIT_DIR names %s, where no git repository is", named).
			WithHint("unset GIT_DIR")
	}
	if hint := objectsElsewhere(); hint != "" {
		return fail.Errorf(fail.CodeNotRepository, nil, "%s is not inside a git repository that has its objects", dir).
			WithHint("%s", hint)
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		file := filepath.Join(at, ".git")
		if shut := shutGit(file); shut != nil {
			return shut
		}
		if fi, err := os.Lstat(file); err != nil || fi.IsDir() {
			continue
		}
		text, _ := os.ReadFile(file)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if shut := shutGit(to); ok && filepath.IsAbs(to) && shut != nil {
			return shut
		}
		e := fail.Errorf(fail.CodeNotRepository, nil, "%s leads to %s, where no git repository is", file, to)
		switch place := filepath.ToSlash(to); {
		case !ok:
			return fail.Errorf(fail.CodeNotRepository, nil, "%s does not name a git repository", file).
				WithHint("remove that file, and run git init; or bring it back as it was")
		case strings.Contains(place, "/worktrees/"):
			return e.WithHint("this is a linked work tree; where its repository has moved, run there: git worktree repair %s",
				at)
		case strings.Contains(place, "/modules/"):
			return e.WithHint("this is a submodule; bring its repository back there, or clone the superproject again")
		}
		return e.WithHint("bring the repository back there, or correct the file")
	}
	return fail.Errorf(fail.CodeNotRepository, nil, "%s is not inside a git repository", dir).
		WithHint("run git init there, or change to a repository")
}

// objectsElsewhere returns a hint where the environment alone says where the objects are, "" otherwise. A server
// that receives a push sets it too, to the directory of the push.
func objectsElsewhere() string {
	named := os.Getenv("GIT_OBJECT_DIRECTORY")
	if named == "" || os.Getenv("GIT_QUARANTINE_PATH") != "" {
		return ""
	}
	return "unset GIT_OBJECT_DIRECTORY: it has git look for the objects of the repository in " + named
}

func tooOld() error {
	return fail.Errorf(fail.CodeGitTooOld, nil, "the installed git is older than 2.31").
		WithHint("install git 2.31 or newer")
}

// There returns not_a_git_repository if the repository that was found is gone.
func (r *Repository) There() error {
	if _, err := os.Lstat(filepath.Join(r.GitDir, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return gone(r.ProjectDir, err)
	}
	return nil
}

func gone(dir string, cause error) error {
	if shut := leadsNowhere(dir); fail.CodeOf(shut) == fail.CodeUnreadable {
		return shut
	}
	return fail.Errorf(fail.CodeNotRepository, cause, "git no longer finds the repository of %s", dir).
		WithHint("restore its .git from a backup, or clone the project again")
}

// noRepository is git's message, in the C locale, when it finds no repository.
const noRepository = "not a git repository"

// gitfileAstray reports whether git says that a file .git leads to no repository.
func gitfileAstray(complaint string) bool {
	return strings.Contains(complaint, "invalid gitfile format") || strings.Contains(complaint, "no path in gitfile") ||
		strings.Contains(complaint, "gitfile does not point to a valid repository") // git 2.55
}

// explainDiscovery turns a failed rev-parse into a code. Git has one exit code for all of these, so the C-locale
// text decides; an unknown text stays git_failed with git's own message.
func explainDiscovery(dir string, err error) error {
	if !errors.As(err, new(*GitError)) {
		return err
	}
	msg := ComplaintOf(err)
	switch {
	case strings.Contains(msg, "safe.directory"):
		where := dir
		if _, after, ok := strings.Cut(msg, "safe.directory "); ok {
			where, _, _ = strings.Cut(strings.TrimSpace(after), "\n")
		}
		return fail.Errorf(fail.CodeDubiousOwnership, nil,
			"git does not trust the repository at %s: another user owns it", dir).
			WithHint("if you trust its owner, run: git config --global --add safe.directory %s", where)
	case strings.Contains(msg, noRepository), gitfileAstray(msg):
		return leadsNowhere(dir)
	case strings.Contains(msg, "repository extension"), strings.Contains(msg, "git repo version"):
		return fail.Errorf(fail.CodeUnsupportedFormat, err, "the installed git cannot read this repository's format").
			WithHint("install a newer git")
	}
	return err
}
