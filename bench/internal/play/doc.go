// Package play makes governed projects to measure on, and plays turns in them
// through the command itself.
package play
