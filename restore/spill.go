// A buffer for data that is read again: in memory first, then in a temporary file.

package restore

import (
	"bytes"
	"errors"
	"io"
	"os"
)

var (
	errTooLarge = errors.New("the artifact is larger than can be read")
	errSpill    = errors.New(
		"the artifact needs more temporary disk space than is allowed: its members are in another order than exporters write")
)

// spillMemory is how much is kept in memory.
const spillMemory = 1 << 20

// spill keeps what is written to it. Close removes it.
type spill struct {
	max  int64
	n    int64
	mem  bytes.Buffer
	file *os.File
}

func (s *spill) Write(p []byte) (int, error) {
	if s.n += int64(len(p)); s.n > s.max {
		return 0, errSpill
	}
	if s.file == nil && s.mem.Len()+len(p) > spillMemory {
		f, err := tempFile()
		if err != nil {
			return 0, err
		}
		s.file = f
		if _, err := f.Write(s.mem.Bytes()); err != nil {
			return 0, err
		}
		s.mem.Reset()
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.mem.Write(p)
}

// reader returns what was written, from the start.
func (s *spill) reader() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.mem.Bytes()), nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, err
}

func (s *spill) Close() {
	if s.file != nil {
		closeTemp(s.file)
		s.file = nil
	}
}

// tempFile creates a file that disappears when it is closed, or at the latest with closeTemp where files in use
// cannot be removed.
func tempFile() (*os.File, error) {
	f, err := os.CreateTemp("", "agentxchain-artifact-")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

func closeTemp(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
