// Acting in a clone that is not trusted: git has to be asked there, but nothing the
// clone has configured for itself may run.

package gitstore

import "context"

// discoverSibling is DiscoverForeign for a sibling. The clone must be one that
// OpenSibling reads. As for every git of ours nothing of its own configuration is
// started; it is kept from transports and from its submodules besides.
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
	r.Git.disarm()
	return r, nil
}

// disarm keeps git from every other repository: it fetches nothing, and looks into
// no submodule.
func (g *Git) disarm() {
	g.guarded = true
	g.env = append(dropVars(g.env, []string{"GIT_ALLOW_PROTOCOL"}), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
}

// submodules says how far git looks into submodules: for a status it would start a
// git of its own in each, with the submodule's configuration.
func (g *Git) submodules() string {
	if g.guarded {
		return "--ignore-submodules=dirty"
	}
	return "--ignore-submodules=none"
}
