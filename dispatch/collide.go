// Names that some file system treats as the same (docs/compatibility.md#where-we-differ-on-purpose).

package dispatch

import "github.com/git-agentxchain/git-agentxchain/protocol/wire"

// names finds, among successive paths, the first that an earlier one could be mistaken for, as wire.FoldPath compares
// them, or because one would have to be the other's directory.
type names struct {
	files map[string]string // folded path -> path
	dirs  map[string]string // folded directory -> path below it
}

func newNames() *names {
	return &names{files: make(map[string]string), dirs: make(map[string]string)}
}

// add notes path and returns the earlier path it collides with, or "".
func (n *names) add(path string) string {
	key := wire.FoldPath(path)
	if was, ok := n.files[key]; ok {
		return was
	}
	if was, ok := n.dirs[key]; ok {
		return was
	}
	for i := range len(key) {
		if key[i] == '/' {
			if was, ok := n.files[key[:i]]; ok {
				return was
			}
		}
	}
	for i := range len(key) {
		if key[i] == '/' {
			n.dirs[key[:i]] = path
		}
	}
	n.files[key] = path
	return ""
}
