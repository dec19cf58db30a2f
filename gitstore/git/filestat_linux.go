// Metadata of a working file, with change time and inode.

package git

import (
	"io/fs"
	"syscall"
)

// StatOf returns the metadata that tells a changed file from an unchanged one.
func StatOf(fi fs.FileInfo) Stat {
	st := Stat{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
	if sys, ok := fi.Sys().(*syscall.Stat_t); ok {
		st.CTime, st.Inode = sys.Ctim.Nano(), sys.Ino
	}
	return st
}
