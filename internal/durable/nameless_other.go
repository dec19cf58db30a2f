//go:build !linux

// Files without a name exist only on Linux.

package durable

import (
	"errors"
	"os"
)

// Nameless is not available here.
func Nameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// Name is not available here.
func Name(*os.File, string) error { return errors.ErrUnsupported }

// StartWriting does nothing here.
func StartWriting(*os.File, int64, int64) {}
