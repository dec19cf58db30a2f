// Package confine starts an agent's program where it cannot write to the record of the run, above all the git
// directory: as another user, in a bubblewrap, or under Landlock. The marks of a turn (internal/turnmark) only stop
// our own commands; this protects the files, even from a patched copy of our program.
//
// It fails closed. If the requested isolation is unavailable that is an error, and nothing runs.
package confine
