// Package process runs a program and ends it, with all that it started, when
// its time is up, when it writes too much or when its caller stops waiting.
//
// A program gets a process group of its own. At the end of its time the group
// gets SIGTERM, after a grace period SIGKILL; when the program ends by itself
// what it left in the group is killed at once. On Linux processes that left the
// group (setsid) are found too, by a marker variable that every child inherits;
// one that wipes its environment is found only after AdoptOrphans. Other Unix
// systems end the group only, and systems without groups the program only. A
// process that cannot be found may keep an output pipe open; Run still returns.
//
// The package also tells whether another process lives and is the one it was
// (Alive, Dead, Started, Space), and takes locks that end with their holder.
package process
