//go:build !linux

package testrepo

func roomInMemory() bool { return false }
