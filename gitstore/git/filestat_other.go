//go:build !linux

// What stat says about a working file where only the portable part is known.

package git

import "io/fs"

func statOf(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
}
