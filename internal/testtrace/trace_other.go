//go:build !linux || !amd64

// Where processes are not traced.

package testtrace

import "errors"

// Available reports whether processes can be traced here.
func Available() bool { return false }

// Do fails: Available says so before.
func (r *Run) Do() (*Result, error) { return nil, errors.ErrUnsupported }

func become(string) {}
