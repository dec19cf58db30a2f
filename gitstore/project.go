// Files of a project outside any run, and the person's identity.

package gitstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NewFile is a file for WriteNew.
type NewFile struct {
	Path string // project-relative, slash-separated
	Data []byte
}

// WriteNew creates files durably. It refuses before writing anything when one of them exists (code file_exists,
// naming all of them); a file that appears in between is refused when it is reached. It never overwrites anything.
// Each file appears complete or not at all, and the last one only when all others are durable.
func (s *Store) WriteNew(files []NewFile) error {
	var taken []string
	for _, f := range files {
		if path.Clean(f.Path) != f.Path || path.IsAbs(f.Path) || f.Path == "." || f.Path == ".." ||
			strings.HasPrefix(f.Path, "../") {
			return fail.Errorf(fail.CodeUnreadable, nil, "%q is not a path inside the project", f.Path)
		}
		if s.exists(f.Path) {
			taken = append(taken, f.Path)
		}
	}
	if len(taken) > 0 {
		return fail.Errorf(CodeFileExists, nil, "already there: %s", strings.Join(taken, ", ")).
			WithHint("move the named files away, or keep them and leave them out")
	}
	dirs := make(map[string]bool)
	settle := func() error {
		for dir := range dirs {
			if err := s.work.SyncDir(dir); err != nil {
				return fail.Errorf(fail.CodeUnreadable, err, "cannot sync %s", dir)
			}
		}
		return nil
	}
	for i, f := range files {
		if i == len(files)-1 {
			// The last one indicates that the others exist.
			if err := settle(); err != nil {
				return err
			}
		}
		if err := s.work.Mkdirs(path.Dir(f.Path)); err != nil {
			return fail.Errorf(fail.CodeUnreadable, err, "cannot make the directory of %s", f.Path)
		}
		if err := durable.CreateRoot(s.work.Root, f.Path, f.Data, 0o666); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return fail.Errorf(CodeFileExists, err, "%s appeared while the project was being set up", f.Path)
			}
			return fail.Errorf(fail.CodeUnreadable, err, "cannot write %s", f.Path)
		}
		dirs[path.Dir(f.Path)] = true
	}
	return settle()
}

// Replace durably replaces one project file that is not part of a run, such as
// .gitignore.
func (s *Store) Replace(name string, data []byte) error {
	if err := s.work.Mkdirs(path.Dir(name)); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot make the directory of %s", name)
	}
	if err := durable.WriteFileRoot(s.work.Root, name, data, 0o666); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot write %s", name)
	}
	return nil
}

// Identity returns the name and email git would sign a commit with, asking one git process the first time. A
// missing identity is not an error: governance must keep working when user.email is unset, and the record then says
// so plainly.
func (s *Store) Identity(ctx context.Context) (name, email string) {
	s.identity.Do(func() { s.name, s.email = s.askIdentity(ctx) })
	return s.name, s.email
}

func (s *Store) askIdentity(ctx context.Context) (name, email string) {
	name, email = os.Getenv("GIT_AUTHOR_NAME"), os.Getenv("GIT_AUTHOR_EMAIL")
	if name == "" || email == "" {
		conf, _ := s.repo.Personal(ctx) // git's own order: author.* before user.*
		name = cmp.Or(name, conf["author.name"], conf["user.name"])
		email = cmp.Or(email, conf["author.email"], conf["user.email"], os.Getenv("EMAIL"))
	}
	return cmp.Or(inCommits(name), "agentxchain"), cmp.Or(inCommits(email), wire.NoEmail)
}

// inCommits returns a name or an address as git writes it into commits: without spaces and punctuation around it, and
// without what would end it there. A person is the same as the author of their commits.
func inCommits(s string) string {
	s = strings.TrimFunc(s, func(c rune) bool { return c <= ' ' || strings.ContainsRune(`,:;<>"\'`, c) })
	return strings.NewReplacer("<", "", ">", "", "\n", "").Replace(s)
}
