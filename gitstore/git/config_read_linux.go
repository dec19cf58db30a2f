// Reading git's configuration without asking git.

package git

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// readConfig reads what git config --list would print, by the rules of git-config(1). ok is false where these rules
// lead to something not implemented here (a condition with a pattern, the home directory of another user), where a
// file is unreadable or malformed, and where it is unknown which file is this git's system configuration.
func readConfig(g *Git, l *LocalScope) (list ConfigList, ok bool) {
	files, ok := outerFiles(g)
	if !ok {
		return nil, false
	}
	c := configRead{g: g, scope: l}
	for _, f := range files {
		c.file(f[0], f[1], 0)
	}
	local := filepath.Join(l.CommonDir, "config")
	c.file("local", local, 0)
	if c.ownWorktree(local) {
		c.file("worktree", filepath.Join(l.GitDir, "config.worktree"), 0)
	}
	for _, e := range g.given {
		key := gitconfig.Lower(e.Key)
		section, _, name := gitconfig.SplitKey(key)
		if !gitconfig.PlainName(section) || !gitconfig.PlainName(name) || strings.ContainsAny(e.Key+e.Value,
			"\x00\n") ||
			section == "include" || section == "includeif" {
			return nil, false // refused, or more than one value
		}
		c.list = append(c.list, ConfigSetting{Scope: "command", Entry: gitconfig.Entry{Key: key, Value: e.Value}})
	}
	return c.list, !c.odd
}

// outerFiles returns the files outside the repository, each with its scope.
func outerFiles(g *Git) (files [][2]string, ok bool) {
	off, ok := configBool(g.variable("GIT_CONFIG_NOSYSTEM"))
	if !ok {
		return nil, false
	}
	if !off {
		name, set := g.lookupVariable("GIT_CONFIG_SYSTEM")
		if !set {
			if name, ok = systemConfig(g.Bin); !ok {
				return nil, false
			}
		}
		files = append(files, [2]string{"system", name})
	}
	if name, set := g.lookupVariable("GIT_CONFIG_GLOBAL"); set {
		files = append(files, [2]string{"global", name})
	} else {
		home := g.variable("HOME")
		xdg := g.variable("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = home + "/.config"
		}
		files = append(files, [2]string{"global", xdg + "/git/config"}, [2]string{"global", home + "/.gitconfig"})
	}
	return files, !slices.ContainsFunc(files, func(f [2]string) bool { return !filepath.IsAbs(f[1]) })
}

// lookupVariable looks up a variable in git's environment.
func (g *Git) lookupVariable(name string) (value string, set bool) {
	for _, kv := range slices.Backward(g.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func (g *Git) variable(name string) string {
	v, _ := g.lookupVariable(name)
	return v
}

// systemConfig returns the system configuration file built into a git. It recognises only /etc/gitconfig: a git
// with another prefix computes the name at run time.
func systemConfig(bin string) (string, bool) {
	const name = "/etc/gitconfig"
	f, err := os.Open(bin)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	prog, err := elf.NewFile(f)
	if err != nil { // a script that starts git, possibly with its own settings
		return "", false
	}
	texts := prog.Section(".rodata")
	if texts == nil {
		return "", false
	}
	want := []byte("\x00" + name + "\x00")
	block := make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := texts.ReadAt(block, at)
		// Search for the slash: most of a program's bytes are NUL.
		for from := 1; from < n; {
			i := bytes.Index(block[from:n], want[1:])
			if i < 0 {
				break
			}
			if from += i; block[from-1] == 0 {
				return name, true
			}
			from++
		}
		if err != nil || n < len(block) {
			return "", false
		}
		at += int64(n - len(want))
	}
}

// configRead collects configuration as it is read.
type configRead struct {
	g     *Git
	scope *LocalScope
	list  ConfigList
	odd   bool // git has to be asked
}

// lines reads one file; a missing file has no lines.
func (c *configRead) lines(name string) ([]gitconfig.Entry, map[int]bool) {
	if name == os.DevNull || c.odd {
		return nil, nil
	}
	data, err := ReadConfigFile(name)
	if err != nil {
		c.odd = !errors.Is(err, fs.ErrNotExist) && !IsNotDir(err)
		return nil, nil
	}
	entries, alone, sure := gitconfig.Read(data)
	c.odd = c.odd || !sure
	return entries, alone
}

// file reads a file with its includes, at an include depth.
func (c *configRead) file(scope, name string, depth int) {
	entries, alone := c.lines(name)
	for i, e := range entries {
		section, sub, key := gitconfig.SplitKey(e.Key)
		if section == "" || key == "" {
			c.odd = true // a line before the first section
		}
		if c.odd {
			return
		}
		c.list = append(c.list, ConfigSetting{Scope: scope, Entry: e, NoValue: alone[i]})
		if key != "path" || section != "include" && section != "includeif" {
			continue
		}
		if section == "includeif" {
			if met, known := c.met(sub, name); !known {
				c.odd = true
				return
			} else if !met {
				continue
			}
		} else if sub != "" {
			continue
		}
		to, ok := c.path(e.Value)
		if c.odd = !ok || alone[i] || depth >= maxIncludeDepth; c.odd {
			return
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(name) + "/" + to // not cleaned: ".." may follow a link
		}
		c.file(scope, to, depth+1)
	}
}

// path expands a path as git does.
func (c *configRead) path(value string) (string, bool) {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		home := c.g.variable("HOME")
		return home + "/" + rest, filepath.IsAbs(home)
	}
	return value, value != "" && value[0] != '~' && !strings.HasPrefix(value, "%(")
}

