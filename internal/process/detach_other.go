//go:build !unix

// Starting a program that outlives us, where there are no sessions.

package process

import "os"

// Detach starts a program and detaches it: it is neither waited for nor ended. argv[0] is the program's file, as
// Find returns it. files are its standard streams and further descriptors; a missing one is the null device. The
// caller releases the process.
func Detach(argv []string, dir string, env []string, files ...*os.File) (*os.Process, error) {
	return detach(argv, dir, env, files, nil)
}
