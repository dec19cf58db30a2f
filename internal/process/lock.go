// Locks that keep processes apart.

package process

import "errors"

// ErrLocked is what TryLock returns while another process holds the lock.
var ErrLocked = errors.New("the file is locked")
