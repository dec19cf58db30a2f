// The content of a lock file, and whether its owner still holds it.

package git

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// LockOwner is the owner named in a lock file.
type LockOwner struct {
	Owner
	Acquired time.Time
	purpose  string
	Token    string // distinguishes two locks of one process
}

// FileLock is a lock as found on disk.
type FileLock struct {
	LockOwner
	Raw     []byte
	valid   bool      // it is a lock file at all
	ours    bool      // it carries our keys
	Written time.Time // by the clock of the file system
}

const LockTime = "2006-01-02T15:04:05.000Z"

// maxLockFile bounds what is read of a lock file, in bytes.
const maxLockFile = 64 << 10

// HostName is this machine's name, "" when it has none.
func HostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}

// NewOwner returns this process as the owner of a lock taken for purpose.
func NewOwner(purpose string) LockOwner {
	pid := os.Getpid()
	me := Owner{PID: pid, Started: process.Started(pid), Host: HostName(), Space: process.Space()}
	return LockOwner{Owner: me, purpose: purpose, Token: NewToken()}
}

// label names the owner in messages.
func (o LockOwner) label() string { return fmt.Sprintf("process %d (%s)", o.PID, o.purpose) }

// Encode writes the reference's two keys first, in its layout: indented by two, without a newline at the end
// (docs/spec/lifecycle.md#accepting-a-turn).
func (o LockOwner) Encode() []byte {
	b := ojson.Pretty(ojson.NewObject(
		"owner_pid", o.PID,
		"acquired_at", o.Acquired.UTC().Format(LockTime),
		"host", o.Host,
		"pid_space", o.Space,
		"started", o.Started,
		"purpose", o.purpose,
		"token", o.Token,
	))
	return b[:len(b)-1]
}

// DecodeOwner reads the owner from the object that Encode wrote; ok is false when it names no process.
func DecodeOwner(o *ojson.Object) (l LockOwner, ok bool) {
	l.PID, ok = o.Int("owner_pid")
	l.Acquired, _ = time.Parse(time.RFC3339, o.String("acquired_at"))
	l.Host, l.Space, l.Started = o.String("host"), o.String("pid_space"), o.String("started")
	l.purpose, l.Token = o.String("purpose"), o.String("token")
	return l, ok
}

// ReadLock reads a lock file; anything but a regular file is a NotRegularError, and it does not block on a pipe.
func ReadLock(path string) (*FileLock, error) {
	f, fi, err := openAt(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	l := &FileLock{Written: fi.ModTime()}
	if l.Raw, err = io.ReadAll(io.LimitReader(f, maxLockFile)); err != nil {
		return nil, err
	}
	o, err := ojson.DecodeObject(l.Raw)
	if err != nil {
		return l, nil //nolint:nilerr // a lock nobody can read is judged by its age
	}
	l.LockOwner, l.valid = DecodeOwner(o)
	l.ours = l.Token != ""
	return l, nil
}

// Held returns the holder of the lock, nil when it is free.
func (l *FileLock) Held(now time.Time) *LockedError {
	if !l.valid {
		// A torn write of the reference, or garbage. The reference takes over garbage at once; a moment's patience
		// costs nothing.
		if age := now.Sub(l.Written); age >= 0 && age < lockTornAge {
			return &LockedError{Purpose: "writing its lock", Age: age}
		}
		return nil
	}
	age := now.Sub(l.Acquired)
	if age < -lockMaxAge {
		// From the future: a clock was set back, or the content is fake. The file system's time is more reliable.
		age = now.Sub(l.Written)
	}
	h := &LockedError{PID: l.PID, Host: l.Host, Purpose: l.purpose, Age: max(age, 0)}
	young := !l.Acquired.IsZero() && age < lockMaxAge
	if l.ours && !l.here() {
		// Another machine or container: its process numbers mean nothing here, but its heartbeat does.
		return unless(!young, h)
	}
	if !process.Alive(l.PID) || process.Dead(l.PID) {
		return nil
	}
	if !l.ours {
		return unless(!young, h)
	}
	// A process of ours holds its lock at any age: it may be stopped, or its disk slow. Only a reused process
	// number ends it.
	return unless(l.Started != "" && process.Started(l.PID) != l.Started, h)
}

func unless(dead bool, h *LockedError) *LockedError {
	if dead {
		return nil
	}
	return h
}

// Owner identifies a process among the machines that share a disk.
type Owner struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // see process.Started
	Host    string `json:"host"`
	Space   string `json:"pid_space"` // process number space, see process.Space
}

// here reports whether its process number means anything here.
func (o Owner) here() bool { return o.Host == HostName() && o.Space == process.Space() }

// OfThisProcess reports whether this very process holds the lock.
func (l *FileLock) OfThisProcess() bool {
	return l.valid && l.ours && l.Owner == NewOwner("").Owner
}

// Dead reports whether the process has certainly ended.
func (o Owner) Dead() bool {
	return o.here() && (!process.Alive(o.PID) || process.Dead(o.PID) ||
		o.Started != "" && process.Started(o.PID) != o.Started)
}

// LockedError is the cause of a locked error.
type LockedError struct {
	PID     int
	Host    string        // "" when the owner did not say
	Purpose string        // "" when the owner did not say
	Age     time.Duration // since the lock was taken or renewed
}

func (e *LockedError) Error() string {
	s := "another process"
	if e.PID != 0 {
		s = fmt.Sprintf("process %d", e.PID)
	}
	if e.Host != "" && e.Host != HostName() {
		s += " on " + e.Host
	}
	if e.Purpose != "" {
		s += " (" + e.Purpose + ")"
	}
	return s + fmt.Sprintf(", renewed %s ago", e.Age.Round(time.Second))
}

const lockMaxAge = 30 * time.Second

// lockTornAge is how long an unreadable lock file is assumed to be a write in progress: the reference truncates
// before it writes.
const lockTornAge = time.Second

// NewToken returns an unguessable random name.
func NewToken() string { return rand.Text() }

// IsOpen reports whether a process of this system is known to have the file open; false where the system cannot
// tell.
func IsOpen(path string) bool {
	procs, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range procs {
		if target, err := os.Readlink(fd); err == nil && target == path {
			return true
		}
	}
	return false
}

// LockQuiet is how long a lock without contents must remain unchanged before it counts as left behind: git writes
// into a lock the moment it has created it.
const LockQuiet = 1200 * time.Millisecond

// RemoveLock removes a lock if it is still the file that was judged.
func RemoveLock(path string, judged fs.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(judged, now) {
		return nil // gone, or replaced by another process's lock
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.CodeRefLocked, err, "the lock %s was left behind and cannot be removed", path)
	}
	return nil
}
