//go:build !unix || solaris || aix

// Systems without flock(2).

package process

import (
	"errors"
	"os"
)

// TryLock fails with errors.ErrUnsupported.
func TryLock(*os.File) error { return errors.ErrUnsupported }

// Unlock does nothing.
func Unlock(*os.File) {}
