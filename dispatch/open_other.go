//go:build !unix

// How bundle files are opened where opening a file never waits.

package dispatch

const openFlags = 0
