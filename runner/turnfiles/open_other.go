//go:build !unix

// How project files are opened where opening a file never waits.

package turnfiles

const openFlags = 0
