// What an installation did, so that it can be undone to the byte.

package githooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Ways to install hooks.
const (
	WayConfig    = "config"    // hook.<name>.command in the repository's configuration, git 2.54 and later
	WayDirectory = "directory" // scripts in the hooks directory that git reads
	WayRedirect  = "redirect"  // core.hooksPath points to a directory of ours that passes hooks on
)

// installation is the record of an installation, below the git directory.
type installation struct {
	Way    string `json:"way"`
	Binary string `json:"binary"`
	Dir    string `json:"dir"` // where the scripts are
	// Names are the installed hooks.
	Names []string `json:"names"`
	// Projects are the prefixes of the governed projects for which the hooks were installed, "" or ending in "/".
	Projects []string `json:"projects,omitempty"`
	// Saved are the hooks that existed before: they belong at Dir/<name> and are kept at the given path.
	Saved map[string]savedHook `json:"saved,omitempty"`
	// FormerPath is the repository's own earlier core.hooksPath, FormerDir the directory it led to; a nil path was
	// not set there.
	FormerPath *string `json:"former_hooks_path,omitempty"`
	FormerDir  string  `json:"former_hooks_dir,omitempty"`
	// ConfigBefore is the repository's earlier configuration file, ConfigAfter the digest of the changed one.
	ConfigBefore []byte `json:"config_before,omitempty"`
	ConfigAfter  string `json:"config_after,omitempty"`
	// Anchors are the conditions under which git reads the absolute path of Dir (includeIf.<Anchor>.path), "" when
	// core.hooksPath has it.
	Anchors []string `json:"anchors,omitempty"`
	// MadeDir: the hooks directory did not exist.
	MadeDir bool `json:"made_dir,omitempty"`
}

// savedHook is a hook that was moved aside.
type savedHook struct {
	Path   string      `json:"path"`
	Digest string      `json:"sha256"`
	Mode   fs.FileMode `json:"mode"`
	Link   string      `json:"link,omitempty"` // it was a symbolic link to this
}

// guarded returns the prefixes of the guarded projects.
func (in *installation) guarded() []string {
	if len(in.Projects) == 0 {
		return []string{""}
	}
	return in.Projects
}

// guards reports whether the hooks judge a project. Those of a server find the projects of a push themselves.
func (in *installation) guards(project string) bool {
	return slices.Contains(in.Names, PreReceive) || slices.Contains(in.guarded(), project)
}

// guardedAt returns the prefix of the guarded project in a directory, which may be gone.
func (in *installation) guardedAt(repo *git.Repository, dir string) (string, error) {
	prefix := path.Join(repo.Prefix, filepath.ToSlash(dir))
	if rel, err := filepath.Rel(repo.TopLevel, dir); err == nil && filepath.IsAbs(dir) {
		prefix = filepath.ToSlash(rel)
	}
	if prefix = strings.TrimPrefix(prefix+"/", "./"); slices.Contains(in.guarded(), prefix) {
		return prefix, nil
	}
	e := refuse(wire.CodeInvalidArgument, "the guards do not judge a project in %s", wire.Quoted(dir))
	for _, p := range in.guarded() {
		e.Hint += ", " + cmp.Or(strings.TrimSuffix(p, "/"), "the top directory")
	}
	e.Hint = "they judge: " + strings.TrimPrefix(e.Hint, ", ")
	return "", e
}

// projectAround returns the prefix of the governed project in which a command was started, by the files of the work
// tree.
func projectAround(repo *git.Repository) (prefix string, ok bool) {
	if repo.TopLevel == "" {
		return "", false
	}
	for prefix = repo.Prefix; ; prefix = prefix[:strings.LastIndexByte(strings.TrimSuffix(prefix, "/"), '/')+1] {
		if _, err := os.Lstat(filepath.Join(repo.TopLevel, filepath.FromSlash(prefix+wire.ConfigPath))); err == nil {
			return prefix, true
		}
		if prefix == "" {
			return "", false
		}
	}
}

func recordPath(commonDir string) string {
	return filepath.Join(commonDir, "agentxchain", "githooks.json")
}

// ownDir returns our own hooks directory, to which git is pointed.
func ownDir(commonDir string) string { return filepath.Join(commonDir, "agentxchain", "githooks") }

// maxRecord bounds what is read of the installation's record, in bytes: it contains what the hooks replaced.
const maxRecord = 64 << 20

func loadRecord(commonDir string) (*installation, error) {
	data, err := git.ReadBounded(recordPath(commonDir), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse(CodeHooksUnreadable, "the record of the installed hooks cannot be read: %v", err)
	}
	in := &installation{}
	if err := json.Unmarshal(data, in); err != nil {
		return nil, refuse(CodeHooksUnreadable, "%s holds no record of installed hooks: %v", recordPath(commonDir),
			err)
	}
	in.rebase(commonDir)
	return in, nil
}

// rebase updates the record's paths to the repository's present location: a checkout is moved, or copied, with its
// git directory.
func (in *installation) rebase(commonDir string) {
	was := filepath.Dir(in.Dir)
	if in.Way != WayDirectory {
		was = filepath.Dir(was)
	}
	if samePath(was, commonDir) || !filepath.IsAbs(in.Dir) {
		return
	}
	move := func(path string) string {
		if rest, ok := strings.CutPrefix(path, was+string(filepath.Separator)); ok {
			return filepath.Join(commonDir, rest)
		}
		top := filepath.Dir(was)
		if rest, ok := strings.CutPrefix(path, top+string(filepath.Separator)); ok && filepath.Base(was) == ".git" {
			return filepath.Join(filepath.Dir(commonDir), rest)
		}
		return path
	}
	in.Dir = move(in.Dir)
	for name, s := range in.Saved {
		s.Path = move(s.Path)
		in.Saved[name] = s
	}
	if in.FormerDir != "" && filepath.IsAbs(in.FormerDir) {
		in.FormerDir = move(in.FormerDir)
	}
}

func (in *installation) save(commonDir string) error {
	data, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return err
	}
	path := recordPath(commonDir)
	// It has lines of git's configuration, which may hold credentials: those who may read that may read this.
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(filepath.Join(commonDir, "config")); err == nil {
		mode = fi.Mode().Perm()
	}
	return git.WriteShared(path, append(data, '\n'), mode)
}
