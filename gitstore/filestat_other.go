//go:build !linux

// What stat says about a working file where only the portable part is known.

package gitstore

import "io/fs"

func statOf(fi fs.FileInfo) fileStat {
	return fileStat{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
}
