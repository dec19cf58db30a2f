// Notes that repositories keep of the decisions they take part in: word for the next
// command there, and what makes a record speak for them.

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

// noteDir is where a repository keeps notes of decisions it takes part in, among our
// private files, and notesDir the same in its git directory.
const (
	noteDir  = "decisions"
	notesDir = git.PrivateName + "/" + noteDir
)

func NoteName(workspace string) string {
	return wire.SHA256([]byte(workspace))[:16]
}

// Note leaves word in the repositories that they take part, so that a command
// there settles the decision before it builds on a ref that is to move. The notes are
// durable before a ref is locked: a lock may outlive a power cut that nothing was synced for.
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

// inside gives the git directory to f, which a link in it cannot lead out of.
func (p *Participant) inside(f func(*os.Root) error) error {
	root, err := os.OpenRoot(p.GitDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return f(root)
}

// Noted reports whether the participant itself says that it takes part in a
// decision of the workspace. A record is a file that anybody may have put where it
// is found; only a repository's own note makes it speak for that repository.
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

// notedAt is when the note was written, by the clock of the file system.
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

// Relocate follows a workspace that was moved or copied, with its repositories or
// without them: one that is found at the same place relative to it and takes part
// is the one that is meant.
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
			continue // the original's, which settles it, or settled already
		}
		if err := d.note(p); err != nil {
			return err
		}
		p.forget(from)
	}
	return nil
}

// forget takes the participant's note away. A note that stays behind leads to no
// record, and the next command there removes it.
func (p *Participant) forget(workspace string) {
	_ = p.inside(func(root *os.Root) error {
		_ = root.Remove(notesDir + "/" + NoteName(workspace))
		return root.Remove(notesDir) // when it was the last
	})
}
