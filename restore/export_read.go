// Reading the files of an artifact: one is read, hashed and checked while its predecessor is written.

package restore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

const (
	// maxExportFile is the maximum length of a file that verifiers read.
	maxExportFile = 2 << 30
	// besideOthers is the maximum length of a file that is read while another is in memory, so that two large files
	// never take memory at once.
	besideOthers = 4 << 20
)

// fileRead is one file, read once.
type fileRead struct {
	path    string
	err     error // if it cannot be read
	content []byte
	digest  [sha256.Size]byte
	compact []byte // a document without its white space; nil if it is large or not strict
	total   int    // entries of JSON lines
	strict  bool   // strict readers accept it as JSON
	wrong   error  // why it does not match its name
}

// readFiles reads files in order and passes each to take; its memory is reused when take returns. It returns the
// first error of take.
func readFiles(root *os.Root, paths []string, take func(f *fileRead) error) error {
	free, full, stop := make(chan *fileRead, 2), make(chan *fileRead), make(chan struct{})
	free <- &fileRead{}
	free <- &fileRead{}
	go func() {
		defer close(full)
		for _, path := range paths {
			f := <-free
			select {
			case <-stop:
				return
			default:
			}
			var other *fileRead
			if fi, err := root.Stat(path); err == nil && fi.Size() > besideOthers {
				// The previous file must be written first. Keep the larger of the two buffers.
				if other = <-free; cap(other.content) > cap(f.content) {
					f, other = other, f
				}
				other.content, other.compact = nil, nil
			}
			f.read(root, path)
			if other != nil {
				free <- other
			}
			select {
			case full <- f:
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		for range full { // until the reader is done
			free <- &fileRead{}
		}
	}()
	for f := range full {
		if err := take(f); err != nil {
			free <- f
			return err
		}
		free <- f
	}
	return nil
}

func (f *fileRead) read(root *os.Root, path string) {
	f.path, f.compact, f.total, f.strict, f.wrong = path, f.compact[:0], 0, false, nil
	if f.err = f.load(root); f.err != nil {
		return
	}
	f.digest = sha256.Sum256(f.content)
	switch formatOf(path) {
	case formatJSON:
		if len(f.content) <= besideOthers {
			b := bytes.NewBuffer(f.compact)
			r := scan.Bytes(f.content, scan.Limits{})
			if err := r.Compact(b); err == nil && r.End() == nil {
				f.compact, f.strict = b.Bytes(), true
				return
			}
		}
		f.compact = nil
		f.strict, f.wrong = checkJSON(f.content)
	case formatJSONL:
		f.total, f.strict, f.wrong = countLines(f.content)
	}
}

// load reads a file into f.content.
func (f *fileRead) load(root *os.Root) error {
	file, err := root.Open(f.path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	fi, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !fi.Mode().IsRegular():
		return errors.New("it is no longer a regular file")
	case fi.Size() > maxExportFile:
		return fmt.Errorf("it has %d bytes, an artifact takes %d of one file", fi.Size(), int64(maxExportFile))
	}
	room(&f.content, fi.Size()+1) // one extra byte reveals the end without growing the buffer
	for {
		n, err := file.Read(f.content[len(f.content):cap(f.content)])
		f.content = f.content[:len(f.content)+n]
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(f.content) > maxExportFile:
			return errors.New("it grows while it is read")
		case len(f.content) == cap(f.content):
			f.content = slices.Grow(f.content, 64<<10)
		}
	}
}
