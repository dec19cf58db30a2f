// Finding an ordinary repository without asking git.

package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// lookUp answers the questions of discoverFlags about the directory dir, by the rules that git follows for an
// ordinary repository: nothing in the environment says where it is, all of it belongs to this user and is on one
// file system, and its HEAD and its configuration contain nothing unusual. ok is false for every other repository,
// and git must be asked.
func lookUp(dir string, env []string) (ans []string, ok bool) {
	if slices.ContainsFunc(env, tellsWhere) {
		return nil, false
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return nil, false
	}
	top, place, ok := climb(dir)
	if !ok || top != dir && slices.ContainsFunc(env, endsClimb) {
		return nil, false
	}
	common, ok := commonDir(place)
	if !ok || !ours(top, filepath.Join(top, ".git"), place) || !ordinaryHead(filepath.Join(place, "HEAD")) ||
		!IsDir(filepath.Join(common, "objects")) || !IsDir(filepath.Join(common, "refs")) {
		return nil, false
	}
	format, ok := ordinaryConfig(filepath.Join(common, "config"))
	if !ok {
		return nil, false
	}
	prefix, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, false
	}
	if prefix == "." {
		prefix = ""
	} else {
		prefix += "/"
	}
	return []string{"false", "true", format, "files", place, common, filepath.Join(common, "objects"), prefix, top},
		true
}

// tellsWhere reports whether a variable affects where the repository is or how it is read.
func tellsWhere(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_QUARANTINE_PATH":
		return true
	}
	return strings.HasPrefix(name, "GIT_TEST_")
}

// endsClimb reports whether v is the variable that limits git's search upwards. git always examines the directory
// where it starts.
func endsClimb(v string) bool { return strings.HasPrefix(v, "GIT_CEILING_DIRECTORIES=") }

// climb finds the root of the work tree at or above dir, and its git directory.
func climb(dir string) (top, place string, ok bool) {
	var device uint64
	for at := dir; ; at = filepath.Dir(at) {
		fi, err := os.Lstat(at)
		if err != nil {
			return "", "", false
		}
		sys, isStat := fi.Sys().(*syscall.Stat_t)
		if !isStat || device != 0 && sys.Dev != device {
			return "", "", false
		}
		device = sys.Dev
		name := filepath.Join(at, ".git")
		switch fi, err := os.Lstat(name); {
		case err == nil && fi.IsDir():
			return at, name, true
		case err == nil && fi.Mode().IsRegular():
			place, ok := linkedDir(name)
			return at, place, ok
		case err == nil || !errors.Is(err, fs.ErrNotExist):
			return "", "", false
		}
		// Git judges what looks like a bare repository or the inside of one.
		if _, err := os.Lstat(filepath.Join(at, "HEAD")); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", "", false
		}
	}
}

// linkedDir returns the git directory that a .git file of a linked work tree names.
func linkedDir(name string) (string, bool) {
	text, ok := shortLine(name)
	if !ok {
		return "", false
	}
	dir, named := strings.CutPrefix(text, "gitdir: ")
	if !named || dir == "" {
		return "", false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(name), dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	return dir, err == nil
}

// commonDir returns the directory that the work trees of a repository share.
func commonDir(place string) (string, bool) {
	name := filepath.Join(place, "commondir")
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return place, true
	}
	dir, ok := shortLine(name)
	if !ok || dir == "" {
		return "", false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(place, dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	return dir, err == nil
}

// shortLine returns the only line of a small regular file.
func shortLine(name string) (string, bool) {
	fi, err := os.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 4096 {
		return "", false
	}
	data, err := os.ReadFile(name)
	text := strings.TrimSuffix(string(data), "\n")
	return text, err == nil && !strings.ContainsAny(text, "\n\r\x00")
}

// ours reports whether this user owns all of the paths. git refuses another user's repository unless told
// otherwise.
func ours(paths ...string) bool {
	me := uint32(os.Geteuid()) //nolint:gosec // a user id
	for _, p := range paths {
		fi, err := os.Lstat(p)
		if err != nil {
			return false
		}
		if sys, ok := fi.Sys().(*syscall.Stat_t); !ok || sys.Uid != me {
			return false
		}
	}
	return true
}

// ordinaryHead reports whether HEAD names a ref or a commit.
func ordinaryHead(name string) bool {
	text, ok := shortLine(name)
	if !ok {
		return false
	}
	if ref, symbolic := strings.CutPrefix(text, "ref: "); symbolic {
		return strings.HasPrefix(ref, "refs/")
	}
	return object.OID(text).Valid(object.FormatSHA1) || object.OID(text).Valid(object.FormatSHA256)
}

// ordinaryConfig returns the object format of a repository whose configuration contains nothing else that affects
// how the repository is read.
func ordinaryConfig(name string) (format string, ok bool) {
	data, err := ReadConfigFile(name)
	if err != nil {
		return "", false
	}
	entries, err := gitconfig.Parse(data)
	if err != nil {
		return "", false
	}
	format = object.FormatSHA1
	version := "0"
	extended := false
	for _, e := range entries {
		key := gitconfig.Lower(e.Key)
		switch section, _, _ := strings.Cut(key, "."); {
		case key == "core.repositoryformatversion":
			version = e.Value
		case key == "core.bare" && e.Value != "false", key == "core.worktree", section == "include",
			section == "includeif":
			return "", false
		case key == "extensions.objectformat":
			format, extended = e.Value, true
		case section == "extensions":
			return "", false
		}
	}
	if version != "0" && version != "1" || extended && version != "1" || object.HexLen(format) == 0 {
		return "", false
	}
	return format, true
}
