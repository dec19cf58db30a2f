// Marking the processes of a dispatched turn, and telling whether a process is one of them.

package turnmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// Variable is set to the turn's id in the environment of its processes.
const Variable = "AGENTXCHAIN_TURN_ID"

const (
	lockDir    = ".agentxchain/locks"
	filePrefix = "dispatch-"
	fileSuffix = ".lock"
)

// ErrHeld means that another process carries the turn out, or that an agent of one
// that is gone still works on it.
var ErrHeld = errors.New("another process is at work on the turn")

// Unknown stands for the turn of a process that counts as inside one while nothing
// tells which.
const Unknown = "unknown"

// Verdict says which turn a process belongs to.
type Verdict struct {
	Turn string // "" for none
	Why  string // when no mark names the turn: why the process counts as inside all the same
}

// Mark is the right to carry out a turn, and what its processes are known by.
type Mark struct {
	root *os.Root
	name string
	own  *os.File // closed in programs that are started
	heir *os.File // handed on to them; own itself where there is no other way

	// Found means that the mark lay there already: who had it before was killed, and
	// its agents may still be at work.
	Found bool
}

// held are the marks of this process: they do not make it part of a turn.
var held = struct {
	sync.Mutex
	files map[*os.File]string // the turn
}{files: make(map[*os.File]string)}

// heldTurns are the turns this process carries out itself.
func heldTurns() map[string]bool {
	held.Lock()
	defer held.Unlock()
	turns := make(map[string]bool, len(held.files))
	for _, turn := range held.files {
		turns[turn] = true
	}
	return turns
}

// heldFiles are the descriptors of the marks of this process.
func heldFiles() map[int]bool {
	held.Lock()
	defer held.Unlock()
	own := make(map[int]bool, len(held.files))
	for f := range held.files {
		own[int(f.Fd())] = true
	}
	return own
}

// Path is where the mark of a turn lies, project-relative.
func Path(turnID string) string { return lockDir + "/" + filePrefix + turnID + fileSuffix }

// Hold takes the mark of a turn below the project directory root, whose locks directory
// must exist. ErrHeld when another process has it.
func Hold(root *os.Root, turnID string) (*Mark, error) {
	name := Path(turnID)
	if path.Clean(name) != name || strings.ContainsAny(turnID, "/\\\x00") {
		return nil, fmt.Errorf("%q cannot be part of a file name", turnID)
	}
	for range 3 {
		if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file", name)
		}
		found := false
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			found = true
			f, err = root.OpenFile(name, os.O_RDWR|openFlags, 0)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		if heirs(f) {
			_ = f.Close()
			return nil, ErrHeld
		}
		// Its last holder may have removed it between opening and locking: a lock on a
		// file without a name guards nothing.
		mine, err1 := f.Stat()
		there, err2 := root.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			m := &Mark{
				root:  root,
				name:  name,
				own:   f,
				heir:  openHeir(root, name, f),
				Found: found,
			}
			held.Lock()
			defer held.Unlock()
			held.files[m.own], held.files[m.heir] = turnID, turnID
			return m, nil
		}
		_ = f.Close()
	}
	return nil, ErrHeld
}

// File is what programs of the turn are to be started with.
func (m *Mark) File() *os.File { return m.heir }

// Release gives the turn up. What still has the file open no longer holds it.
func (m *Mark) Release() {
	held.Lock()
	defer held.Unlock()
	if _, ok := held.files[m.own]; !ok {
		return
	}
	delete(held.files, m.own)
	delete(held.files, m.heir)
	_ = m.root.Remove(m.name)
	if m.heir != m.own {
		unlockHeir(m.heir)
		_ = m.heir.Close()
	}
	process.Unlock(m.own)
	_ = m.own.Close()
}

// List names the turns below root whose marks are held, and those whose marks a killed
// process left behind.
func List(root *os.Root) (held, left []string) {
	dir, err := root.Open(lockDir)
	if err != nil {
		return nil, nil
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		turn := turnOfFile("/" + lockDir + "/" + name)
		if turn == "" {
			continue
		}
		// Opened for itself, so that a lock of this very process counts too.
		f, err := root.OpenFile(lockDir+"/"+name, os.O_RDWR|openFlags, 0)
		if err != nil {
			left = append(left, turn) // whatever lies there, it is no mark of one that ended well
			continue
		}
		if errors.Is(lock(f), ErrHeld) || heirs(f) {
			held = append(held, turn)
		} else {
			left = append(left, turn)
		}
		_ = f.Close()
	}
	return held, left
}

// turnOfFile reads the turn off the name of an open file, "" when it is none of
// ours. A file that was removed shows as "<name> (deleted)".
func turnOfFile(name string) string {
	name = strings.TrimSuffix(name, " (deleted)")
	dir, base := path.Split(name)
	id, ok := strings.CutPrefix(base, filePrefix)
	if !ok || !strings.HasSuffix(dir, "/"+lockDir+"/") {
		return ""
	}
	id, ok = strings.CutSuffix(id, fileSuffix)
	if !ok {
		return ""
	}
	return id
}

// lock takes the lock of a turn. A file system without locks: the progress file has
// to do.
func lock(f *os.File) error {
	err := process.TryLock(f)
	switch {
	case errors.Is(err, process.ErrLocked):
		return ErrHeld
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	}
	return err
}
