// A ledger read as it grows: the places of its rows and the little that lists need.

package dashboard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Bounds on what is read. The author of the files may be hostile.
const (
	maxRow      = 16 << 20 // bytes of a row
	maxRows     = 4_000_000
	maxText     = 240     // bytes of a row's text that are kept for lists
	maxBad      = 100     // findings that are kept
	tailChecked = 1 << 20 // bytes of the end that are compared before more is read
	tailLines   = 4096    // and lines
)

// span is a line of the file, whether a row or not.
type span struct {
	off  int64
	size int
	hash uint64
}

// entry is a row of a ledger: its place in the file and what lists show of it.
type entry struct {
	off  int64
	size int32
	hash uint64

	Time                           time.Time
	ID, Kind, Turn, Run            string
	Role, Phase, Status, Text, Ref string // Ref is a gate, a hook or another subject of the row

	fact *timeline.Fact // for the picture of the run; nil when it shows nothing of the row
}

// badLine is a line that is not a row.
type badLine struct {
	Line int // from 1
	Why  string
}

// ledger is a JSONL file that grows. Rows are decoded once; their bytes stay in the file. It is
// safe for concurrent use.
type ledger struct {
	name   string // relative to the root, slash-separated
	root   *os.Root
	digest func(*ojson.Object, *entry)

	mu     sync.RWMutex
	rows   []entry
	byTurn map[string]int // turn -> its last row
	bad    []badLine
	badAll int // including those that are not kept
	lines  int
	size   int64 // bytes that were read: whole lines
	tail   []span
	file   os.FileInfo
	seed   maphash.Seed
	words  map[string]string // one copy of each role, phase and the like
}

func newLedger(root *os.Root, name string, digest func(*ojson.Object, *entry)) *ledger {
	return &ledger{name: name, root: root, digest: digest, seed: maphash.MakeSeed()}
}

// refresh reads what is new. A replaced file, or one whose end has changed (rows may be amended in
// place), is read again from the start.
func (l *ledger) refresh() error {
	f, fi, err := openRegular(l.root, l.name)
	if err != nil || f == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reset()
		return err
	}
	defer func() { _ = f.Close() }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && os.SameFile(l.file, fi) && l.file.Size() == fi.Size() && l.file.ModTime().Equal(fi.ModTime()) {
		return nil
	}
	if l.file == nil || !os.SameFile(l.file, fi) || fi.Size() < l.size || !l.sameEnd(f) {
		l.reset()
	}
	l.file = fi
	return l.read(io.NewSectionReader(f, l.size, fi.Size()-l.size))
}

func (l *ledger) reset() {
	l.rows, l.bad, l.badAll, l.lines, l.size, l.file, l.tail = nil, nil, 0, 0, 0, nil, nil
	l.byTurn, l.words = make(map[string]int), make(map[string]string)
}

// sameEnd compares the last lines that were read with the file.
func (l *ledger) sameEnd(f io.ReaderAt) bool {
	var buf []byte
	for i := len(l.tail) - 1; i >= 0 && l.tail[i].off > l.size-tailChecked; i-- {
		s := l.tail[i]
		if cap(buf) < s.size {
			buf = make([]byte, s.size)
		}
		buf = buf[:s.size]
		if _, err := f.ReadAt(buf, s.off); err != nil || maphash.Bytes(l.seed, buf) != s.hash {
			return false
		}
	}
	return true
}

// keep notes a line, line feed included, for sameEnd.
func (l *ledger) keep(line []byte) {
	if len(l.tail) >= 2*tailLines {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-tailLines:]...)
	}
	l.tail = append(l.tail, span{l.size, len(line), maphash.Bytes(l.seed, line)})
}

// read reads whole lines; a last one without a line feed is still being written.
func (l *ledger) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var line []byte
	for {
		line = line[:0]
		long := int64(0)
		for {
			piece, err := in.ReadSlice('\n')
			if len(line)+len(piece) <= maxRow && long == 0 {
				line = append(line, piece...)
			} else {
				long += int64(len(line) + len(piece))
				line = line[:0]
			}
			if err == nil {
				break
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return err
			}
		}
		l.lines++
		if long > 0 {
			l.refuse("it is longer than a row can be")
			l.size += long
			continue
		}
		l.keep(line)
		l.take(bytes.TrimRight(line, "\r\n"))
		l.size += int64(len(line))
	}
}

