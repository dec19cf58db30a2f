// All that git's configuration says, in the order git reads it.

package git

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// ConfigSetting is one line of git's configuration.
type ConfigSetting struct {
	gitconfig.Entry
	Scope   string // system, global, local, worktree or command
	NoValue bool   // the key stands alone; Value is "true" then, as git takes it for a boolean
}

// ConfigList is git's configuration, of what is read first to what has the last word.
type ConfigList []ConfigSetting

// Last returns the value in force of a key. A key that stands alone has the empty one, as
// git config --get prints it.
func (l ConfigList) Last(key string) (value string, ok bool) {
	key = gitconfig.Lower(key)
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].Key == key {
			return l[i].text(), true
		}
	}
	return "", false
}

// All returns every value of a key.
func (l ConfigList) All(key string) (values []string) {
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

// Config returns git's configuration as it applies in the repository. The files are read
// here where all of them can be followed by git's own rules; else one git process is asked.
// Nothing is kept: what was written since is in the next answer.
func (r *Repository) Config(ctx context.Context) (ConfigList, error) {
	return r.Git.config(ctx, r.Git.Scope)
}

// config is Config for the repository that l describes, nil where it is not known.
func (g *Git) config(ctx context.Context, l *LocalScope) (ConfigList, error) {
	if g.BinErr == nil && l != nil {
		if list, ok := readConfig(g, l); ok {
			return list, nil
		}
	}
	return g.askConfig(ctx)
}

// askConfig lets git say what is configured.
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
