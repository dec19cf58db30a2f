//go:build !linux || !amd64

// Systems on which processes are not traced.

package testtrace

import "errors"

// Available reports whether processes can be traced here.
func Available() bool { return false }

// Do fails; check Available first.
func (r *Run) Do() (*Result, error) { return nil, errors.ErrUnsupported }

func become(string) {}
