// git's whole configuration, in the order in which git reads it.

package git

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// ConfigSetting is one line of git's configuration.
type ConfigSetting struct {
	gitconfig.Entry
	Scope   string // system, global, local, worktree or command
	NoValue bool   // the key has no "=": Value is "true" then, as git reads it for a boolean
}

// ConfigList is git's configuration in reading order: the last value wins.
type ConfigList []ConfigSetting

// Last returns the effective value of a key. A key without "=" has the empty value, as git config --get prints it.
func (l ConfigList) Last(key string) (value string, ok bool) {
	key = gitconfig.Lower(key)
	for _, v := range slices.Backward(l) {
		if v.Key == key {
			return v.text(), true
		}
	}
	return "", false
}

// all returns every value of a key.
func (l ConfigList) all(key string) (values []string) {
	key = gitconfig.Lower(key)
	for _, s := range l {
		if s.Key == key {
			values = append(values, s.text())
		}
	}
	return values
}

func (s ConfigSetting) text() string {
	if s.NoValue {
		return ""
	}
	return s.Value
}

// Config returns git's configuration as it applies in the repository. It reads the files itself where it can follow
// git's own rules for all of them; else it asks one git process. It caches nothing: the next call sees new
// settings.
func (r *Repository) Config(ctx context.Context) (ConfigList, error) {
	return r.Git.config(ctx, r.Git.Scope)
}

// config is Config for the repository that l describes, nil when l is unknown.
func (g *Git) config(ctx context.Context, l *LocalScope) (ConfigList, error) {
	if g.BinErr == nil && l != nil {
		if list, ok := readConfig(g, l); ok {
			return list, nil
		}
	}
	return g.askConfig(ctx)
}

// askConfig asks git for its configuration.
func (g *Git) askConfig(ctx context.Context) (ConfigList, error) {
	out, err := g.Run(ctx, nil, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return nil, err
	}
	var list ConfigList
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		s := ConfigSetting{Scope: f[i]}
		var valued bool
		if s.Key, s.Value, valued = strings.Cut(f[i+1], "\n"); !valued {
			s.Value, s.NoValue = "true", true
		}
		list = append(list, s)
	}
	return list, nil
}
