// What changed since a moment although the index says it is unchanged: the index belongs to the work tree's owner,
// and any process that can write it can claim that a file is as git last saw it.

package gitstatus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// untrackedCache is the index extension that says which directories hold no new files.
const untrackedCache = "UNTR"

// Touched lists the files of the directory projectPrefix whose index time is since or later and that differ from
// head, and, if the index says which directories hold no new files, all untracked files; relative to the project. A
// status does not read a file whose times, size and numbers match the index. An attacker who changed the file can
// write them there, but cannot turn back the change time.
func Touched(ctx context.Context, r *git.Repository, projectPrefix string, head object.OID, since time.Time) ([]string,
	error) {
	prefix := strings.Trim(projectPrefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	name := filepath.Join(r.GitDir, "index")
	if given := os.Getenv("GIT_INDEX_FILE"); filepath.IsAbs(given) {
		name = given
	} else if given != "" {
		name = filepath.Join(r.TopLevel, given)
	}
	data, err := git.ReadBounded(name, maxIndexRead)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, fail.Errorf(fail.CodeUnreadable, err, "git's index cannot be read")
	}
	y := &youngEntries{top: r.TopLevel, prefix: prefix, since: since}
	if !y.read(data, r.ObjectFormat) {
		if data, err = joinedIndex(ctx, r, name); err != nil {
			return nil, err
		}
		if !y.read(data, r.ObjectFormat) {
			return nil, fail.Errorf(fail.CodeUnreadable, nil, "git's index has an unknown format")
		}
	}
	var found []string
	if slices.Contains(y.extensions, untrackedCache) {
		out, err := r.Git.In(filepath.Join(r.TopLevel, filepath.FromSlash(prefix))).Run(ctx, nil, "ls-files", "-z",
			"--others", "--exclude-standard")
		if err != nil {
			return nil, err
		}
		found = git.NulNames(out)
	}
	if head == "" || len(y.names) == 0 {
		return found, nil // on a branch without a commit, everything in the index is new
	}
	changed, err := differing(ctx, r, y.entries.Bytes(), y.names, head)
	for _, name := range changed {
		found = append(found, strings.TrimPrefix(name, prefix))
	}
	return found, err
}

const (
	modeKind      = 0o170000
	modeSubmodule = 0o160000 // git always examines it
)

// youngEntries collects the index entries below a directory whose files changed at a moment or later.
type youngEntries struct {
	top    string
	prefix string
	since  time.Time

	names      []string
	entries    bytes.Buffer // as update-index --index-info takes them
	extensions []string
}

// read reports whether the index has a known format and holds all of its entries.
func (y *youngEntries) read(data []byte, format string) (known bool) {
	y.names = nil
	y.entries.Reset()
	y.extensions, known = readIndex(data, format, func(e *indexEntry) bool {
		second, since := int64(e.seen()), y.since.Unix()
		if second < since || e.inConflict || e.mode()&modeKind == modeSubmodule ||
			!strings.HasPrefix(string(e.name), y.prefix) || second == since && y.before(string(e.name)) {
			return true
		}
		y.names = append(y.names, string(e.name))
		_, _ = fmt.Fprintf(&y.entries, "%06o %x 0\t%s\x00", e.mode(), e.oid, e.name)
		return true
	})
	return known
}

// clockGrain is how far file times may lag behind the clock: a tick of the kernel, and a margin.
const clockGrain = 20 * time.Millisecond

// before reports whether a file from the second in which the turn began is known to be older than the turn. The
// times in git's index are in seconds and so do not help within that second; the file's own time does, where the
// file system has finer times.
func (y *youngEntries) before(name string) bool {
	fi, err := os.Lstat(filepath.Join(y.top, filepath.FromSlash(name)))
	if err != nil {
		return false
	}
	st := git.StatOf(fi)
	return st.CTime%int64(time.Second) != 0 && max(st.CTime, st.MTime) < y.since.Add(-clockGrain).UnixNano()
}

