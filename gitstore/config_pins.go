// Pinned configuration: nothing that the repository's own configuration names is
// started by a git of ours.

package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// localScope is where a repository keeps the configuration of its own.
type localScope struct {
	gitDir, commonDir string
	top               string // root of the work tree, "" without one

	mu      sync.Mutex
	outside map[string][]string // values set outside of the repository, in order; nil when not asked yet
}

// Bounds of what is read of a repository's configuration.
const (
	maxIncludeDepth = 10  // as git's own
	maxConfigFiles  = 200 // with includes and submodules
)

// fixedPins hold for every git of ours. hooks is the directory git takes hooks from.
func fixedPins(hooks string) []configEntry {
	return []configEntry{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", hooks},
		{"log.showSignature", "false"}, // would start a program of gpg's
	}
}

// askedOnly reports a call that only says what is configured. It is told the truth,
// and starts nothing.
func askedOnly(args []string) bool {
	return len(args) > 0 && (args[0] == "config" || len(args) > 1 && args[0] == "rev-parse" && args[1] == "--git-path")
}

// pins are the settings a git of ours is started with. The repository's configuration
// is read again for each: an agent may have written it a moment ago.
func (g *Git) pins(ctx context.Context, args []string) ([]configEntry, error) {
	if askedOnly(args) {
		return g.given, nil
	}
	hooks := g.hooksPath
	if hooks == "" {
		hooks = os.DevNull
	}
	pins := append(slices.Clip(g.given), fixedPins(hooks)...)
	if g.scope == nil {
		return pins, nil
	}
	local, err := g.scope.programs(ctx, g)
	return append(pins, local...), err
}

