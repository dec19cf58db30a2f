// Pinned configuration: our own gits start nothing that the repository's own configuration names.

package git

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

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// LocalScope is where a repository keeps its own configuration.
type LocalScope struct {
	GitDir, CommonDir string
	top               string // root of the work tree, "" without one

	mu      sync.Mutex
	outside map[string][]string // values set outside of the repository, in order; nil when not read yet
}

// Limits on reading a repository's configuration.
const (
	maxIncludeDepth = 10  // git's own limit
	MaxConfigFiles  = 200 // including includes and submodules
)

// refLockWait is how long our git waits for the lock of a ref, in milliseconds.
const refLockWait = "3000"

// fixedPins returns the settings of every git of ours. hooks is the directory from which git takes hooks. What git
// writes is on disk when it reports success, whatever is configured: by default it does not sync refs and indexes
// (core.fsync, since 2.36; older ones ignore it and sync less). It waits for a lock that another git holds briefly,
// as housekeeping does for HEAD: by default git gives up after a tenth of a second.
func fixedPins(hooks string) []gitconfig.Entry {
	return []gitconfig.Entry{
		{Key: "core.fsmonitor", Value: "false"},
		{Key: "core.trustctime", Value: "true"}, // the only file time that its owner cannot set
		{Key: "core.checkStat", Value: "default"},
		{Key: "core.hooksPath", Value: hooks},
		// From this file git takes parents and trees of commits without reading the commits, and its owner can
		// write anything into it. Housekeeping that may not use it must not write it either, or its warning stops
		// the next one.
		{Key: "core.commitGraph", Value: "false"},
		{Key: "gc.writeCommitGraph", Value: "false"},
		{Key: "log.showSignature", Value: "false"}, // would start gpg
		{Key: "core.fsync", Value: "all"},
		{Key: "core.fsyncMethod", Value: "fsync"},
		{Key: "core.filesRefLockTimeout", Value: refLockWait},
		{Key: "core.packedRefsTimeout", Value: refLockWait},
		{Key: "reftable.lockTimeout", Value: refLockWait},
	}
}

// askedOnly reports whether a call only queries the configuration. It gets the real values, and starts nothing.
func askedOnly(args []string) bool {
	return len(args) > 0 && (args[0] == "config" || len(args) > 1 && args[0] == "rev-parse" && args[1] == "--git-path")
}

// pins returns the settings for a git of ours, and the repository's own keys that no setting can override. It reads
// the repository's configuration again each time: an agent may have just written it.
func (g *Git) pins(ctx context.Context, args []string) (pins []gitconfig.Entry, first []string, err error) {
	if askedOnly(args) {
		return g.given, nil, nil
	}
	hooks := g.hooksPath
	if hooks == "" {
		hooks = os.DevNull
	}
	pins = append(slices.Clip(g.given), fixedPins(hooks)...)
	if g.Scope == nil {
		return pins, nil, nil
	}
	local, first, err := g.Scope.programs(ctx, g)
	return append(pins, local...), first, err
}

