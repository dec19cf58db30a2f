// Replacing, appending to and syncing files, by name or below a root.

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// SizeError says that a file was not as long as the caller believed, so that
// appending to it would have joined two writers' records.
type SizeError struct {
	Path string
	Want int64 // bytes the caller expected
	Have int64 // bytes found
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s is %d bytes long, expected %d: another program changed it", e.Path, e.Have, e.Want)
}

// WriteFile replaces dir/name with data: it writes a temporary file beside it,
// syncs it, renames it over the name and syncs the directory. name may have
// several components; its directory must exist. perm is masked by the umask;
// a symbolic link in place of the file is replaced, never followed.
func WriteFile(dir, name string, data []byte, perm fs.FileMode) error {
	path := filepath.Join(dir, name)
	publish, _, err := stage(nil, path, data, perm)
	if err == nil {
		err = publish()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	faults.Point("durable.write.renamed")
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	faults.Point("durable.write.after")
	return nil
}

// WriteFileRoot is WriteFile below an os.Root.
func WriteFileRoot(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	p, err := PrepareRoot(root, name, data, perm)
	if err != nil {
		return err
	}
	if err := p.Publish(); err != nil {
		return err
	}
	if err := SyncDirRoot(root, filepath.Dir(filepath.Clean(name))); err != nil {
		return err
	}
	faults.Point("durable.write.after")
	return nil
}

// Temps lists what writes of the named files in a directory below root have left there
// that were ended in the middle: ".<name><digits>". Whose lock covers the files may
// remove them.
func Temps(root *os.Root, dir string, names ...string) []string {
	list, err := fs.ReadDir(root.FS(), path.Clean(filepath.ToSlash(dir)))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		if e.Name()[0] != '.' || !e.Type().IsRegular() {
			continue
		}
		for _, name := range names {
			digits, ok := strings.CutPrefix(e.Name()[1:], name)
			if ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
				out = append(out, path.Join(filepath.ToSlash(dir), e.Name()))
			}
		}
	}
	return out
}

// RemoveUnfinished removes what a WriteFileRoot of data to name has left beside it that was ended in the middle: files
// with its temporary names that hold a part of data, or zeros where a power cut took it. It is for directories of people,
// where nothing else may be taken away.
func RemoveUnfinished(root *os.Root, name string, data []byte) {
	for _, temp := range Temps(root, filepath.Dir(name), filepath.Base(name)) {
		if fi, err := root.Lstat(temp); err != nil || fi.Size() > int64(len(data)) {
			continue // not a beginning of it, however large
		}
		if have, err := root.ReadFile(temp); err == nil && Torn(have, nil, data) {
			_ = root.Remove(temp)
		}
	}
}

// AppendRoot adds data to the end of a file below root and syncs it. expectedSize is
// the length in bytes the file must have before; 0 also allows that it does not exist.
// A different length is a *SizeError and nothing is written. When the write fails half
// way (a full disk) the file is cut back to expectedSize, so that no torn record is
// left by a process that could still clean up.
func AppendRoot(root *os.Root, name string, expectedSize int64, data []byte, perm fs.FileMode) error {
	f, created, err := openAppend(root, name, expectedSize, perm)
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	if err := appendTo(f, name, expectedSize, data); err != nil {
		return err
	}
	if !created {
		return nil
	}
	return SyncDirRoot(root, filepath.Dir(filepath.Clean(name)))
}

func openAppend(root *os.Root, name string, expectedSize int64,
	perm fs.FileMode) (f *os.File, created bool, err error) {
	f, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND, perm)
	if err == nil || expectedSize != 0 || !errors.Is(err, fs.ErrNotExist) {
		if errors.Is(err, fs.ErrNotExist) {
			err = &SizeError{Path: name, Want: expectedSize, Have: 0}
		}
		return f, false, err
	}
	f, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, perm)
	return f, true, err
}

func appendTo(f *os.File, name string, expectedSize int64, data []byte) error {
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file (%s)", fi.Mode().Type())
	}
	if err == nil && fi.Size() != expectedSize {
		err = &SizeError{Path: name, Want: expectedSize, Have: fi.Size()}
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("append to %s: %w", name, err)
	}
	faults.Point("durable.append.before")
	if _, err = f.Write(data); err == nil {
		faults.Point("durable.append.written")
		err = sync(f)
	}
	if err != nil {
		// Best effort: the caller learns of the first error either way, and a
		// reader recognises a torn tail by its missing newline.
		_ = f.Truncate(expectedSize)
		_ = f.Close()
		return fmt.Errorf("append to %s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	faults.Point("durable.append.after")
	return nil
}

// SyncDir makes the names in dir durable: files created, renamed or removed in
// it before the call are found so after a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := syncAndClose(d); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// SyncDirRoot is SyncDir below an os.Root; "." is the root itself.
func SyncDirRoot(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := syncAndClose(d); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

func syncAndClose(f *os.File) error {
	err := syncDirFile(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
