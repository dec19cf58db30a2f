//go:build unix

// How project files are opened where opening can wait.

package turnfiles

import "syscall"

// openFlags keep an open from waiting for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK
