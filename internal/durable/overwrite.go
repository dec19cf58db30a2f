// Changing the end of a file in place.

package durable

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// OverwriteRoot replaces the end of a file below root: old, which must be everything after offset, by data, which
// must not be shorter. Its cost depends on the length of the end, not of the file, but it is not atomic: after a
// crash the end may be any mixture of the two, block by block, and the caller must be able to detect that and to
// write data again. A file of another length or with another end is a *SizeError or an error, and nothing is
// written; if the write fails half way the old end is restored.
func OverwriteRoot(root *os.Root, name string, offset int64, old, data []byte) error {
	if len(data) < len(old) {
		return fmt.Errorf("overwrite %s: %d bytes cannot replace %d", name, len(data), len(old))
	}
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("overwrite %s: %w", name, err)
	}
	err = overwrite(f, name, offset, old, data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("overwrite %s: %w", name, err)
	}
	return nil
}

// Torn reports whether data is a possible result of an interrupted in-place change from old to full, or of an
// append of full if old is nil: every byte is from one or the other, or, after their first difference, was never
// written, which a power cut leaves as zeros. Neither of the two may hold a zero byte.
func Torn(data, old, full []byte) bool {
	if len(data) < min(len(old), len(full)) || len(data) > max(len(old), len(full)) {
		return false
	}
	differ := false
	for i, c := range data {
		ofOld, ofFull := i < len(old) && c == old[i], i < len(full) && c == full[i]
		differ = differ || i >= len(old) || i >= len(full) || old[i] != full[i]
		if !ofOld && !ofFull && (!differ || c != 0) {
			return false
		}
	}
	return true
}

func overwrite(f *os.File, name string, offset int64, old, data []byte) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("not a regular file (%s)", fi.Mode().Type())
	}
	size := offset + int64(len(old))
	if fi.Size() != size {
		return &SizeError{Path: name, Want: size, Have: fi.Size()}
	}
	have := make([]byte, len(old))
	if _, err := f.ReadAt(have, offset); err != nil {
		return err
	}
	if !bytes.Equal(have, old) {
		return errors.New("another program changed its end")
	}
	faults.Point("durable.overwrite.before")
	if _, err = f.WriteAt(data, offset); err == nil {
		faults.Point("durable.overwrite.written")
		err = sync(f)
	}
	if err != nil {
		// Best effort: the caller gets the first error either way.
		_, _ = f.WriteAt(old, offset)
		_ = f.Truncate(size)
		return err
	}
	faults.Point("durable.overwrite.after")
	return nil
}
