// Which paths of an artifact may be written (docs/restore.md): names that mean the same file on every system, at or
// below the roots that a restore replaces.

package restore

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	maxPath    = 4096
	maxSegment = 255
)

// pathRules checks paths in sequence; a path can be refused because of an earlier one. The zero value is ready to
// use.
type pathRules struct {
	files map[string]string // folded -> path
	dirs  map[string]string // folded directory -> path of a file in it
	names map[string]string // folded directory -> its spelling
}

func unsafePath(path, format string, args ...any) error {
	return &wire.Error{
		Code:    CodeUnsafePath,
		Field:   "files." + path,
		Message: fmt.Sprintf("The artifact's file %q may not be written: %s.", path, fmt.Sprintf(format, args...)),
		Hint:    "where it was made, rename the file and export again; export names such files",
	}
}

// check refuses a path that may not be written.
func (r *pathRules) check(path string) error {
	switch {
	case path == "":
		return unsafePath(path, "it is empty")
	case len(path) > maxPath:
		return unsafePath(path[:60], "it goes on for %d bytes", len(path))
	case !utf8.ValidString(path):
		return unsafePath(path, "it is not UTF-8")
	case strings.ContainsRune(path, 0):
		return unsafePath(path, "there is a NUL in it")
	case strings.ContainsRune(path, '\\'):
		return unsafePath(path, "a backslash separates directories on some systems")
	case strings.ContainsRune(path, '\ufffd'):
		return unsafePath(path, "part of its name was lost")
	case path[0] == '/':
		return unsafePath(path, "it is absolute")
	case len(path) > 1 && path[1] == ':':
		return unsafePath(path, "it names a drive")
	}
	for part := range strings.SplitSeq(path, "/") {
		if why := badSegment(part); why != "" {
			return unsafePath(path, "%s", why)
		}
	}
	if !restorable(path) {
		return unsafePath(path, "it is not among the governed files")
	}
	return r.unique(path)
}

// badSegment says what is wrong with one component, "" if it is fine.
func badSegment(part string) string {
	switch {
	case part == "":
		return "a component of it is empty"
	case part == "." || part == "..":
		return "it has the component " + part
	case len(part) > maxSegment:
		return "a component of it is too long for file systems"
	case gitName(part):
		return "the component " + part + " is git's own directory, or is taken for it on some systems"
	case git.DeviceName(strings.TrimRight(part, ". ")):
		return "the component " + part + " is a device on Windows"
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "a component of it ends with a dot or a space, which Windows drops"
	case strings.ContainsRune(part, ':'):
		return "a colon in it begins the name of a stream on Windows"
	}
	return ""
}

// gitName reports whether a name means .git on some system: in another case, with characters that HFS+ ignores, as
// NTFS shortens it, with endings that Windows drops or that name a stream of it.
func gitName(part string) bool {
	name := wire.FoldPath(part)
	if name == ".git" {
		return true
	}
	digits, ok := strings.CutPrefix(name, "git~")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// unique refuses two paths that are the same file on some system, directories that are the same on some system and
// spelled differently, and a file that is also a directory.
func (r *pathRules) unique(path string) error {
	if r.files == nil {
		r.files, r.dirs, r.names = make(map[string]string), make(map[string]string), make(map[string]string)
	}
	at, folded := "", ""
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if i > 0 {
			at, folded = at+"/", folded+"/"
		}
		at, folded = at+part, folded+wire.FoldPath(part)
		if i == len(parts)-1 {
			break
		}
		if other, ok := r.files[folded]; ok {
			return unsafePath(path, "%q is in the artifact too, and cannot be a file and a directory", other)
		}
		if name, ok := r.names[folded]; ok && name != at {
			return unsafePath(path, "%q in it and %q are the same directory on some systems", at, name)
		}
		r.names[folded] = at
		r.dirs[folded] = path
	}
	if other, ok := r.files[folded]; ok {
		return unsafePath(path, "it and %q are the same file on some systems", other)
	}
	if other, ok := r.dirs[folded]; ok {
		return unsafePath(path, "%q is in the artifact too, and it cannot be a file and a directory", other)
	}
	r.files[folded] = path
	return nil
}
