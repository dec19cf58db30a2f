// The project files that trusted commands name: their contents are part of what is trusted.

package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// namedFiles adds the project files that words of commands name: a program or a script that can be
// edited is as good as the command itself. Files that the run itself writes are left out; they
// change all the time and are not programs.
func (s *Scope) namedFiles(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	seen := make(map[string]bool)
	for _, h := range s.Hooks {
		if err := s.wordFiles(root, seen, h.Command, dir, "."); err != nil {
			return err
		}
	}
	for _, rt := range s.Runtimes {
		if err := s.wordFiles(root, seen, runtimes.Command(rt.Raw), dir, rt.Raw.String("cwd")); err != nil {
			return err
		}
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// wordFiles adds the files that the words of one command name; it runs in cwd below the project
// directory dir.
func (s *Scope) wordFiles(root *os.Root, seen map[string]bool, words []string, dir, cwd string) error {
	for _, word := range words {
		_, value, _ := strings.Cut(word, "=") // --config=FILE
		for _, w := range []string{word, value} {
			if w != "" && !filepath.IsAbs(w) {
				w = filepath.Join(filepath.FromSlash(cwd), w)
			}
			name, ok := inProject(dir, w)
			if !ok || seen[name] || wire.Operational(name) && !wire.Authored(name) || name == wire.ConfigPath {
				continue
			}
			seen[name] = true
			f, err := digestFile(root, name)
			if err != nil {
				return err
			}
			if f != nil {
				s.Files = append(s.Files, *f)
			}
		}
	}
	return nil
}

// inProject returns the project-relative path that a word of a command can mean.
func inProject(dir, word string) (string, bool) {
	if word == "" {
		return "", false
	}
	if filepath.IsAbs(word) {
		rel, err := filepath.Rel(dir, word)
		if err != nil {
			return "", false
		}
		word = rel
	}
	name := path.Clean(filepath.ToSlash(word))
	return name, name != "." && fs.ValidPath(name)
}

// digestFile describes a regular file, nil when there is none. It does not follow a link that leads
// out of the project: its target is this machine's, not a committed file's.
func digestFile(root *os.Root, name string) (*File, error) {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, projectfile.Unreadable(name, err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return nil, projectfile.Unreadable(name, err)
	}
	return &File{Path: name, SHA256: hex.EncodeToString(h.Sum(nil)), Size: n}, nil
}
