// Installing hooks beside existing ones.

package githooks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Options says how hooks are installed.
type Options struct {
	Binary string // absolute path of git-agentxchain, written into the scripts
	Server bool   // hooks for a repository that is pushed to
	// Project is the prefix of the governed project in the repository, "" or
	// ending in "/". Those of earlier installations stay guarded.
	Project string
}

// Change is one action of an installation or uninstallation.
type Change struct {
	What string // a clause such as "wrote", "kept", "set"
	Path string // file, or key of the configuration
}

// Result is what Install or Uninstall did.
type Result struct {
	Way     string
	Dir     string // directory of the scripts
	Names   []string
	Chained map[string]string // hook name -> the hook that is run before ours
	Changes []Change          // nil when everything was already in place
	Kept    []string          // prefixes of the projects that stay guarded, "" or ending in "/"
}

// Install installs or restores the hooks. Existing hooks are kept and run first; a modified script of ours is never
// overwritten. Installing twice changes nothing. Errors have the codes githooks_foreign and githooks_unreadable.
func Install(ctx context.Context, repo *git.Repository, opt Options) (*Result, error) {
	list, err := settings(ctx, repo)
	if err != nil {
		return nil, err
	}
	rec, err := loadRecord(repo.CommonDir)
	if err != nil {
		return nil, err
	}
	p, err := choose(ctx, repo, list, rec)
	if err != nil {
		return nil, err
	}
	names := clientNames()
	if opt.Server {
		names = serverNames()
	}
	var before []string
	if rec != nil && (rec.Way != p.way || !slices.Equal(rec.Names, names)) {
		before = rec.Projects
		// git was updated, or another kind of hook is wanted: remove the old ones cleanly, then start again.
		if _, err := uninstall(ctx, repo, rec); err != nil {
			return nil, err
		}
		rec = nil
		if list, err = settings(ctx, repo); err != nil {
			return nil, err
		}
		if p, err = choose(ctx, repo, list, nil); err != nil {
			return nil, err
		}
	}
	in := &installer{
		repo:  repo,
		opt:   opt,
		place: p,
		rec:   rec,
		list:  list,
		out:   &Result{Way: p.way, Dir: p.dir, Names: names, Chained: map[string]string{}},
	}
	if in.rec == nil {
		in.rec = &installation{
			Way:        p.way,
			Dir:        p.dir,
			Saved:      map[string]savedHook{},
			FormerPath: p.path,
			FormerDir:  p.where,
			Projects:   before,
		}
		if in.rec.ConfigBefore, err = os.ReadFile(configFile(repo)); err != nil {
			return nil, refuse(CodeHooksUnreadable, "git's configuration of this repository cannot be read: %v", err)
		}
	}
	if in.rec.Saved == nil {
		in.rec.Saved = map[string]savedHook{}
	}
	if rec != nil && rec.ConfigAfter != "" {
		now, err := os.ReadFile(configFile(repo))
		if err != nil {
			return nil, refuse(CodeHooksUnreadable, "git's configuration of this repository cannot be read: %v", err)
		}
		if wire.SHA256(now) != rec.ConfigAfter {
			// Others have changed it since: restoring the old text would undo that too, so from now on only our
			// settings are removed.
			rec.ConfigBefore, rec.ConfigAfter = nil, ""
		}
	}
	in.rec.Names, in.rec.Binary = names, opt.Binary
	if !slices.Contains(in.rec.Projects, opt.Project) {
		if in.rec.Projects = append(in.rec.Projects, opt.Project); opt.Project != "" {
			in.did("guarded", opt.Project)
		}
	}
	if err := in.run(ctx); err != nil {
		return nil, err
	}
	return in.out, nil
}

type installer struct {
	repo  *git.Repository
	opt   Options
	place place
	rec   *installation
	list  []setting
	out   *Result
}

