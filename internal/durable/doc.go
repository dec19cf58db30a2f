// Package durable writes files so that after a crash or a power cut each is either the old or the new one, and the
// new one once a call has returned.
//
// renameio makes the replacement atomic but does not sync the directory that holds the new name (its own README
// says so); without that a power cut may bring the old file back after we told the caller it was written.
package durable
