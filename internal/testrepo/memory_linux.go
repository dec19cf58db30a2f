package testrepo

import "golang.org/x/sys/unix"

// roomInMemory reports whether the tests' files fit into memory: there is a place for them, programs can be started
// from it, and enough of it is free.
func roomInMemory() bool {
	var fs unix.Statfs_t
	if unix.Statfs(memory, &fs) != nil || unix.Access(memory, unix.W_OK) != nil {
		return false
	}
	return fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 && fs.Bavail*uint64(fs.Bsize) >= memoryMin
}
