// What a run needs in the work tree although a sparse checkout omits it.

package gitstore

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LeftOut returns which directories a sparse checkout omits, in part or in full, although gates look for documents
// there or roles for their instructions; and the command that adds them. Both are "" if there are none.
func LeftOut(ctx context.Context, repo *git.Repository) (what, command string) {
	if _, err := os.Lstat(filepath.Join(repo.GitDir, "info", "sparse-checkout")); err != nil {
		return "", "" // there never was one
	}
	out, err := repo.Git.Run(ctx, nil, "ls-files", "-t", "-z", "--cached", "--", ".agentxchain", ".planning")
	if err != nil {
		return "", ""
	}
	var dirs, words []string
	for _, name := range git.NulNames(out) {
		name, left := strings.CutPrefix(name, "S ")
		dir, _, _ := strings.Cut(name, "/")
		if left && !slices.Contains(dirs, dir) {
			dirs, words = append(dirs, dir), append(words, wire.ShellWord(path.Join(repo.Prefix, dir)))
		}
	}
	if len(dirs) == 0 {
		return "", ""
	}
	return strings.Join(dirs, ", "), "git sparse-checkout add " + strings.Join(words, " ")
}
