//go:build unix && !solaris && !aix

package turnmark

import "syscall"

// openFlags prevent following a link or blocking on a pipe in place of the file.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
