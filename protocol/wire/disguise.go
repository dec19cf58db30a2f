// Governed names, and names that some file system opens as one of them.

package wire

import (
	"slices"
	"strings"
)

// Governed is the kind of a project-relative path in a commit.
type Governed int

// Kinds of governed paths.
const (
	NotGoverned    Governed = iota
	GovernedConfig          // agentxchain.json
	GovernedLedger          // an append-only record of runs
	GovernedState           // a document that operations rewrite whole
	GovernedTasks           // HUMAN_TASKS.md: its managed sections; the rest is people's
	GovernedWork            // reviews, reports and proposals: made by operations and by turns
	GovernedOwn             // written only by this program and recorded by no run
)

// ownDirs returns directories below .agentxchain that only programs write; for dispatch-progress, the files with
// that prefix.
func ownDirs() []string {
	return []string{"dispatch", "staging", "locks", "transactions", "intake", "missions", "multirepo"}
}

// workDirs returns the directories of evidence below .agentxchain.
func workDirs() []string { return []string{"reviews", "reports", "proposed"} }

// hooksFile is where another tool keeps a project's hooks.
const hooksFile = ".agentxchain/hooks.json"

const governedDir = ".agentxchain"

// GovernedPath classifies a cleaned path.
func GovernedPath(path string) Governed {
	switch {
	case path == ConfigPath:
		return GovernedConfig
	case path == humanTasksPath:
		return GovernedTasks
	case slices.ContainsFunc(Ledgers(), func(l Ledger) bool { return l.Path() == path }):
		return GovernedLedger
	case path == string(DocState) || path == string(DocSession) || path == string(DocDispatchIndex):
		return GovernedState
	case slices.Contains(orchestratorFiles, path) || path == hooksFile ||
		strings.HasPrefix(path, governedDir+"/dispatch-progress"):
		return GovernedOwn
	}
	rest, below := strings.CutPrefix(path, governedDir+"/")
	dir, _, deep := strings.Cut(rest, "/")
	switch {
	case !below || !deep:
		return NotGoverned
	case slices.Contains(ownDirs(), dir):
		return GovernedOwn
	case slices.Contains(workDirs(), dir):
		return GovernedWork
	}
	return NotGoverned
}

// GovernedDirectory reports whether path must be a directory: a link, submodule or file there would lead to
// governed files elsewhere.
func GovernedDirectory(path string) bool {
	rest, below := strings.CutPrefix(path, governedDir+"/")
	return path == governedDir || below && (slices.Contains(ownDirs(), rest) || slices.Contains(workDirs(), rest))
}

// Disguise returns the governed file that some file system would open under path although it is spelt differently;
// FoldPath and LooksLike say which names count as the same. A path below a governed file takes its place. ok is
// false for an honest path. The answer names a directory when the disguise is in a directory's name.
func Disguise(path string) (of string, ok bool) {
	names := foldedComponents(path)
	if slices.ContainsFunc(names, func(c string) bool { return c == ".git" || shortNameOf(c, ".git") }) {
		return ".git", true
	}
	if _, problem := CleanPath(path); problem == PathGitDir {
		return ".git", true
	}
	if len(names) == 0 {
		return "", false
	}
	for _, f := range []string{ConfigPath, LedgerTalk.Path(), humanTasksPath} {
		if path == f {
			return "", false
		}
		if LooksLike(names[0], f) {
			return f, true
		}
	}
	if !LooksLike(names[0], governedDir) {
		return "", false
	}
	rest, honest := strings.CutPrefix(path, governedDir+"/")
	switch {
	case path == governedDir:
		return "", false
	case !honest:
		return governedDir, true
	case len(names) == 1:
		return "", false
	}
	for _, f := range append(slices.Clone(orchestratorFiles), hooksFile) {
		if base, below := strings.CutPrefix(f, governedDir+"/"); below && LooksLike(names[1], base) && path != f {
			return f, true
		}
	}
	first, _, _ := strings.Cut(rest, "/")
	for _, dir := range append(ownDirs(), workDirs()...) {
		if first != dir && LooksLike(names[1], dir) {
			return governedDir + "/" + dir, true
		}
	}
	return "", false
}
