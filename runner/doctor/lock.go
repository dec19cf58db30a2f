// The acceptance lock, and files that nothing needs any more.

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// lock distinguishes a held lock from an abandoned one. Only taking it proves that, by the same rules that
// every command follows (docs/spec/lifecycle.md#accepting-a-turn): so --fix takes it and releases it at once.
func (d *doctor) lock(ctx context.Context) {
	data, err := projectfile.Read(d.rec.Dir(), wire.LockPath, 64<<10)
	if err != nil {
		d.failed("lock", err, "look at "+wire.LockPath+" and move it away when no command is running")
		return
	}
	if data == nil {
		d.ok("lock", "the lock is free")
		return
	}
	owner, dead := describeLock(data)
	if !d.fix {
		if dead {
			d.add("lock", LevelWarning,
				"nothing to do, the next command takes it over; at once: git agentxchain doctor --fix",
				"%s left its lock behind: that process is gone", owner)
		} else {
			d.add("lock", LevelNote, "", "%s holds the lock", owner)
		}
		return
	}
	path := filepath.Join(d.rec.Dir(), filepath.FromSlash(wire.LockPath))
	l, err := lockfile.Acquire(ctx, path, "doctor", 0)
	var held *git.LockedError
	switch {
	case errors.As(err, &held):
		d.add("lock", LevelNote, "", "the lock is held by %s", held)
	case err != nil:
		d.failed("lock", err, "look at "+wire.LockPath)
	default:
		if err := l.Release(); err != nil {
			d.failed("lock", err, "git agentxchain doctor --fix")
			return
		}
		d.add("lock", LevelWarning, "removed the lock, whose owner is gone", "%s left its lock behind",
			owner).Mended = true
	}
}

// describeLock returns the owner that a lock file names, and whether it is plainly dead. That is
// for display only; nothing is removed because of it.
func describeLock(data []byte) (owner string, dead bool) {
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return "an unreadable owner", false
	}
	s := "an unnamed process"
	if pid, ok := o.Int("owner_pid"); ok {
		s = "process " + strconv.Itoa(pid)
		dead = onThisHost(o.String("host")) && !process.Alive(pid)
	}
	if h := o.String("host"); h != "" {
		s += " on " + h
	}
	if p := o.String("purpose"); p != "" {
		s += " (" + p + ")"
	}
	if at := o.String("acquired_at"); at != "" {
		s += ", since " + at
	}
	return s, dead
}

func onThisHost(name string) bool {
	here, err := os.Hostname()
	return name == "" || err == nil && name == here
}

// leftovers lists what ended turns and interrupted writes left. The doctor never removes any of it:
// it may be a user's work.
func (d *doctor) leftovers(context.Context) {
	v := d.out.View
	if v == nil || v.State == nil {
		return // without a state nothing can be called left over
	}
	active := v.State.ActiveTurns.Keys()
	for _, dir := range []string{wire.DispatchDir, wire.StagingDir} {
		for _, e := range d.list(dir) {
			p := dir + "/" + e.Name()
			switch {
			case p == wire.FlatStagingPath && len(active) > 0, e.IsDir() && slices.Contains(active, e.Name()):
			case e.IsDir():
				d.add("leftover", LevelNote, "rm -r "+shellWord(p)+", once you have looked at it",
					"%s belongs to no active turn", p)
			case p == wire.FlatStagingPath:
				d.add("leftover", LevelNote, "rm "+shellWord(p)+", once you have looked at it",
					"%s is staged, but no turn is active", p)
			}
		}
	}
	for _, p := range d.journals() {
		if d.fix {
			// It was there to be completed, and was not.
			d.add("leftover", LevelWarning, "look at it, and move it away when that tool is not running",
				"%s is the journal of another tool, and nothing in it can be completed", p)
			continue
		}
		d.add("leftover", LevelWarning, "any changing command completes it; at once: git agentxchain doctor --fix",
			"another tool was interrupted in an acceptance (%s)", p)
	}
	for _, e := range d.list(transactionsDir) {
		p := transactionsDir + "/" + e.Name()
		if e.IsDir() && strings.HasPrefix(e.Name(), "repair-") {
			d.add("leftover", LevelNote, "rm -r "+shellWord(p)+", once you have looked at it",
				"%s keeps files that a repair displaced", p)
		}
	}
}

// transactionsDir holds crash journals and what repairs displaced.
const transactionsDir = ".agentxchain/transactions"

// journals lists the acceptances another tool has prepared (docs/spec/lifecycle.md#accepting-a-turn).
func (d *doctor) journals() []string {
	var out []string
	const dir = transactionsDir + "/accept"
	for _, e := range d.list(dir) {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, dir+"/"+e.Name())
		}
	}
	return out
}

func (d *doctor) list(dir string) []fs.DirEntry {
	list, err := os.ReadDir(filepath.Join(d.rec.Dir(), filepath.FromSlash(dir)))
	if err != nil {
		return nil // absent, or not a directory: then nothing was left in it
	}
	return list
}
