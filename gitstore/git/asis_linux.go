// Whether git, as configured, takes the bytes of files as they are.

package git

import (
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// CommittedAsIs reports, from all configuration, what git does to files that it commits. asIs: no setting, and no
// attributes file outside the work tree, affects their bytes and modes. alone: git starts no programs except hooks.
// Both are false when unknown.
func (r *Repository) CommittedAsIs() (asIs, alone bool) {
	g := r.Git
	if g.BinErr != nil || g.Scope == nil {
		return false, false
	}
	list, ok := readConfig(g, g.Scope)
	if !ok {
		return false, false
	}
	asIs, alone = true, true
	for _, s := range list {
		value, known := configBool(s.Value)
		if s.NoValue {
			value, known = true, true
		}
		switch section, _, name := gitconfig.SplitKey(s.Key); section + "." + name {
		case "core.autocrlf", "core.ignorecase", "core.precomposeunicode":
			asIs = asIs && known && !value
		case "core.filemode", "core.symlinks":
			asIs = asIs && known && value
		case "core.attributesfile", "attr.tree":
			asIs = false
		case "commit.gpgsign":
			alone = alone && known && !value
		default:
			alone = alone && section != "hook"
		}
	}
	home := g.variable("XDG_CONFIG_HOME")
	if home == "" {
		home = filepath.Join(g.variable("HOME"), ".config")
	}
	files := []string{
		filepath.Join(r.CommonDir, "info", "attributes"), filepath.Join(r.GitDir, "info", "attributes"),
		filepath.Join(home, "git", "attributes"), "/etc/gitattributes",
	}
	// A git with another prefix has its system configuration below that prefix.
	for _, bin := range []string{g.Bin, RealOr(g.Bin)} {
		files = append(files, filepath.Join(filepath.Dir(filepath.Dir(bin)), "etc", "gitattributes"))
	}
	for _, f := range files {
		if _, err := os.Lstat(f); !Absent(err) {
			asIs = false
		}
	}
	return asIs, alone
}
