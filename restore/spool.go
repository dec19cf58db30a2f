// The temporary file that holds the files of an artifact until everything before them is known; it may become the
// artifact itself.

package restore

import (
	"bufio"
	"io"
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

const (
	// headRoom is the space left free before the files in a spool that may become the artifact, for the members in
	// front of them; unused space is filled with white space.
	headRoom = 32 << 10
	// worthKeeping is the size from which an artifact is made in place: below that a copy costs nothing, and white
	// space would be in the way.
	worthKeeping = 8 << 20
	// writeAhead is after how many bytes the disk is asked to begin writing.
	writeAhead = 16 << 20
)

// spool is a temporary file that is written once and read any number of times. A nil spool is empty.
type spool struct {
	file    *os.File
	w       *bufio.Writer
	n       int64
	base    int64 // where it begins in the file
	begun   int64 // written to the disk up to here, or in progress
	inPlace bool  // it has no name and can be given one
}

// newSpool makes a spool in dir; inPlace for one that stays there, if possible.
func newSpool(dir string, inPlace bool) (*spool, error) {
	if inPlace {
		if f, err := durable.Nameless(dir); err == nil {
			if _, err := f.Seek(headRoom, io.SeekStart); err != nil {
				_ = f.Close()
				return nil, err
			}
			return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10), base: headRoom, inPlace: true}, nil
		}
	}
	f, err := os.CreateTemp(dir, ".agentxchain-export-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // if a file in use cannot be removed, Close removes it
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// Write only fails because of the disk, never because of the exported file.
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	if err != nil {
		err = temporary(err)
	}
	if s.inPlace && s.n-s.begun >= writeAhead {
		durable.StartWriting(s.file, s.base+s.begun, s.n-s.begun)
		s.begun = s.n
	}
	return n, err
}

// copyTo writes the whole content to w.
func (s *spool) copyTo(w io.Writer) error {
	if s == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return temporary(err)
	}
	if _, err := s.file.Seek(s.base, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, io.LimitReader(s.file, s.n)) // the kernel copies from file to file
	return err
}

// at returns a piece of the content.
func (s *spool) at(start int64, length int) ([]byte, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err := s.file.ReadAt(b, s.base+start)
	return b, err
}

// take turns the spool into an artifact by putting head before and tail after it, and gives the file away. It
// returns nil if that is not possible, and then nothing has changed.
func (s *spool) take(head, tail []byte, gap int) (*os.File, int64, error) {
	if s == nil || !s.inPlace || s.n < worthKeeping || len(head) > headRoom {
		return nil, 0, nil
	}
	if err := s.w.Flush(); err != nil {
		return nil, 0, temporary(err)
	}
	front := make([]byte, 0, headRoom)
	front = append(front, head[:gap]...)
	for range headRoom - len(head) {
		front = append(front, ' ')
	}
	front = append(front, head[gap:]...)
	end := s.base + s.n
	if _, err := s.file.WriteAt(front, 0); err != nil {
		return nil, 0, temporary(err)
	}
	if _, err := s.file.WriteAt(tail, end); err != nil {
		return nil, 0, temporary(err)
	}
	f := s.file
	s.file = nil
	return f, end + int64(len(tail)), nil
}

// Close removes the file.
func (s *spool) Close() {
	if s == nil || s.file == nil {
		return
	}
	if s.inPlace {
		_ = s.file.Close() // it has no name to remove
	} else {
		closeTemp(s.file)
	}
	s.file = nil
}
