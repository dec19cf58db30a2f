// Names that some file system opens as another one.

package protocol

import (
	"slices"
	"strings"
)

// OrchestratorFile reports whether the path, already clean, is one of the
// runner's own files: its state, its logs, and what lies in its working
// directories (spec/02 §8). HUMAN_TASKS.md is not among them, as people write in
// it outside of the managed sections, nor are prompts.
func OrchestratorFile(path string) bool {
	if path != humanTasksPath && slices.Contains(orchestratorFiles, path) {
		return true
	}
	for _, dir := range []string{".agentxchain/dispatch/", ".agentxchain/staging/", ".agentxchain/locks/", ".agentxchain/transactions/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// Disguise returns the governed file that some file system would open under
// path although it is spelt differently: another case, characters that HFS+
// ignores, trailing dots and spaces or stream names on NTFS, a component that
// reads as ".git". ok is false for an honest path. The answer names a directory
// when the disguise is in a directory's name.
func Disguise(path string) (of string, ok bool) {
	if _, problem := CleanPath(path); problem == PathGitDir {
		return ".git", true
	}
	form := reservedForm(path)
	first, _, deep := strings.Cut(form, "/")
	short := first == "agentx~1" || first == "agentx~2"
	if (first == ".agentxchain" || short) && !strings.HasPrefix(path, ".agentxchain/") && path != ".agentxchain" {
		return ".agentxchain", true
	}
	if deep {
		rest := strings.TrimPrefix(path, ".agentxchain/")
		for _, f := range orchestratorFiles {
			if form == strings.ToLower(f) && path != f {
				return f, true
			}
		}
		for _, dir := range []string{"dispatch", "staging", "locks", "transactions"} {
			if strings.HasPrefix(form, ".agentxchain/"+dir+"/") && !strings.HasPrefix(rest, dir+"/") {
				return ".agentxchain/" + dir, true
			}
		}
		return "", false
	}
	for _, f := range []string{ConfigPath, "TALK.md", humanTasksPath} {
		if form == strings.ToLower(f) && path != f {
			return f, true
		}
	}
	return "", false
}
