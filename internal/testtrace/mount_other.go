//go:build !linux

// Systems on which no disk is simulated.

package testtrace

import (
	"errors"
	"time"
)

// Mount is a simulated disk; there is none here.
type Mount struct{}

// MountAvailable returns false.
func MountAvailable() bool { return false }

// NewMount fails.
func NewMount(string, uint64) (*Mount, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (m *Mount) Close() error { return nil }

// Jump fails.
func (m *Mount) Jump(time.Duration) error { return errors.ErrUnsupported }

// Settle fails.
func (m *Mount) Settle() error { return errors.ErrUnsupported }

// Len fails.
func (m *Mount) Len() (int, error) { return 0, errors.ErrUnsupported }

// Cut fails.
func (m *Mount) Cut(int) error { return errors.ErrUnsupported }

// Do fails.
func (m *Mount) Do(...*Run) ([]*Result, error) { return nil, errors.ErrUnsupported }

const mountStage = "TESTTRACE_MOUNT"

func serve(string) error { return errors.ErrUnsupported }
