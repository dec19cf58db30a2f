// Settings of this program in git's configuration: one value, or a list of them.

package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// Setting is the value of a key, "" when it is not set or the configuration cannot be read.
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

// PersonSettingBool is SettingBool of a consent: the repository's own configuration does not give it, which may have come
// along with the directory, or be what an agent wrote.
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
	return list.All(key), nil
}

// LocalSettings is Settings for the repository's own configuration alone, which
// is shared by its linked work trees and never cloned.
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

// DropLocalSetting removes every value of a key from the repository's own
// configuration; that there is none is no error.
func (r *Repository) DropLocalSetting(ctx context.Context, key string) error {
	err := r.Configure(ctx, "--unset-all", key)
	if ExitCode(err) == 5 {
		return nil
	}
	return unwritable(err)
}

// unwritable says that git did not take a setting; nil for nil.
func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return fail.Errorf(fail.CodeGitFailed, err, "git's configuration of this repository cannot be written")
}

// Variables asks git for the variables whose names match a regular expression, as seen from dir: the answer of git
// config --null, nil when nothing is set or git cannot say. Programs that the repository's own configuration names
// are not among them: whoever asks starts what it says, and an agent may have written it a moment ago.
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

// namesProgram judges a variable as git config --null prints one.
func namesProgram(variable string) bool {
	key, value, valued := strings.Cut(variable, "\n")
	if section, _, _ := gitconfig.SplitKey(key); section == "pager" {
		_, isSwitch := configBool(value) // pager.COMMAND is a program, or whether there is one
		return valued && !isSwitch
	}
	return gitconfig.ClassOf(key) == gitconfig.KeyProgram
}

// configBool reads the usual words for a boolean; the empty one is false.
func configBool(value string) (b, ok bool) {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0", "":
		return false, true
	}
	return false, false
}

// HooksDir is the directory in which git's configuration has git look for hooks.
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

// ExcludesFile is the file of ignore rules that core.excludesFile names, else git's own
// place for one; "" for none. The repository's own configuration is read each time, what
// lies outside of it once.
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

// Personal is what git's configuration says of the person, read once: user.*, author.*
// and core.excludesFile. A later line wins within one key.
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
