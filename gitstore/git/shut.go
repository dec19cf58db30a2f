// Files of git's that this user may not read: git takes most of them for missing, and then reports no repository,
// no branch or lost objects.

package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// ErrShut is the cause of Shut's errors, and an fs.ErrPermission.
var ErrShut = fmt.Errorf("%w", fs.ErrPermission)

// Shut returns an error for the first existing file that this user may not read (unreadable_file); nil if there is
// none.
func Shut(files ...string) error {
	for _, file := range files {
		f, err := object.Open(file)
		if err == nil {
			_ = f.Close()
		}
		if errors.Is(err, fs.ErrPermission) {
			return fail.Errorf(fail.CodeUnreadable, ErrShut, "%s cannot be read", file).
				WithHint("%s", failures.Remedy(file, err))
		}
	}
	return nil
}

// shutGit is Shut for the files that git needs to recognise a repository in a git directory, including that of a
// linked work tree.
func shutGit(dir string) error {
	common, _, _ := strings.Cut(filepath.ToSlash(dir), "/worktrees/")
	return Shut(dir, filepath.Join(dir, "HEAD"), common, filepath.Join(common, "config"), filepath.Join(common, "refs"),
		filepath.Join(common, "objects"))
}

// shutRef is Shut for the file of a ref and its directories.
func (r *Repository) shutRef(name string) error {
	at, files := r.CommonDir, []string{r.CommonDir}
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		files = append(files, at)
	}
	return Shut(files...)
}

// ShutHead is Shut for the branch that HEAD names: git takes an unreadable branch for one without a commit.
func (r *Repository) ShutHead() error {
	ref := r.headRef()
	if ref == "" || r.RefFormat != "files" {
		return nil
	}
	return r.shutRef(ref)
}

// shutObjects is Shut for the files that may hold an object.
func shutObjects(in object.Loose, oid object.OID) error {
	packs, loose := filepath.Join(in.Dir, "pack"), in.Path(oid)
	files := []string{in.Dir, filepath.Dir(loose), loose, packs}
	list, _ := os.ReadDir(packs)
	for _, e := range list {
		files = append(files, filepath.Join(packs, e.Name()))
	}
	return Shut(files...)
}
