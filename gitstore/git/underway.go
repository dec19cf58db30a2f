// Unfinished git commands in a work tree.

package git

import (
	"os"
	"path/filepath"
)

// underWay lists the files by which git knows its unfinished commands; a rebase or an am leaves those of others
// beside its own.
var underWay = []struct{ file, command, end string }{
	{"rebase-apply/applying", "am", "git am --continue, or --abort"},
	{"rebase-apply", "rebase", "git rebase --continue, or --abort"},
	{"rebase-merge", "rebase", "git rebase --continue, or --abort"},
	{"MERGE_HEAD", "merge", "git merge --continue, or --abort"},
	{"CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --continue, or --abort"},
	{"REVERT_HEAD", "revert", "git revert --continue, or --abort"},
	{"BISECT_LOG", "bisect", "git bisect reset"},
}

// UnderWay returns the unfinished git command in the work tree, and how to end it; "" for none. A commit made
// meanwhile is refused, becomes part of that command's result, or is left behind when it ends.
func (r *Repository) UnderWay() (command, end string) {
	for _, u := range underWay {
		if _, err := os.Lstat(filepath.Join(r.GitDir, filepath.FromSlash(u.file))); err == nil {
			return u.command, u.end
		}
	}
	return "", ""
}
