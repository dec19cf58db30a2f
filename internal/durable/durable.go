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

// SizeError says that a file was not as long as the caller expected, so that appending would have mixed two
// writers' records.
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

// Temps lists the files that interrupted writes of the named files left in a directory below root:
// ".<name><digits>". The holder of the lock that covers the files may remove them.
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

// RemoveUnfinished removes what an interrupted WriteFileRoot of data to name has left beside it: files with its
// temporary names that hold a part of data, or zeros after a power cut. It is for people's directories, where
// nothing else may be removed.
func RemoveUnfinished(root *os.Root, name string, data []byte) {
	for _, temp := range Temps(root, filepath.Dir(name), filepath.Base(name)) {
		if fi, err := root.Lstat(temp); err != nil || fi.Size() > int64(len(data)) {
			continue // not a beginning of data, however large
		}
		if have, err := root.ReadFile(temp); err == nil && Torn(have, nil, data) {
			_ = root.Remove(temp)
		}
	}
}

// AppendRoot appends data to a file below root and syncs it. expectedSize is the required length of the file in
// bytes; 0 also allows a missing file. With any other length it returns a *SizeError and writes nothing. If the
// write fails half way (a full disk) it truncates the file to expectedSize, so that no torn record is left as long
// as the process can still clean up.
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
		// Best effort: the caller gets the first error either way, and a reader recognises a torn tail by its
		// missing newline.
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

// SyncDir makes the names in dir durable: files created, renamed or removed in it before the call stay so after a
// power cut.
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
