// The sources of a turn's bundle.

package turnfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Input gathers the sources of a turn's bundle, at a time.
func Input(dir string, now time.Time, v *gitstore.View, s *run.State, x *run.Index, turn *run.Turn) dispatch.Input {
	root := files{dir}
	in := dispatch.Input{
		Config:         v.Config,
		State:          s,
		Index:          x,
		Turn:           turn,
		LastRow:        x.LastRow,
		OpenObjections: x.OpenObjections,
		Prompts:        make(map[string]string),
		Now:            wire.FormatTime(now),
		Exists:         root.isFile,
		Read:           root.readStart,
	}
	for _, l := range v.RepoDecisions {
		in.RepoDecisions = append(in.RepoDecisions, l.Row)
	}
	if path, ok := v.Config.Prompts.Get(turn.AssignedRole); ok && path != "" {
		text, problem := root.promptText(path)
		if problem != "" {
			in.PromptProblem = problem
		} else {
			in.Prompts[turn.AssignedRole] = text
		}
	}
	return in
}

// MaxPrompt bounds a role's prompt template, in bytes.
const MaxPrompt = 256 << 10

// files reads the files of the project in dir.
type files struct{ dir string }

// promptText reads a role's own instructions. It follows no path that leads out of the project, by
// its spelling or through a link; problem says why there is no text.
func (r files) promptText(path string) (text, problem string) {
	clean, why := wire.CleanPath(path)
	if why != "" {
		return "", "it does not name a file inside the project"
	}
	data, err := projectfile.Read(r.dir, clean, MaxPrompt)
	switch {
	case err != nil:
		return "", strings.TrimSuffix(err.Error(), ".")
	case data == nil:
		return "", "there is no such file"
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", "it is not UTF-8 text"
	}
	return string(data), ""
}

// isFile reports whether a path of the project is a regular file, also through a link that stays in
// the project.
func (r files) isFile(path string) bool {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readStart reads at most limit bytes of a project file for a preview. It follows no links at all:
// git keeps what a link says, not its target, and the target was never part of an accepted change.
func (r files) readStart(path string, limit int) ([]byte, bool) {
	data, err := r.readPart(path, int64(limit), false)
	return data, err == nil
}

// readPart reads the first or the last limit bytes of a regular file that no link
// leads to.
func (r files) readPart(path string, limit int64, end bool) ([]byte, error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	var info fs.FileInfo
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if info, err = root.Lstat(path[:i]); err != nil {
			return nil, err
		}
		if i < len(path) && !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	if info == nil || !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	// A pipe that replaces the file meanwhile does not block, and is noticed.
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(now, info) {
		return nil, fmt.Errorf("%s was replaced while it was being read", path)
	}
	if end && now.Size() > limit {
		if _, err := f.Seek(now.Size()-limit, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// maxLog bounds how much of a log is read for its excerpt, in bytes.
const maxLog = 512 << 10

// LastLog returns the end of the log of the last accepted turn, for a role that reviews
// (docs/bundles.md#what-is-in-it row 9e).
func LastLog(dir string, in dispatch.Input) []byte {
	role := in.Config.Role(in.Turn.AssignedRole)
	if role == nil || role.WriteAuthority != wire.ReviewOnly {
		return nil
	}
	kept := dispatch.AcceptedLog(in.LastRow.String("turn_id"))
	if kept == "" {
		return nil
	}
	data, err := files{dir}.readPart(kept, maxLog, true)
	if err != nil {
		return nil
	}
	return data
}
