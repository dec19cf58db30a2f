//go:build unix

// How bundle files are opened where opening can wait.

package dispatch

import "syscall"

// openFlags keep open from waiting for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK
