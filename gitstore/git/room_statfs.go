//go:build linux || darwin || freebsd

// The room that a file system has.

package git

import "golang.org/x/sys/unix"

// littleRoom is the free space, in bytes, that a git which failed for want of room may leave: it removes its files.
const littleRoom = 64 << 10

// noRoom reports whether the file system of dir has no room for another file of git.
func noRoom(dir string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return false
	}
	free := int64(fs.Bavail) * int64(fs.Bsize) //nolint:unconvert // the types differ between systems
	return free < littleRoom || fs.Files > 0 && fs.Ffree == 0
}
