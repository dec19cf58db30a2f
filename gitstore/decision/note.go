// Notes in repositories about the decisions they take part in. They alert the next command there, and a record
// counts for a repository only with its note.

package decision

import (
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// noteDir is the directory of a repository's notes of decisions, among our private files, and notesDir is the same
// directory relative to the git directory.
const (
	noteDir  = "decisions"
	notesDir = git.PrivateName + "/" + noteDir
)

func NoteName(workspace string) string {
	return wire.SHA256([]byte(workspace))[:16]
}

// Note writes a note to each participating repository, so that a command there settles the decision before it
// builds on a ref that is to move. The notes are durable before a ref is locked: a lock may survive a power cut
// even if nothing was synced.
func (d *Decision) Note() error {
	for i := range d.Participants {
		if err := d.note(&d.Participants[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decision) note(p *Participant) error {
	root, err := git.OpenPrivate(p.GitDir, noteDir, true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return durable.WriteFileRoot(root, NoteName(d.Workspace), []byte(d.Workspace), 0o666)
}

// inside calls f with the git directory, confined so that no link in it leads out.
func (p *Participant) inside(f func(*os.Root) error) error {
	root, err := os.OpenRoot(p.GitDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return f(root)
}

// Noted reports whether the participant has its own note of a decision of the workspace. Anyone may have put a
// record where it is found; only a repository's own note makes the record count for it.
func (p *Participant) Noted(workspace string) (yes bool) {
	_ = p.inside(func(root *os.Root) error {
		data, _, ok, err := (&workdir.Dir{
			Path: p.GitDir,
			Root: root,
		}).Read(notesDir+"/"+NoteName(workspace), git.MaxPointer)
		yes = err == nil && ok && string(data) == workspace
		return nil
	})
	return yes
}

// notedAt returns when the note was written, by the clock of the file system.
func (p *Participant) notedAt(workspace string) (at time.Time, ok bool) {
	_ = p.inside(func(root *os.Root) error {
		fi, err := root.Lstat(notesDir + "/" + NoteName(workspace))
		if ok = err == nil; ok {
			at = fi.ModTime()
		}
		return err
	})
	return at, ok
}

// Relocate follows a workspace that was moved or copied, with or without its repositories: a repository at the same
// place relative to the workspace that takes part in the decision is the one meant.
func (d *Decision) Relocate(workspace string) error {
	from := d.Workspace
	_, err := os.Lstat(filepath.Join(from, filepath.FromSlash(DecisionFile)))
	copied := err == nil
	d.Workspace = workspace
	for i := range d.Participants {
		p := &d.Participants[i]
		moved := *p
		rel, err := filepath.Rel(from, p.GitDir)
		if err == nil {
			moved.GitDir = filepath.Join(workspace, rel)
		}
		switch {
		case err == nil && moved.Noted(from):
			p.GitDir = moved.GitDir
		case copied || !p.Noted(from):
			continue // this is the original's, which settles it, or settled already
		}
		if err := d.note(p); err != nil {
			return err
		}
		p.forget(from)
	}
	return nil
}

// forget removes the participant's note. A note that stays behind leads to no record, and the next command there
// removes it.
func (p *Participant) forget(workspace string) {
	_ = p.inside(func(root *os.Root) error {
		_ = root.Remove(notesDir + "/" + NoteName(workspace))
		return root.Remove(notesDir) // only succeeds for the last note
	})
}
