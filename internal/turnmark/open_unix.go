//go:build unix && !solaris && !aix

package turnmark

import "syscall"

// openFlags keep us from following a link or waiting at a pipe in the file's place.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
