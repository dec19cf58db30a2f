// Finding the files of an artifact (docs/export.md#what-is-in-it).

package restore

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// collected are the files to export, and those left out.
type collected struct {
	paths  []string
	behind []string // sentences: names that no artifact can hold, links that lead out
	seen   map[string]bool
}

// collect finds the regular files at and below roots in the order of an artifact. It follows a root that is a link,
// within the project, but no links below a root.
func collect(root *os.Root, roots []string) (*collected, error) {
	c := &collected{seen: make(map[string]bool)}
	for _, r := range roots {
		fi, err := root.Stat(r)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			if l, lerr := root.Lstat(r); lerr == nil && l.Mode()&fs.ModeSymlink != 0 {
				c.leave("%s is a link that leads nowhere inside the project", r)
				continue
			}
			return nil, failed(r, "cannot be examined: %v", err)
		case fi.Mode().IsRegular():
			c.add(r)
		case fi.IsDir():
			if err := c.walk(root, r); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(c.paths, collate)
	return c, nil
}

func (c *collected) walk(root *os.Root, dir string) error {
	return fs.WalkDir(root.FS(), dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != dir:
			return nil // gone since the directory was read
		case err != nil:
			return failed(path, "cannot be examined: %v", err)
		case strings.EqualFold(d.Name(), ".git"):
			c.leave("%s belongs to a repository of its own", path)
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			c.add(path)
		}
		return nil
	})
}

func (c *collected) add(path string) {
	switch {
	case wire.GeneratedReport(path) || c.seen[path]:
	case !utf8.ValidString(path):
		c.leave("%s has a name that is not UTF-8", strings.ToValidUTF8(path, "\ufffd"))
	default:
		c.seen[path] = true
		c.paths = append(c.paths, path)
	}
}

func (c *collected) leave(format, path string) {
	c.behind = append(c.behind, "Not in the artifact: "+strings.Replace(format, "%s", path, 1))
}

// bound keeps at most max files: always the configuration, the state and the ledgers, then other governed files,
// then bundles and staged results, then planning documents (docs/export.md#nothing-is-left-out-in-silence).
func bound(paths []string, max int) []string {
	if max <= 0 || len(paths) <= max {
		return paths
	}
	var classes [4][]string
	for _, p := range paths {
		n := 1
		switch {
		case essential(p):
			n = 0
		case strings.HasPrefix(p, ".planning/"):
			n = 3
		case strings.HasPrefix(p, ".agentxchain/dispatch/"), strings.HasPrefix(p, ".agentxchain/staging/"),
			strings.HasPrefix(p, ".agentxchain/transactions/"):
			n = 2
		}
		classes[n] = append(classes[n], p)
	}
	kept := classes[0]
	for _, class := range classes[1:] {
		kept = append(kept, class[:max0(min(len(class), max-len(kept)))]...)
	}
	return kept
}

func max0(n int) int { return max(n, 0) }

// essential reports whether an artifact without the file would say nothing, or nothing verifiable.
func essential(path string) bool {
	if path == wire.ConfigPath || path == statePath {
		return true
	}
	return slices.ContainsFunc(wire.Ledgers(), func(l wire.Ledger) bool { return l.JSONL() && path == l.Path() })
}
