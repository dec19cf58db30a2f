// Package play makes governed projects to measure, and plays turns in them through the command
// itself.
package play
