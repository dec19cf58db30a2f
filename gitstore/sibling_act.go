// Acting in a clone that is not trusted: git has to be asked there, but nothing the
// clone has configured for itself may run.

package gitstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// discoverSibling is DiscoverForeign for a sibling. The clone must be one that
// OpenSibling reads. Programs named by its own configuration (filters, hooks, file
// system monitors, transports, those of its submodules) are switched off; what the
// person has configured for all repositories stays.
func discoverSibling(ctx context.Context, dir string) (*Repository, error) {
	x, err := OpenSibling(ctx, dir, &Trust{})
	if err != nil {
		return nil, err
	}
	own := x.store.repo.GitDir
	_ = x.Close()
	r, err := DiscoverForeign(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !sameFile(own, r.GitDir) {
		return nil, errorf(CodeGitDirElsewhere, nil, "git finds the repository %s for %s, which is not its own", r.GitDir, dir)
	}
	return r, r.Git.disarm(ctx)
}

// disarm switches off what the repository's own configuration would run.
func (g *Git) disarm(ctx context.Context) error {
	out, err := g.Run(ctx, nil, "config", "--list", "-z", "--show-scope", "--name-only")
	if err != nil {
		return err
	}
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var off [][2]string
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == "local" || f[i] == "worktree" {
			off = append(off, switchedOff(f[i+1])...)
		}
	}
	g.guarded = true
	g.env = configured(append(g.env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="), off)
	return nil
}

// switchedOff returns the settings that keep the program of a key from running.
func switchedOff(key string) [][2]string {
	section, rest, _ := strings.Cut(key, ".")
	i := strings.LastIndexByte(rest, '.')
	if i < 0 {
		return nil
	}
	name := section + "." + rest[:i]
	switch section {
	case "filter":
		switch rest[i+1:] {
		case "clean", "smudge", "process", "required":
			return [][2]string{{name + ".clean", ""}, {name + ".smudge", ""}, {name + ".process", ""}, {name + ".required", "false"}}
		}
	case "hook":
		return [][2]string{{name + ".enabled", "false"}}
	}
	return nil
}

// configured adds settings to an environment, after those it already holds. Names
// go through the environment because a "-c" cannot carry every one.
func configured(env []string, settings [][2]string) []string {
	if len(settings) == 0 {
		return env
	}
	n := 0
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(v)
		}
	}
	env = dropVars(env, []string{"GIT_CONFIG_COUNT"})
	for _, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s[1]))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// submodules says how far git looks into submodules: for a status it would start a
// git of its own in each, with the submodule's configuration.
func (g *Git) submodules() string {
	if g.guarded {
		return "--ignore-submodules=dirty"
	}
	return "--ignore-submodules=none"
}
