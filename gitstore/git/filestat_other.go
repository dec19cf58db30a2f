//go:build !linux

// Metadata of a working file where only the portable part is known.

package git

import "io/fs"

// StatOf returns the metadata that tells a changed file from an unchanged one.
func StatOf(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
}
