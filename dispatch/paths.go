// Which names may refer to a file of the project or of a bundle (docs/bundles.md#the-seal).

package dispatch

import "strings"

// safePath reports whether path is relative, slash-separated and below its root in every file system: previews and
// manifests take names from documents of others.
func safePath(path string) bool {
	if path == "" || len(path) > 4096 || strings.ContainsAny(path, "\\\x00") || strings.HasPrefix(path, "/") {
		return false
	}
	// A drive name (c:x) leaves the directory on some systems.
	if len(path) > 1 && path[1] == ':' {
		return false
	}
	for seg := range strings.SplitSeq(path, "/") {
		if seg == "" || seg == "." || seg == ".." || strings.EqualFold(seg, ".git") {
			return false
		}
	}
	return true
}

// safeName reports whether id can name a directory: turn ids become part of paths.
func safeName(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '.' || id[0] == '-' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
