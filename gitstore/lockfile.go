// The content of a lock file, and the judgement whether its owner holds it.
package gitstore

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// lockOwner is what a lock file says about its owner.
type lockOwner struct {
	pid      int
	acquired time.Time
	host     string
	space    string // process number space, see process.Space
	started  string // see process.Started
	purpose  string
	token    string // tells two locks of one process apart
}

// lockFile is a lock as found on disk.
type lockFile struct {
	lockOwner
	raw    []byte
	valid  bool // it is a lock file at all
	ours   bool // it carries our keys
	modify time.Time
}

const lockTime = "2006-01-02T15:04:05.000Z"

// maxLockFile bounds what is read of a lock file, in bytes.
const maxLockFile = 64 << 10

func hostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}

func newOwner(purpose string) lockOwner {
	pid := os.Getpid()
	return lockOwner{
		pid: pid, host: hostName(), space: process.Space(), started: process.Started(pid),
		purpose: purpose, token: newToken(),
	}
}

// encode writes the reference's two keys first, in its layout: indented by
// two, no newline at the end (spec/01 §6.2).
func (o lockOwner) encode() []byte {
	b := ojson.Pretty(ojson.NewObject(
		"owner_pid", o.pid,
		"acquired_at", o.acquired.UTC().Format(lockTime),
		"host", o.host,
		"pid_space", o.space,
		"started", o.started,
		"purpose", o.purpose,
		"token", o.token,
	))
	return b[:len(b)-1]
}

func readLock(path string) (*lockFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	l := &lockFile{modify: fi.ModTime()}
	if l.raw, err = io.ReadAll(io.LimitReader(f, maxLockFile)); err != nil {
		return nil, err
	}
	o, err := ojson.DecodeObject(l.raw)
	if err != nil {
		return l, nil //nolint:nilerr // a lock nobody can read is judged by its age
	}
	l.pid, l.valid = o.Int("owner_pid")
	l.acquired, _ = time.Parse(time.RFC3339, o.String("acquired_at"))
	l.host, l.space, l.started = o.String("host"), o.String("pid_space"), o.String("started")
	l.purpose, l.token = o.String("purpose"), o.String("token")
	l.ours = l.token != ""
	return l, nil
}

// held returns who holds the lock, nil when nobody does.
func (l *lockFile) held(now time.Time) *LockedError {
	if !l.valid {
		// A torn write of the reference, or garbage. Its own rule is to take
		// garbage over at once; a moment's patience costs nothing.
		if age := now.Sub(l.modify); age >= 0 && age < lockTornAge {
			return &LockedError{Purpose: "writing its lock", Age: age}
		}
		return nil
	}
	age := now.Sub(l.acquired)
	if age < -lockMaxAge {
		// From the future: a clock was set back, or the file is made up. The
		// file system's time is the better witness.
		age = now.Sub(l.modify)
	}
	h := &LockedError{PID: l.pid, Host: l.host, Purpose: l.purpose, Age: max(age, 0)}
	young := !l.acquired.IsZero() && age < lockMaxAge
	if l.ours && (l.host != hostName() || l.space != process.Space()) {
		// Another machine or container: its process numbers mean nothing here,
		// but its heartbeat does.
		return unless(!young, h)
	}
	if !process.Alive(l.pid) || process.Dead(l.pid) {
		return nil
	}
	if !l.ours {
		return unless(!young, h)
	}
	// Our kind holds its lock however old: the process may be stopped, or its
	// disk slow. Only a reused process number ends it.
	return unless(l.started != "" && process.Started(l.pid) != l.started, h)
}

func unless(dead bool, h *LockedError) *LockedError {
	if dead {
		return nil
	}
	return h
}