// programs returns the settings that replace what the repository itself says about programs: the configuration
// outside it, or else nothing at all. first lists the keys of which git uses the first value, see overruled.
func (l *LocalScope) programs(ctx context.Context, g *Git) (pins []gitconfig.Entry, first []string, err error) {
	var keys []string
	entries, err := l.entries()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if _, met := gitconfig.OffValue(e.Key); met && !slices.Contains(keys, e.Key) {
			keys = append(keys, e.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil, nil
	}
	outside, err := l.elsewhere(ctx, g)
	if err != nil {
		return nil, nil, err
	}
	done := make(map[string]bool)
	pin := func(key, off string) {
		if done[key] {
			return
		}
		done[key] = true
		section, sub, name := gitconfig.SplitKey(key)
		values := outside[key]
		if key == "gpg.program" || key == "gpg.openpgp.program" {
			values = slices.Concat(outside["gpg.program"], outside["gpg.openpgp.program"]) // two names for one setting
		}
		switch {
		case gitconfig.FirstCounts(key):
			// A proxy configured outside may be for other hosts; the other keys have a single value.
			if len(values) == 0 || section == "core" {
				first = append(first, key)
			}
		case section == "credential" && name == "helper":
			// A list: an empty value clears what came before.
			pins = append(pins, gitconfig.Entry{Key: key, Value: ""})
			for _, v := range values {
				pins = append(pins, gitconfig.Entry{Key: key, Value: v})
			}
		case section == "hook":
			if g.hooksPath == "" || !strings.HasPrefix(sub, "agentxchain-") {
				pins = append(pins, gitconfig.Entry{Key: "hook." + sub + ".enabled", Value: "false"})
			}
		case key == "gc.recentobjectshook":
			pins = append(pins, gitconfig.Entry{Key: "gc.auto", Value: "0"}, gitconfig.Entry{Key: "maintenance.auto",
				Value: "false"})
		case len(values) > 0:
			pins = append(pins, gitconfig.Entry{Key: key, Value: values[len(values)-1]})
		default:
			pins = append(pins, gitconfig.Entry{Key: key, Value: off})
		}
	}
	for _, key := range keys {
		off, _ := gitconfig.OffValue(key)
		if section, sub, _ := gitconfig.SplitKey(key); section == "filter" {
			pin("filter."+sub+".required", "false")
		}
		pin(key, off)
	}
	return pins, first, nil
}

// overruled makes git use its own programs instead of those that the repository names under keys whose first value
// counts: no setting of ours can come before the repository's. Programs that talk to a remote are passed as
// options. A git that fetches on its own for a partial clone does so only over protocols where git-upload-pack does
// not run on this machine and nothing is started with the person's key.
func overruled(args, env, first []string) (argv, environ []string) {
	if len(first) == 0 {
		return args, env
	}
	at := subcommand(args)
	option := map[string]string{"fetch": "uploadpack", "ls-remote": "uploadpack", "push": "receivepack"}[name(args)]
	remote := slices.Index(args, "--") + 1
	for _, key := range first {
		section, sub, last := gitconfig.SplitKey(key)
		switch {
		case section == "core":
			if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_PROXY_COMMAND=") }) {
				env = append(slices.Clip(env), "GIT_PROXY_COMMAND=")
			}
		case last == option && 0 < remote && remote < len(args) && args[remote] == sub:
			off, _ := gitconfig.OffValue(key)
			flag := map[string]string{"uploadpack": "--upload-pack=", "receivepack": "--receive-pack="}[last]
			args = slices.Insert(slices.Clone(args), at+1, flag+off)
			remote++
		}
		if last != "uploadpack" {
			continue
		}
		env = append(slices.Clip(env), "GIT_NO_LAZY_FETCH=1")
		if option != "" {
			continue
		}
		for i, kv := range env {
			if list, ok := strings.CutPrefix(kv, "GIT_ALLOW_PROTOCOL="); ok {
				left := slices.DeleteFunc(strings.Split(list, ":"), func(p string) bool { return p == "file" || p == "ssh" })
				env[i] = "GIT_ALLOW_PROTOCOL=" + strings.Join(left, ":")
			}
		}
	}
	return args, env
}

// elsewhere reads, once, the configuration outside the repository.
func (l *LocalScope) elsewhere(ctx context.Context, g *Git) (map[string][]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outside != nil {
		return l.outside, nil
	}
	list, err := g.config(ctx, l)
	if err != nil {
		return nil, err
	}
	values := make(map[string][]string)
	for _, s := range list {
		if s.Scope != "local" && s.Scope != "worktree" {
			values[s.Key] = append(values[s.Key], s.Value)
		}
	}
	l.outside = values
	return values, nil
}

// entries returns the settings of the repository's own files, with everything they include, whatever the condition,
// and those of its submodules: git looks into them with their configuration and ours. A file that git could read
// and we cannot is an error.
func (l *LocalScope) entries() ([]gitconfig.Entry, error) {
	r := l.own()
	if m := filepath.Join(l.CommonDir, "modules"); IsDir(m) {
		r.Modules(m, 0)
	}
	return r.entries, r.err
}