// programs returns the settings that take the place of what the repository itself
// says about programs: what is configured outside of it, else nothing at all.
func (l *localScope) programs(ctx context.Context, g *Git) ([]configEntry, error) {
	var keys []string
	entries, err := l.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, met := offValue(e.key); met && !slices.Contains(keys, e.key) {
			keys = append(keys, e.key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	outside, err := l.elsewhere(ctx, g)
	if err != nil {
		return nil, err
	}
	var pins []configEntry
	done := make(map[string]bool)
	pin := func(key, off string) {
		if done[key] {
			return
		}
		done[key] = true
		section, sub, name := splitKey(key)
		values := outside[key]
		if key == "gpg.program" || key == "gpg.openpgp.program" {
			values = slices.Concat(outside["gpg.program"], outside["gpg.openpgp.program"]) // two names of one thing
		}
		switch {
		case section == "credential" && name == "helper":
			// A list: an empty value forgets what was before it.
			pins = append(pins, configEntry{key, ""})
			for _, v := range values {
				pins = append(pins, configEntry{key, v})
			}
		case section == "hook":
			if g.hooksPath == "" || !strings.HasPrefix(sub, "agentxchain-") {
				pins = append(pins, configEntry{"hook." + sub + ".enabled", "false"})
			}
		case key == "gc.recentobjectshook":
			pins = append(pins, configEntry{"gc.auto", "0"}, configEntry{"maintenance.auto", "false"})
		case len(values) > 0:
			pins = append(pins, configEntry{key, values[len(values)-1]})
		default:
			pins = append(pins, configEntry{key, off})
		}
	}
	for _, key := range keys {
		off, _ := offValue(key)
		if section, sub, _ := splitKey(key); section == "filter" {
			pin("filter."+sub+".required", "false")
		}
		pin(key, off)
	}
	return pins, nil
}

// elsewhere asks git, once, what is configured outside of the repository.
func (l *localScope) elsewhere(ctx context.Context, g *Git) (map[string][]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outside != nil {
		return l.outside, nil
	}
	out, err := g.Run(ctx, nil, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return nil, err
	}
	values := make(map[string][]string)
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == "local" || f[i] == "worktree" {
			continue
		}
		key, value, ok := strings.Cut(f[i+1], "\n")
		if !ok {
			value = "true"
		}
		values[key] = append(values[key], value)
	}
	l.outside = values
	return values, nil
}

// entries returns what the repository's own files set, with everything they include,
// whatever the condition, and with those of its submodules: git looks into them with
// their configuration and ours. A file that git could read and we cannot is an error.
func (l *localScope) entries() ([]configEntry, error) {
	r := configReader{left: maxConfigFiles}
	for _, f := range l.files() {
		r.file(f, 0)
	}
	if m := filepath.Join(l.commonDir, "modules"); isDir(m) {
		r.modules(m, 0)
	}
	return r.entries, r.err
}

// files are the configuration files of the repository itself.
func (l *localScope) files() []string {
	return []string{filepath.Join(l.commonDir, "config"), filepath.Join(l.gitDir, "config.worktree")}
}

// configReader follows includes.
type configReader struct {
	entries []configEntry
	files   []string // that were read, or are named and not there
	left    int
	err     error
}

func (r *configReader) fail(name string, err error) {
	if r.err == nil {
		r.err = errorf(CodeUnreadable, err, "git's configuration of this repository cannot be followed: %s", name).
			hint("look at what the file holds, then: git config --list --show-origin")
	}
}

func (r *configReader) file(name string, depth int) {
	if slices.Contains(r.files, name) || r.err != nil {
		return
	}
	if r.left--; r.left < 0 || depth > maxIncludeDepth {
		r.fail(name, errors.New("there are too many files"))
		return
	}
	r.files = append(r.files, name)
	data, err := readConfigFile(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !isNotDir(err) {
			r.fail(name, err)
		}
		return
	}
	entries, _ := parseConfigEntries(data) // git refuses to go on where it is not well formed
	r.entries = append(r.entries, entries...)
	for _, e := range entries {
		section, _, key := splitKey(e.key)
		if key != "path" || section != "include" && section != "includeif" {
			continue
		}
		to, err := includedFile(name, e.value)
		if err != nil {
			r.fail(e.value, err)
			return
		}
		r.file(to, depth+1)
	}
}

// modules reads the configuration of submodules, which may hold others.
func (r *configReader) modules(dir string, depth int) {
	list, err := os.ReadDir(dir)
	if err != nil || depth > maxIncludeDepth {
		r.fail(dir, err)
		return
	}
	for _, e := range list {
		sub := filepath.Join(dir, e.Name())
		if !e.IsDir() || r.err != nil {
			continue
		}
		if _, err := os.Lstat(filepath.Join(sub, "HEAD")); err == nil {
			r.file(filepath.Join(sub, "config"), 0)
			r.file(filepath.Join(sub, "config.worktree"), 0)
			if sub = filepath.Join(sub, "modules"); !isDir(sub) {
				continue
			}
		}
		r.modules(sub, depth+1)
	}
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

// includedFile resolves the path of an include as git does.
func includedFile(from, path string) (string, error) {
	if strings.HasPrefix(path, "%(") {
		return "", errors.New("it is relative to where git is installed")
	}
	if who, rest, _ := strings.Cut(path, "/"); strings.HasPrefix(who, "~") {
		home, err := os.UserHomeDir()
		if who != "~" {
			var u *user.User
			if u, err = user.Lookup(who[1:]); err == nil {
				home = u.HomeDir
			}
		}
		return filepath.Join(home, rest), err
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(filepath.Dir(from), path), nil
}

// readConfigFile reads a configuration file that is a plain file of bounded size.
func readConfigFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &notRegularError{name, fi.Mode()}
	}
	return readLimited(f, fi.Size(), maxGitConfig)
}

// UnusedPrograms names the keys by which the repository alone configures a program
// that our own git would meet and does not start.
func (r *Repository) UnusedPrograms(ctx context.Context) ([]string, error) {
	l := r.Git.scope
	if l == nil {
		return nil, nil
	}
	entries, err := l.entries()
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, e := range entries {
		section, sub, name := splitKey(e.key)
		if _, met := offValue(e.key); !met || name == "required" || section == "protocol" || slices.Contains(keys, e.key) ||
			section == "hook" && strings.HasPrefix(sub, "agentxchain-") {
			continue
		}
		keys = append(keys, e.key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	outside, err := l.elsewhere(ctx, r.Git)
	return slices.DeleteFunc(keys, func(key string) bool { return len(outside[key]) > 0 }), err
}
