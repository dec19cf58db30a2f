//go:build !unix || solaris || aix

// The guard around looking at and changing a lock file, where directories
// cannot be locked.
package gitstore

func guard(path string) (release func(), ok bool, err error) { return guardByFile(path) }
