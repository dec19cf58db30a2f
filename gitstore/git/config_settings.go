// This program's settings in git's configuration: one value, or a list.

package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// Setting returns the value of a key, "" when it is unset or the configuration cannot be read.
func (r *Repository) Setting(ctx context.Context, key string) string {
	list, err := r.Config(ctx)
	if err != nil {
		return ""
	}
	value, _ := list.Last(key)
	return strings.TrimSpace(value)
}

// SettingBool reads a boolean; absent or malformed is false.
func (r *Repository) SettingBool(ctx context.Context, key string) bool {
	out, err := r.Git.Run(ctx, nil, "config", "--type=bool", "--get", key)
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// PersonSettingBool is SettingBool for a consent: it ignores the repository's own configuration, which may have
// come with the directory, or which an agent may have written.
func (r *Repository) PersonSettingBool(ctx context.Context, key string) bool {
	list, err := r.Config(ctx)
	if err != nil {
		return false
	}
	said := ""
	for _, s := range list {
		if s.Key == gitconfig.Lower(key) && s.Scope != "local" && s.Scope != "worktree" {
			said = s.Value
		}
	}
	if said == "" {
		return false
	}
	out, err := r.Git.Run(ctx, nil, "-c", key+"="+said, "config", "--type=bool", "--get", key)
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// Settings returns every value git has for a key, from all its configuration
// files; none when it is unset.
func (r *Repository) Settings(ctx context.Context, key string) ([]string, error) {
	list, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	return list.all(key), nil
}

// LocalSettings is Settings for the repository's own configuration alone, which its linked work trees share and
// which is never cloned.
func (r *Repository) LocalSettings(ctx context.Context, key string) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, "config", "--local", "-z", "--get-all", key)
	if ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// AddLocalSetting adds a value to a key of the repository's own configuration.
func (r *Repository) AddLocalSetting(ctx context.Context, key, value string) error {
	return unwritable(r.Configure(ctx, "--add", key, value))
}

// DropLocalSetting removes every value of a key from the repository's own configuration. It is not an error if
// there is none.
func (r *Repository) DropLocalSetting(ctx context.Context, key string) error {
	err := r.Configure(ctx, "--unset-all", key)
	if ExitCode(err) == 5 {
		return nil
	}
	return unwritable(err)
}

// unwritable reports that git refused a setting; nil for nil.
func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return fail.Errorf(fail.CodeGitFailed, err, "git's configuration of this repository cannot be written")
}

// Variables asks git for the variables whose names match a regular expression, as seen from dir: the output of git
// config --null, nil when nothing is set or git fails. It leaves out programs that the repository's own
// configuration names: callers start what it returns, and an agent may have just written it.
func Variables(ctx context.Context, dir, pattern string) []byte {
	out, err := NewGit(dir).Run(ctx, nil, "config", "--null", "--show-scope", "--get-regexp", pattern)
	if err != nil {
		return nil
	}
	var kept []byte
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		if own := f[i] == "local" || f[i] == "worktree"; own && namesProgram(f[i+1]) {
			continue
		}
		kept = append(append(kept, f[i+1]...), 0)
	}
	return kept
}

// namesProgram reports whether a variable, as git config --null prints it, names a program.
func namesProgram(variable string) bool {
	key, value, valued := strings.Cut(variable, "\n")
	if section, _, _ := gitconfig.SplitKey(key); section == "pager" {
		_, isSwitch := configBool(value) // pager.COMMAND is a program or a boolean
		return valued && !isSwitch
	}
	return gitconfig.ClassOf(key) == gitconfig.KeyProgram
}

// configBool parses git's words for a boolean; "" is false.
func configBool(value string) (b, ok bool) {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0", "":
		return false, true
	}
	return false, false
}

// HooksDir returns the directory in which git, as configured, looks for hooks.
func (r *Repository) HooksDir(ctx context.Context) (string, error) {
	from := r.TopLevel
	if from == "" {
		from = r.GitDir
	}
	dir, known := configuredHooks(r.Git, r.Git.Scope)
	if !known {
		out, err := r.Git.In(from).Run(ctx, nil, "rev-parse", "--git-path", "hooks")
		if err != nil {
			return "", err
		}
		dir = strings.TrimSuffix(string(out), "\n")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(from, dir)
	}
	return dir, nil
}

// ExcludesFile returns the file of ignore rules that core.excludesFile names, else git's default; "" for none. The
// repository's own configuration is read each time, the rest once.
func (r *Repository) ExcludesFile(ctx context.Context) (string, error) {
	value, set := "", false
	if r.Git.Scope != nil {
		entries, err := r.Git.Scope.entries()
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if strings.EqualFold(e.Key, excludesKey) {
				value, set = e.Value, true
			}
		}
	}
	if !set {
		conf, err := r.Personal(ctx)
		if err != nil {
			return "", err
		}
		value, set = conf[excludesKey]
	}
	home, _ := os.UserHomeDir()
	rest, below := strings.CutPrefix(value, "~/")
	switch {
	case !set:
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", nil
		}
		return filepath.Join(dir, "git", "ignore"), nil
	case value == "":
		return "", nil
	case below:
		return filepath.Join(home, rest), nil
	case filepath.IsAbs(value):
		return value, nil
	}
	return filepath.Join(r.TopLevel, value), nil
}

// excludesKey is core.excludesFile as git prints it.
const excludesKey = "core.excludesfile"

// Personal returns git's configuration of the person, read once: user.*, author.* and core.excludesFile. A later
// line wins within one key.
func (r *Repository) Personal(ctx context.Context) (map[string]string, error) {
	r.personalMu.Lock()
	defer r.personalMu.Unlock()
	if r.person != nil {
		return r.person, nil
	}
	list, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	conf := make(map[string]string)
	for _, s := range list {
		switch s.Key {
		case "user.name", "user.email", "author.name", "author.email", excludesKey:
			if !s.NoValue {
				conf[s.Key] = s.Value
			}
		}
	}
	r.person = conf
	return conf, nil
}
