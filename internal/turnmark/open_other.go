//go:build !unix || solaris || aix

package turnmark

const openFlags = 0