// joinedIndex returns a split index as git joins it.
func joinedIndex(ctx context.Context, r *git.Repository, name string) ([]byte, error) {
	whole, remove, err := git.ScratchIndex()
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "a second index cannot be created")
	}
	defer remove()
	if err := git.CopyIndex(name, whole); err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "git's index cannot be read")
	}
	if _, err := r.Git.In(r.TopLevel).WithIndex(whole).Run(ctx, nil, "update-index", "--no-split-index"); err != nil {
		return nil, err
	}
	data, err := git.ReadBounded(whole, maxIndexRead)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "git's index cannot be read")
	}
	return data, nil
}

// LookAgain has git examine files that Touched found and a status missed, paths relative to the project: from then
// on a status includes them, and so does a commit.
func LookAgain(ctx context.Context, r *git.Repository, paths []string) error {
	var entries []byte
	known := 0
	for rest := paths; len(rest) > 0; {
		var some []string
		some, rest = git.FitArguments(rest)
		out, err := r.Git.Run(ctx, nil, append([]string{"ls-files", "--stage", "-z", "--full-name", "--"}, some...)...)
		if err != nil {
			return err
		}
		entries = append(entries, out...)
		known += bytes.Count(out, []byte{0})
	}
	g := r.Git.In(r.TopLevel)
	if known > 0 { // the same entries without times
		if _, err := g.Run(ctx, entries, "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if known < len(paths) {
		if _, err := g.Run(ctx, nil, "update-index", "--no-untracked-cache"); err != nil {
			return err
		}
	}
	return nil
}

// freshIndex returns a git whose index holds the entries, as update-index --index-info takes them, without flags, and
// with the times of the files that are as their entries say.
func freshIndex(ctx context.Context, r *git.Repository, entries []byte) (g *git.Git, remove func(), err error) {
	index, remove, err := git.ScratchIndex()
	if err != nil {
		return nil, nil, fail.Errorf(fail.CodeUnreadable, err, "a second index cannot be created")
	}
	g = r.Git.In(r.TopLevel).WithIndex(index)
	if _, err = g.Run(ctx, entries, "update-index", "-z", "--index-info"); err == nil {
		// There are no times yet: unchanged files count as changed until their contents are compared.
		if _, err = g.Run(ctx, nil, "update-index", "-q", "--refresh"); git.ExitCode(err) == 1 {
			err = nil
		}
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return g, remove, nil
}

// differing returns the paths whose files differ from the commit. git compares them with an index of entries, which
// has no times: it reads each file.
func differing(ctx context.Context, r *git.Repository, entries []byte, paths []string, head object.OID) ([]string,
	error) {
	g, remove, err := freshIndex(ctx, r, entries)
	if err != nil {
		return nil, err
	}
	defer remove()
	// Files without an entry look deleted, and a status reports deleted files.
	args := []string{"diff-index", "--name-only", "-z", "--no-ext-diff", "--no-renames", "--diff-filter=d", string(head), "--"}
	if some, rest := git.FitArguments(paths); len(rest) == 0 {
		args = append(args, some...) // git need not walk all of the commit's trees
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	found := git.NulNames(out)
	// A file whose filter does not run here always differs from what git has.
	unfiltered, _, err := Unfiltered(ctx, g, r, found)
	return slices.DeleteFunc(found, func(p string) bool { return slices.Contains(unfiltered, p) }), err
}

// Unfiltered returns the paths, as g takes them, that git passes through a filter which our gits do not start, and
// one such filter.
func Unfiltered(ctx context.Context, g *git.Git, r *git.Repository, paths []string) (files []string, driver string,
	err error) {
	drivers, err := r.UnusedFilters(ctx)
	if err != nil || len(drivers) == 0 || len(paths) == 0 {
		return nil, "", err
	}
	filters, err := g.Filters(ctx, paths)
	if err != nil {
		return nil, "", err
	}
	for _, p := range paths {
		if !slices.Contains(drivers, filters[p]) {
			continue
		}
		fi, err := os.Lstat(filepath.Join(g.Dir, filepath.FromSlash(p)))
		if err == nil && fi.Mode().IsRegular() {
			files, driver = append(files, p), filters[p]
		}
	}
	return files, driver, nil
}
