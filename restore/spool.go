// Where the files of an artifact wait until everything that comes before them is
// known.

package restore

import (
	"bufio"
	"io"
	"os"
)

// spool is a temporary file that is written once and read any number of times. A
// nil one is empty.
type spool struct {
	file *os.File
	w    *bufio.Writer
	n    int64
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, ".agentxchain-export-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where a file in use cannot go, Close removes it
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}

// copyTo writes everything that was written to w.
func (s *spool) copyTo(w io.Writer) error {
	if s == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	_, err := io.CopyBuffer(w, onlyReader{io.NewSectionReader(s.file, 0, s.n)}, make([]byte, 256<<10))
	return err
}

// onlyReader hides other methods, so that copying uses the buffer it is given.
type onlyReader struct{ io.Reader }

// at returns a piece of what was written.
func (s *spool) at(start int64, length int) ([]byte, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err := s.file.ReadAt(b, start)
	return b, err
}

// Close removes the file.
func (s *spool) Close() {
	if s != nil && s.file != nil {
		closeTemp(s.file)
		s.file = nil
	}
}
