// Package durable writes files so that they are either the old or the new ones
// after a crash or a power cut, and stay the new ones once a call returned.
//
// renameio makes the replacement atomic but does not sync the directory that
// holds the new name (its own README says so); without that a power cut may
// bring the old file back after we told the caller it was written.
package durable
