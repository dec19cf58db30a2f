// Locks between processes.

package process

import "errors"

// ErrLocked is returned by TryLock while another process holds the lock.
var ErrLocked = errors.New("the file is locked")
