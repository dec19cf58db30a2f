// Package confine starts an agent's program where the record of the run, the git
// directory above all, cannot be written: as another user, in a bubblewrap, or under
// Landlock. The marks of a turn (internal/turnmark) are a fence around our own
// commands; this is a wall around the files, and a patched copy of our program is
// behind it too.
//
// It fails closed. What was asked for and cannot be had is an error; nothing runs
// without it.
package confine
