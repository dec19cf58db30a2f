// Package process runs a program and ends it, with everything that it started, when its time is up, when it writes
// too much or when its caller stops waiting.
//
// A program gets its own process group. When its time is up the group gets SIGTERM, after a grace period SIGKILL;
// when the program ends by itself the rest of its group is killed at once. On Linux processes that left the group
// (setsid) are found too, by a marker variable that every child inherits; one that clears its environment is found
// only after AdoptOrphans. Other Unix systems end only the group, and systems without groups only the program. A
// process that cannot be found may keep an output pipe open; Run still returns.
//
// The package also tells whether another process is alive and still the same one (Alive, Dead, Started, Space), and
// takes locks that end with their holder.
package process