// own reads the settings of the repository's own files, with includes.
func (l *LocalScope) own() *ConfigReader {
	r := &ConfigReader{Left: MaxConfigFiles}
	for _, f := range l.Files() {
		r.File(f, 0)
	}
	return r
}

// Files lists the configuration files of the repository itself.
func (l *LocalScope) Files() []string {
	return []string{filepath.Join(l.CommonDir, "config"), filepath.Join(l.GitDir, "config.worktree")}
}

// ConfigReader reads configuration files and follows includes.
type ConfigReader struct {
	entries []gitconfig.Entry
	Files   []string // files that were read, or that are named and missing
	Left    int
	err     error
}

func (r *ConfigReader) fail(name string, err error) {
	if r.err == nil {
		r.err = fail.Errorf(fail.CodeUnreadable, err, "git's configuration of this repository cannot be followed: %s",
			name).
			WithHint("look at what the file holds, then: git config --list --show-origin")
	}
}

// File reads a configuration file and what it includes, depth includes below the first.
func (r *ConfigReader) File(name string, depth int) {
	if slices.Contains(r.Files, name) || r.err != nil {
		return
	}
	if r.Left--; r.Left < 0 || depth > maxIncludeDepth {
		r.fail(name, errors.New("there are too many files"))
		return
	}
	r.Files = append(r.Files, name)
	data, err := ReadConfigFile(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !IsNotDir(err) {
			r.fail(name, err)
		}
		return
	}
	entries, _ := gitconfig.Parse(data) // git refuses a malformed file
	r.entries = append(r.entries, entries...)
	for _, e := range entries {
		section, _, key := gitconfig.SplitKey(e.Key)
		if key != "path" || section != "include" && section != "includeif" {
			continue
		}
		to, err := includedFile(name, e.Value)
		if err != nil {
			r.fail(e.Value, err)
			return
		}
		r.File(to, depth+1)
	}
}

// Modules reads the configuration of submodules, recursively.
func (r *ConfigReader) Modules(dir string, depth int) {
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
			r.File(filepath.Join(sub, "config"), 0)
			r.File(filepath.Join(sub, "config.worktree"), 0)
			if sub = filepath.Join(sub, "modules"); !IsDir(sub) {
				continue
			}
		}
		r.Modules(sub, depth+1)
	}
}

// IsDir reports whether name is a directory, following links.
func IsDir(name string) bool {
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

// ReadConfigFile reads a configuration file, which must be a regular file of bounded size.
func ReadConfigFile(name string) ([]byte, error) {
	f, fi, err := openAt(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadLimited(f, fi.Size(), MaxGitConfig)
}

// UnusedPrograms lists the keys with which only the repository configures a program that our own git would use and
// does not start.
func (r *Repository) UnusedPrograms(ctx context.Context) ([]string, error) {
	l := r.Git.Scope
	if l == nil {
		return nil, nil
	}
	entries, err := l.entries()
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, e := range entries {
		section, sub, name := gitconfig.SplitKey(e.Key)
		if _, met := gitconfig.OffValue(e.Key); !met || name == "required" || section == "protocol" ||
			slices.Contains(keys, e.Key) ||
			section == "hook" && strings.HasPrefix(sub, "agentxchain-") {
			continue
		}
		keys = append(keys, e.Key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	outside, err := l.elsewhere(ctx, r.Git)
	return slices.DeleteFunc(keys, func(key string) bool { return len(outside[key]) > 0 }), err
}

// UnusedFilters lists the filter drivers that only the repository configures for commits. Our own git starts none
// of them, and takes their files as they are.
func (r *Repository) UnusedFilters(ctx context.Context) ([]string, error) {
	l := r.Git.Scope
	if l == nil {
		return nil, nil
	}
	own := l.own()
	if own.err != nil {
		return nil, own.err
	}
	var names []string
	for _, e := range own.entries {
		section, name, key := gitconfig.SplitKey(e.Key)
		if section == "filter" && (key == "clean" || key == "process") && e.Value != "" &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	outside, err := l.elsewhere(ctx, r.Git)
	return slices.DeleteFunc(names, func(name string) bool {
		return len(outside["filter."+name+".clean"])+len(outside["filter."+name+".process"]) > 0
	}), err
}
