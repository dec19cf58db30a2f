// What git has begun in a work tree and not ended.

package git

import (
	"os"
	"path/filepath"
)

// underWay are the files by which git knows what it has begun; a rebase and an am leave those of the others beside
// their own.
var underWay = []struct{ file, command, end string }{
	{"rebase-apply/applying", "am", "git am --continue, or --abort"},
	{"rebase-apply", "rebase", "git rebase --continue, or --abort"},
	{"rebase-merge", "rebase", "git rebase --continue, or --abort"},
	{"MERGE_HEAD", "merge", "git merge --continue, or --abort"},
	{"CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --continue, or --abort"},
	{"REVERT_HEAD", "revert", "git revert --continue, or --abort"},
	{"BISECT_LOG", "bisect", "git bisect reset"},
}

// UnderWay names the command that git has not ended in the work tree, and what ends it; "" for none. A commit that is
// made meanwhile is refused, becomes part of what the command makes, or is left behind with its end.
func (r *Repository) UnderWay() (command, end string) {
	for _, u := range underWay {
		if _, err := os.Lstat(filepath.Join(r.GitDir, filepath.FromSlash(u.file))); err == nil {
			return u.command, u.end
		}
	}
	return "", ""
}
