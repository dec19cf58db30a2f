// The log of a dispatch: the agent's output without secrets, bounded (docs/runtimes.md).

package driver

import (
	"fmt"
	"io"
	"os"
	"path"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
)

const (
	logLimit = 8 << 20 // bytes a log may have on disk
	logHead  = 64 << 10
	logTail  = 2 << 20
)

// logFile is a writer that never fails: an agent must not notice that its output cannot be kept.
// Past its limit it keeps beginning and end.
type logFile struct {
	secrets secrets.Writer // before the file

	mu      sync.Mutex
	f       *os.File // nil when the log cannot be written
	size    int64
	dropped int64
}

// openLog starts the log of a dispatch in the bundle directory, where the seal allows for it. It
// replaces the file of an earlier attempt and never follows a link. Only its owner can read it: an
// agent may print anything. known are values that must not be in it.
func openLog(root *os.Root, turnID string, known []string) *logFile {
	l := &logFile{}
	l.secrets = secrets.Writer{To: unredacted{l}, Known: known}
	dir := dispatch.BundleDir(turnID)
	if dir == "" {
		return l
	}
	name := path.Join(dir, dispatch.LogFile)
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		_ = root.Remove(name)
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		l.f = f
	}
	return l
}

func (l *logFile) Write(p []byte) (int, error) { return l.secrets.Write(p) }

// unredacted is the log behind the filter for secrets.
type unredacted struct{ l *logFile }

func (u unredacted) Write(p []byte) (int, error) {
	l := u.l
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	if l.f == nil {
		return n, nil
	}
	if len(p) > logTail {
		l.dropped += int64(len(p) - logTail)
		p = p[len(p)-logTail:]
	}
	if l.size+int64(len(p)) > logLimit {
		l.shorten()
	}
	k, _ := l.f.WriteAt(p, l.size)
	l.size += int64(k)
	return n, nil
}

// shorten keeps the beginning and the end of the log.
func (l *logFile) shorten() {
	tail := make([]byte, logTail)
	k, err := l.f.ReadAt(tail, max(logHead, l.size-logTail))
	if err != nil && err != io.EOF {
		k = 0
	}
	l.dropped += l.size - logHead - int64(k)
	note := fmt.Sprintf("\n[adapter:diag] log_shortened {\"dropped_bytes\":%d}\n", l.dropped)
	l.size = logHead
	for _, part := range [][]byte{[]byte(note), tail[:k]} {
		m, _ := l.f.WriteAt(part, l.size)
		l.size += int64(m)
	}
	_ = l.f.Truncate(l.size)
}

func (l *logFile) close() {
	_ = l.secrets.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}