// take decodes one line that begins at l.size.
func (l *ledger) take(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	row, err := agentrun.DecodeLedgerLine(text)
	if err == nil && len(l.rows) >= maxRows {
		err = errors.New("the ledger has more rows than are shown")
	}
	if err != nil {
		l.refuse(err.Error())
		return
	}
	e := entry{off: l.size, size: int32(len(text)), hash: maphash.Bytes(l.seed, text)}
	l.digest(row, &e)
	for _, word := range []*string{&e.Kind, &e.Run, &e.Role, &e.Phase, &e.Status, &e.Ref} {
		*word = l.word(*word)
	}
	e.ID, e.Turn, e.Text = strings.Clone(cut(e.ID, maxText)), strings.Clone(cut(e.Turn, maxText)),
		strings.Clone(cut(e.Text, maxText))
	if e.Turn != "" {
		l.byTurn[e.Turn] = len(l.rows)
	}
	l.rows = append(l.rows, e)
}

func (l *ledger) refuse(why string) {
	l.badAll++
	if len(l.bad) < maxBad {
		l.bad = append(l.bad, badLine{l.lines, why})
	}
}

// word returns the shared copy of a text that many rows have.
func (l *ledger) word(s string) string {
	s = cut(s, maxText)
	if s == "" {
		return ""
	}
	if have, ok := l.words[s]; ok {
		return have
	}
	s = strings.Clone(s)
	if len(l.words) < 10_000 {
		l.words[s] = s
	}
	return s
}

// entries returns the present rows. The slice is only ever appended to.
func (l *ledger) entries() []entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clip(l.rows)
}

// ofTurn returns the last row of a turn.
func (l *ledger) ofTurn(turn string) (entry, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, ok := l.byTurn[turn]
	if !ok {
		return entry{}, false
	}
	return l.rows[i], true
}

// findings returns the first of the lines that are not rows, and their number.
func (l *ledger) findings() ([]badLine, int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clip(l.bad), l.badAll
}

// exists reports whether there was a file when it was last read.
func (l *ledger) exists() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.file != nil
}

// errChanged says that a row has moved: the ledger was written since.
var errChanged = errors.New("the ledger has changed in between; look again")

// each calls f with the bytes of rows, one after the other, until f returns false.
func (l *ledger) each(rows []entry, f func(raw []byte) bool) error {
	if len(rows) == 0 {
		return nil
	}
	file, _, err := openRegular(l.root, l.name)
	if err != nil {
		return err
	}
	if file == nil {
		return errChanged
	}
	defer func() { _ = file.Close() }()
	var buf []byte
	for i := range rows {
		e := &rows[i]
		if cap(buf) < int(e.size) {
			buf = make([]byte, max(int(e.size), 4096))
		}
		buf = buf[:e.size]
		if _, err := file.ReadAt(buf, e.off); err != nil || maphash.Bytes(l.seed, buf) != e.hash {
			return errChanged
		}
		if !f(buf) {
			return nil
		}
	}
	return nil
}

// row decodes one row.
func (l *ledger) row(e entry) (*ojson.Object, error) {
	var out *ojson.Object
	var derr error
	err := l.each([]entry{e}, func(raw []byte) bool {
		out, derr = agentrun.DecodeLedgerLine(bytes.Clone(raw))
		return true
	})
	return out, errors.Join(err, derr)
}

// openRegular opens a plain file below root, nil without error when it is absent. Anything else,
// such as a pipe or a device, is an error and never waited for.
func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	fi, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !fi.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is not a plain file", name)
	}
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if fi, err = f.Stat(); err != nil || !fi.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, fmt.Errorf("%s is not a plain file", name)
	}
	return f, fi, nil
}

// readSmall reads a plain file of at most limit bytes; nil without error when it is
// absent.
func readSmall(root *os.Root, name string, limit int64) ([]byte, error) {
	f, fi, err := openRegular(root, name)
	if err != nil || f == nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if fi.Size() > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}
