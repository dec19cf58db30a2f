//go:build !unix

// How project files are opened where opening a file never waits.

package runner

const openFlags = 0