func (in *installer) run(ctx context.Context) error {
	if err := in.makeDir(); err != nil {
		return err
	}
	// The record first: whatever happens next can be undone.
	if err := in.rec.save(in.repo.CommonDir); err != nil {
		return refuse(CodeHooksUnreadable, "the record of the installation cannot be written: %v", err)
	}
	for _, name := range in.scripts() {
		if err := in.place1(name); err != nil {
			return err
		}
	}
	if err := in.configure(ctx); err != nil {
		return err
	}
	after, err := os.ReadFile(configFile(in.repo))
	if err != nil {
		return refuse(CodeHooksUnreadable, "git's configuration of this repository cannot be read: %v", err)
	}
	if in.rec.ConfigBefore != nil {
		in.rec.ConfigAfter = wire.SHA256(after)
	}
	if err := in.rec.save(in.repo.CommonDir); err != nil {
		return refuse(CodeHooksUnreadable, "the record of the installation cannot be written: %v", err)
	}
	return nil
}

// scripts returns the names of the scripts to write: ours, and in a directory that replaces another, every other
// hook that git knows.
func (in *installer) scripts() []string {
	names := slices.Clone(in.out.Names)
	if in.place.way == WayRedirect {
		for _, n := range gitNames() {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

func (in *installer) makeDir() error {
	if _, err := os.Stat(in.place.dir); errors.Is(err, fs.ErrNotExist) {
		in.rec.MadeDir = true
		in.did("made", in.place.dir)
	}
	if err := git.MakeDir(in.place.dir); err != nil {
		return refuse(CodeHooksUnreadable, "the directory for hooks cannot be made: %v", err)
	}
	return nil
}

// place1 writes the script of one hook, and moves an existing hook aside.
func (in *installer) place1(name string) error {
	s := script{Name: name}
	if slices.Contains(in.out.Names, name) {
		s.Binary = in.opt.Binary
	}
	path := filepath.Join(in.place.dir, name)
	switch in.place.way {
	case WayRedirect:
		s.Next = filepath.Join(in.place.where, name)
		if filepath.IsAbs(s.Next) {
			_, err := os.Lstat(s.Next)
			s.Must = err == nil
			s.Beside = in.beside(s.Next)
		} // otherwise git looks for it in each work tree, and so does the script
	case WayDirectory:
		next, err := in.keep(name, path)
		if err != nil {
			return err
		}
		if next != "" {
			s.Next, s.Beside, s.Must = next, filepath.Base(next), true
		}
	}
	if s.Next != "" && s.Binary != "" {
		if _, err := os.Stat(in.absolute(s.Next)); err == nil {
			in.out.Chained[name] = s.Next
		}
	}
	want := []byte(s.text())
	if have, err := os.ReadFile(path); err == nil && string(have) == string(want) && executable(path) {
		return nil
	}
	if err := durable.WriteFile(in.place.dir, name, want, 0o755); err != nil {
		return refuse(CodeHooksUnreadable, "the hook %s cannot be written: %v", name, err)
	}
	// The umask may have removed a bit that git checks.
	if err := os.Chmod(path, 0o755); err != nil {
		return refuse(CodeHooksUnreadable, "the hook %s cannot be made executable: %v", name, err)
	}
	in.did("wrote", path)
	return nil
}

// beside returns the path of a hook relative to the directory of the scripts when both move together, in the
// checkout or its git directory; else "".
func (in *installer) beside(path string) string {
	for _, root := range []string{in.repo.CommonDir, mainTop(in.repo)} {
		if root != "" && strings.HasPrefix(path, root+string(filepath.Separator)) {
			if rel, err := filepath.Rel(in.place.dir, path); err == nil {
				return rel
			}
		}
	}
	return ""
}

// mainTop returns the directory of the checkout that contains the git directory, "" when the git directory is
// elsewhere.
func mainTop(repo *git.Repository) string {
	if filepath.Base(repo.CommonDir) != ".git" {
		return ""
	}
	return filepath.Dir(repo.CommonDir)
}

// absolute resolves a hook directory that is relative to the work tree, as
// git does.
func (in *installer) absolute(path string) string {
	if filepath.IsAbs(path) || in.repo.TopLevel == "" {
		return path
	}
	return filepath.Join(in.repo.TopLevel, path)
}

// keptSuffix is appended to the name of a hook that existed before.
const keptSuffix = ".before-agentxchain"

// keep moves the hook at path aside and returns its new path, "" when no hook exists. The hook keeps its content
// and mode.
func (in *installer) keep(name, path string) (string, error) {
	saved, known := in.rec.Saved[name]
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return saved.Path, nil
	case err != nil:
		return "", refuse(CodeHooksUnreadable, "the hook %s cannot be examined: %v", name, err)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return "", refuse(CodeHooksForeign, "%s is not a file, so no hook can be put there", path)
	}
	link, _ := os.Readlink(path)
	text, err := os.ReadFile(path)
	if err != nil && link == "" {
		return "", refuse(CodeHooksUnreadable, "the hook %s cannot be read: %v", name, err)
	}
	if link == "" && ours(text) {
		return saved.Path, nil
	}
	if link == "" && looksLikeOurs(text) {
		e := refuse(CodeHooksForeign, "%s was made by git-agentxchain and changed since; it is left as it is", path)
		e.Hint = "remove the file, put what was added to it into a hook of its own in its place, then: " +
			"git agentxchain hooks install"
		return "", e
	}
	kept := path + keptSuffix
	if known {
		// A hook manager has replaced our hook with its own, as they do. The hook that ours ran before it is still
		// kept; only one can be.
		e := refuse(CodeHooksForeign, "%s was replaced since it was installed, and %s is kept already", path,
			saved.Path)
		if _, err := os.Lstat(saved.Path); err == nil {
			before, _ := os.ReadFile(saved.Path)
			updated := generator(text) != "" && generator(text) == generator(before) // its manager makes it anew
			if !updated && string(before) != string(text) {
				e.Hint = "remove the one of the two you do not want, then: git agentxchain hooks install"
				return "", e
			}
		}
	} else if _, err := os.Lstat(kept); err == nil {
		e := refuse(CodeHooksForeign, "%s is in the way of keeping the present %s hook", kept, name)
		e.Hint = "move it elsewhere, then: git agentxchain hooks install"
		return "", e
	}
	in.rec.Saved[name] = savedHook{Path: kept, Digest: wire.SHA256(text), Mode: info.Mode().Perm(), Link: link}
	if err := in.rec.save(in.repo.CommonDir); err != nil {
		return "", refuse(CodeHooksUnreadable, "the record of the installation cannot be written: %v", err)
	}
	if err := os.Rename(path, kept); err != nil {
		return "", refuse(CodeHooksUnreadable, "the present %s hook cannot be moved aside: %v", name, err)
	}
	in.did("kept", kept)
	if stray := removeStrays(path); stray != "" {
		in.did("removed", stray)
	}
	return kept, nil
}

// generator returns the mark of the hook manager that generated a script, "" for other scripts.
func generator(text []byte) string {
	for _, mark := range []string{"File generated by pre-commit:", `"$LEFTHOOK" = "0"`, "SKIP_SIMPLE_GIT_HOOKS"} {
		if bytes.Contains(text, []byte(mark)) {
			return mark
		}
	}
	return ""
}

// removeStrays removes a script of ours that a hook manager moved aside to make room for its own: otherwise the
// manager would run it beside the one in its place, or restore it when the manager is removed.
func removeStrays(path string) (removed string) {
	for _, suffix := range []string{".old", ".legacy"} { // lefthook, pre-commit
		if text, err := os.ReadFile(path + suffix); err == nil && ours(text) && os.Remove(path+suffix) == nil {
			removed = path + suffix
		}
	}
	return removed
}

// configure writes the settings that git needs: the hooks themselves or the directory, and how ledgers are merged
// and shown.
func (in *installer) configure(ctx context.Context) error {
	switch in.place.way {
	case WayConfig:
		for _, name := range in.out.Names {
			if err := in.set(ctx, hookKey(name, "command"), hookCommand(in.place.dir, name)); err != nil {
				return err
			}
			if err := in.set(ctx, hookKey(name, "event"), name); err != nil {
				return err
			}
		}
	case WayRedirect:
		if err := in.redirect(ctx); err != nil {
			return err
		}
	}
	if in.opt.Server {
		return nil
	}
	bin := quote(in.opt.Binary)
	for _, kv := range [][2]string{
		{"merge.agentxchain.name", "records of governed runs"},
		{"merge.agentxchain.driver", bin + " merge-driver %O %A %B %L %P"},
		{"diff.agentxchain.textconv", bin + " textconv"},
	} {
		if err := in.set(ctx, kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// redirect points git to the scripts. core.hooksPath is written relative to the top of the checkout, so that it
// remains valid after the checkout is moved; and, while the repository stays where it is, also as an absolute path:
// git resolves a relative directory from wherever it runs, which is not always the top.
func (in *installer) redirect(ctx context.Context) error {
	top := mainTop(in.repo)
	rel, err := filepath.Rel(top, in.place.dir)
	if top == "" || err != nil || !strings.HasPrefix(in.place.dir, top+string(filepath.Separator)) {
		return in.set(ctx, "core.hooksPath", in.place.dir)
	}
	if err := in.set(ctx, "core.hooksPath", rel); err != nil {
		return err
	}
	dir := filepath.Dir(recordPath(in.repo.CommonDir))
	text := []byte("# made by git agentxchain hooks install\n[core]\n\thooksPath = " + configQuote(in.place.dir) +
		"\n")
	if have, err := os.ReadFile(filepath.Join(dir, anchorFile)); err != nil || string(have) != string(text) {
		if err := git.WriteShared(filepath.Join(dir, anchorFile), text, 0o644); err != nil {
			return refuse(CodeHooksUnreadable, "the place of the hooks cannot be written: %v", err)
		}
		in.did("wrote", filepath.Join(dir, anchorFile))
	}
	for _, old := range in.rec.Anchors {
		if !slices.Contains(anchors(in.repo.CommonDir), old) {
			if err := in.repo.DropLocalSetting(ctx, includeKey(old)); err != nil {
				return err
			}
		}
	}
	in.rec.Anchors = anchors(in.repo.CommonDir)
	for _, a := range in.rec.Anchors {
		if err := in.set(ctx, includeKey(a), "agentxchain/"+anchorFile); err != nil {
			return err
		}
	}
	return nil
}

// anchorFile is the configuration that names the scripts by their absolute path.
const anchorFile = "githooks.config"

// anchors returns the git directories of the checkout and of its linked work trees, as conditions of git's
// configuration.
func anchors(commonDir string) []string {
	var b strings.Builder
	for _, r := range filepath.ToSlash(commonDir) {
		if strings.ContainsRune(`*?[\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return []string{"gitdir:" + b.String(), "gitdir:" + b.String() + "/worktrees/*"}
}

func includeKey(anchor string) string { return "includeIf." + anchor + ".path" }

// configQuote quotes a value for git's configuration.
func configQuote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
}

// set writes a value into the repository's own configuration, unless it is already there.
func (in *installer) set(ctx context.Context, key, value string) error {
	for _, s := range in.list {
		if s.scope == "local" && strings.EqualFold(s.key, key) && s.value == value {
			return nil
		}
	}
	if err := in.repo.Configure(ctx, key, value); err != nil {
		return err
	}
	in.did("set", key)
	return nil
}

func (in *installer) did(what, path string) {
	in.out.Changes = append(in.out.Changes, Change{what, path})
}

// hookCommand returns the command of a hook in git's configuration: its script where it was installed, which costs
// no process, else the one of the repository, whose checkout was moved. git appends the arguments.
func hookCommand(dir, name string) string {
	return "hook=" + quote(filepath.Join(dir, name)) + hookElsewhere(name)
}

func hookElsewhere(name string) string {
	return `; [ -x "$hook" ] || hook=$(git rev-parse --git-common-dir)/agentxchain/githooks/` + name + `; exec "$hook"`
}

// startsHook reports whether a command of git's configuration starts the script at path: directly, or through the
// repository when nothing is left where it was installed.
func startsHook(command, path string) bool {
	was, known := strings.CutPrefix(command, "hook=")
	was, ends := strings.CutSuffix(was, hookElsewhere(filepath.Base(path)))
	return was == quote(path) || known && ends && !executable(strings.Trim(was, "'"))
}

// hookKey returns the name of a hook's setting; git wants one name per command.
func hookKey(name, member string) string { return "hook.agentxchain-" + name + "." + member }

func configFile(repo *git.Repository) string { return filepath.Join(repo.CommonDir, "config") }

func executable(path string) bool {
	info, err := os.Stat(path)
	// Windows has no such bit, and git starts hooks there without it.
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
