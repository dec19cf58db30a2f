// Remedies for a file that may not be used.

package failures

import (
	"errors"
	"io/fs"
	"syscall"
)

// Remedy returns what to do about a file or directory that this user may not use, or whose file system is full; ""
// if err is something else. name is the file's name, "" if the message contains it.
func Remedy(name string, err error) string {
	if name == "" {
		name = "the file"
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "look at the owner and mode of " + name + " and of its directory with ls -ld: chmod or chown it, or run this as its owner"
	case errors.Is(err, syscall.EROFS):
		return name + " is on a file system that is mounted read-only: mount it for writing, or work in another clone"
	case errors.Is(err, syscall.ENOSPC):
		return "the file system of " + name + " is full: make room there, then again"
	case errors.Is(err, syscall.EDQUOT):
		return "your quota on the file system of " + name + " is used up: make room there, then again"
	}
	return ""
}
