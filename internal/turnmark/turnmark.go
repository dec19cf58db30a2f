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

// Variable is the environment variable with the turn's id in its processes.
const Variable = "AGENTXCHAIN_TURN_ID"

const (
	lockDir    = ".agentxchain/locks"
	filePrefix = "dispatch-"
	fileSuffix = ".lock"
)

// ErrHeld means that another process carries out the turn, or that an agent of one that is gone still works on it.
var ErrHeld = errors.New("another process is at work on the turn")

// Unknown is the turn of a process that counts as inside although nothing says which turn it is.
const Unknown = "unknown"

// Verdict says which turn a process belongs to.
type Verdict struct {
	Turn string // "" for none
	Why  string // if no mark names the turn: why the process nevertheless counts as inside
}

// Mark is the right to carry out a turn, and what its processes are recognised by.
type Mark struct {
	root *os.Root
	name string
	own  *os.File // closed on exec
	heir *os.File // inherited by programs; own itself if there is no other way

	// Found means that the mark existed already: its previous owner was killed, and its agents may still be at
	// work.
	Found bool
}

// held lists the marks of this process: they do not make it part of a turn.
var held = struct {
	sync.Mutex
	files map[*os.File]string // the turn
}{files: make(map[*os.File]string)}

// heldTurns returns the turns that this process itself carries out.
func heldTurns() map[string]bool {
	held.Lock()
	defer held.Unlock()
	turns := make(map[string]bool, len(held.files))
	for _, turn := range held.files {
		turns[turn] = true
	}
	return turns
}

// heldFiles returns the descriptors of the marks of this process.
func heldFiles() map[int]bool {
	held.Lock()
	defer held.Unlock()
	own := make(map[int]bool, len(held.files))
	for f := range held.files {
		own[int(f.Fd())] = true
	}
	return own
}

// Path returns the path of a turn's mark, project-relative.
func Path(turnID string) string { return lockDir + "/" + filePrefix + turnID + fileSuffix }

// Hold takes the mark of a turn below the project directory root, whose locks directory must exist. It returns
// ErrHeld when another process has the mark.
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
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
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
		// Its last holder may have removed it between opening and locking: a lock on an unnamed file guards
		// nothing.
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

// File returns the file that the turn's programs must inherit.
func (m *Mark) File() *os.File { return m.heir }

// Release gives the turn up. Processes that still have the file open no longer hold it.
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

// List returns the turns below root whose marks are held, and those whose marks a killed process left behind.
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
		// Opened separately, so that this process's own lock counts too.
		f, err := root.OpenFile(lockDir+"/"+name, os.O_RDWR|openFlags, 0)
		if err != nil {
			left = append(left, turn) // whatever it is, it is not the mark of a turn that ended normally
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

// turnOfFile reads the turn from the name of an open file, "" when it is not one of ours. A removed file appears as
// "<name> (deleted)".
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

// lock takes the lock of a turn. On a file system without locks the progress file must suffice.
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