// met reports whether the condition of an include in the file from holds. known is true only for a git directory
// named without a pattern.
func (c *configRead) met(condition, from string) (met, known bool) {
	where, ok := strings.CutPrefix(condition, "gitdir:")
	if !ok || where == "" || strings.ContainsAny(where, "*?[\\") {
		return false, false
	}
	rest, home := strings.CutPrefix(where, "~/")
	here, beside := strings.CutPrefix(where, "./")
	var err error
	switch {
	case home:
		where, err = filepath.EvalSymlinks(c.g.variable("HOME"))
		where += "/" + rest
	case beside:
		if from, err = filepath.EvalSymlinks(from); err == nil {
			where = filepath.Dir(from) + "/" + here
		}
	case where[0] == '~' || where[0] == '.' || strings.HasPrefix(where, "%("):
		return false, false
	}
	if err != nil {
		return false, false
	}
	dir, whole := strings.CutSuffix(where, "/")
	at := c.scope.GitDir
	switch {
	case !filepath.IsAbs(where) && whole:
		met = strings.Contains(at, "/"+dir+"/")
	case !filepath.IsAbs(where):
		met = strings.HasSuffix(at, "/"+dir)
	case whole:
		met = strings.HasPrefix(at, dir+"/")
	default:
		met = at == dir
	}
	// git also tries the directory's name with its links.
	return met, met || c.unlinked()
}

// unlinked reports whether git knows the git directory only by its name without links.
func (c *configRead) unlinked() bool {
	top := c.scope.top
	if top == "" || filepath.Join(top, ".git") != c.scope.GitDir {
		return false
	}
	fi, err := os.Lstat(c.scope.GitDir)
	_, told := c.g.lookupVariable("GIT_DIR")
	pwd := c.g.variable("PWD")
	return err == nil && fi.IsDir() && !told && (pwd == "" || pwd == top || !SameFile(pwd, top))
}

// ownWorktree reports whether any work tree of the repository has its own configuration.
func (c *configRead) ownWorktree(local string) bool {
	own := false
	entries, alone := c.lines(local)
	for i, e := range entries {
		if e.Key != "extensions.worktreeconfig" {
			continue
		}
		var ok bool
		if own, ok = configBool(e.Value); alone[i] {
			own, ok = true, true
		}
		c.odd = c.odd || !ok
	}
	return own && !c.odd
}

// configuredHooks returns the configured hooks directory, resolved below the work tree when relative. known is
// false when git has to be asked.
func configuredHooks(g *Git, l *LocalScope) (dir string, known bool) {
	if g.BinErr != nil || l == nil {
		return "", false
	}
	list, ok := readConfig(g, l)
	if !ok {
		return "", false
	}
	value, set := list.Last("core.hookspath")
	if !set {
		return filepath.Join(l.CommonDir, "hooks"), true
	}
	return (&configRead{g: g}).path(value)
}
