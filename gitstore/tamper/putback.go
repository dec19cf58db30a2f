// Detecting and undoing an agent's changes to git's settings.

package tamper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// Tampering lists the changes found when a turn was concluded.
type Tampering struct {
	Changes []string // what was restored, each a clause
	Notes   []string // what was left as it is: ordinary work, or not this program's to judge
	Kept    string   // project-relative directory with the changed versions, "" when there are none
	Moved   string   // the note about a HEAD on another branch: later commits go there

	files []string // files to restore
}

func (t *Tampering) String() string {
	const most = 8
	if n := len(t.Changes); n > most {
		return strings.Join(t.Changes[:most], "; ") + fmt.Sprintf("; and %d more", n-most)
	}
	return strings.Join(t.Changes, "; ")
}

func (t *Tampering) change(format string, args ...any) {
	t.Changes = append(t.Changes, fmt.Sprintf(format, args...))
}

func (t *Tampering) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// Forget ends the watch over a turn.
func (s *Watch) Forget(d *Note) error {
	if err := os.Remove(s.path(d.Turn)); err != nil && !git.Absent(err) {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return nil
}

// Settle is Forget for a turn whose process was killed: the next process to carry it out learns that it was
// checked.
func (s *Watch) Settle(d *Note) error {
	name := s.path(d.Turn)
	if err := os.Rename(name, name+settledSuffix); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return nil
}

const settledSuffix = ".settled"

// Announce notes that a turn is about to be dispatched for the first time: a driver that is killed before it has
// noted git's settings has had no agent yet.
func (s *Watch) Announce(turn string) error {
	if !record.SafeName(turn) {
		return nil
	}
	name := s.path(turn) + settledSuffix
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = git.MakeDir(s.dir); err == nil {
			f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
}

// Settled reports whether there is nothing to conclude for a turn.
func (s *Watch) Settled(turn string) bool {
	if !record.SafeName(turn) {
		return false
	}
	fi, err := os.Lstat(s.path(turn) + settledSuffix)
	return err == nil && fi.Mode().IsRegular()
}

// ForgetSettled forgets that a turn was settled.
func (s *Watch) ForgetSettled(turn string) {
	if record.SafeName(turn) {
		_ = os.Remove(s.path(turn) + settledSuffix)
	}
}

// PutBack compares git's current settings with the note, and restores what an agent must not change. It keeps the
// changed versions. It checks the configuration and the hooks before it starts git. If the whole repository is gone
// it creates nothing.
func (s *Watch) PutBack(ctx context.Context, d *Note) (*Tampering, error) {
	if err := s.repo.There(); err != nil {
		return nil, err
	}
	now, err := s.lookFiles(d.hooks)
	if err != nil {
		return nil, fail.Errorf(CodeGitTampered, err,
			"git's configuration and hooks cannot be compared with those at the beginning of turn %s", d.Turn)
	}
	t := d.compareFiles(now)
	if len(t.files) > 0 {
		if t.Kept, err = s.work.KeepDir("git-", s.now()); err != nil {
			return nil, err
		}
	}
	for _, name := range t.files {
		if err := s.putBackFile(name, d.file(name), now.files[name], t.Kept); err != nil {
			return nil, fail.Errorf(CodeGitTampered, err,
				"%s was changed while an agent was at work, and cannot be put back", name)
		}
	}
	if err := s.lookRefs(ctx, now); err != nil {
		return nil, err
	}
	if err := s.putBackRefs(ctx, d, now, t); err != nil {
		return nil, err
	}
	return t, s.putBackFlags(ctx, d, now, t)
}

// Peek compares the notes whose processes are gone, without changing anything, and returns the turns with what was
// found.
func (s *Watch) Peek() (map[string]*Tampering, error) {
	all, err := s.notes()
	out := make(map[string]*Tampering)
	for _, d := range all {
		if d.alive() {
			continue
		}
		now, err := s.lookFiles(d.hooks)
		if err != nil {
			return nil, err
		}
		out[d.Turn] = d.compareFiles(now)
	}
	return out, err
}

// AllLeft returns the notes of turns whose processes were killed before they concluded them.
func (s *Watch) AllLeft() ([]*Note, error) {
	all, err := s.notes()
	return slices.DeleteFunc(all, (*Note).alive), err
}

// compareFiles compares configuration, hooks and the files of info with the note.
func (d *Note) compareFiles(now *Note) *Tampering {
	t := &Tampering{}
	names := maps.Clone(d.files)
	for _, name := range slices.Sorted(maps.Keys(now.files)) {
		// New files count below a watched directory, parents first. Files that a new setting includes do not: the
		// setting counts.
		if up, ok := names[filepath.Dir(name)]; ok && !up.conf {
			names[name] = watched{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was := d.file(name)
		is, ok := now.files[name]
		if !ok {
			var err error
			if is, err = lookAt(name); err != nil {
				is = watched{kind: "other"}
			}
			now.files[name] = is
		}
		switch {
		case was.kind == is.kind && (was.kind == "dir" || was.kind == "other" || was.kind == "none"):
		case was.kind == "none" && is.kind == "dir": // its contents count instead
		case was.conf && (is.kind == "file" || is.kind == "none"):
			t.config(name, was, is)
		case was.kind == is.kind && bytes.Equal(was.data, is.data) && was.mode&0o111 == is.mode&0o111:
		case filepath.Base(name) == "refs" && filepath.Base(filepath.Dir(name)) == "info":
			// A listing that git writes for dumb servers.
		case filepath.Base(name) == "shallow" && was.kind == "file":
			t.note("%s changed", name)
		default:
			how := "changed"
			if was.kind == "none" {
				how = "made"
			} else if is.kind == "none" {
				how = "removed"
			}
			t.change("%s was %s", name, how)
			t.files = append(t.files, name)
		}
	}
	return t
}

// file returns the noted state of a file; one that was not noted did not exist.
func (d *Note) file(name string) watched {
	if e, ok := d.files[name]; ok {
		return e
	}
	return watched{kind: "none"}
}

// putBackFile restores one file after copying the current one.
func (s *Watch) putBackFile(name string, was, is watched, keep string) error {
	rel := "other/" + strings.TrimLeft(filepath.ToSlash(name), "/")
	if r, err := filepath.Rel(s.repo.GitDir, name); err == nil && filepath.IsLocal(r) {
		rel = filepath.ToSlash(r)
	} else if r, err := filepath.Rel(s.repo.CommonDir, name); err == nil && filepath.IsLocal(r) {
		rel = filepath.ToSlash(r)
	}
	switch is.kind {
	case "file", "link":
		// A copy: the git directory may be on another file system.
		kept := path.Join(keep, rel)
		if err := s.work.Mkdirs(path.Dir(kept)); err != nil {
			return err
		}
		if err := durable.WriteFileRoot(s.work.Root, kept, is.data, 0o600); err != nil {
			return err
		}
	case "dir", "other":
		aside, err := freeName(name + ".kept-agentxchain")
		if err == nil {
			err = os.Rename(name, aside)
		}
		if err != nil {
			return err
		}
	}
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	if was.kind != "none" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	switch was.kind {
	case "none":
		if err := os.Remove(name); err != nil && !git.Absent(err) {
			return err
		}
		if err := durable.SyncDir(dir); err != nil && !git.Absent(err) {
			return err
		}
		return nil
	case "dir":
		if is.kind == "file" || is.kind == "link" {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
		return os.MkdirAll(name, 0o777)
	case "link":
		if err := os.Remove(name); err != nil && !git.Absent(err) {
			return err
		}
		return errors.Join(os.Symlink(string(was.data), name), durable.SyncDir(dir))
	case "file":
		data := was.data
		if was.conf && is.kind == "file" {
			data = withHarmless(was.data, is.data)
		}
		if err := durable.WriteFile(dir, base, data, was.mode); err != nil {
			return err
		}
		return os.Chmod(name, was.mode)
	}
	return fmt.Errorf("it was a %s, which was not kept", was.kind)
}

func freeName(base string) (string, error) {
	for n := range 100 {
		name := base
		if n > 0 {
			name += "-" + strconv.Itoa(n)
		}
		if _, err := os.Lstat(name); git.Absent(err) {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s is already there", base)
}
