//go:build !linux

// What stat says about a working file where only the portable part is known.

package git

import "io/fs"

// StatOf is what tells a changed file from an unchanged one.
func StatOf(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
}
