// Package workdir is the working files of a run: the directory they lie in, read and
// written so that no planted link leads out of it, the plan of what brings them from
// one recorded operation to a later one, and carrying that out durably with few waits
// for the disk. What a plan has to hold is the store's to say.
package workdir
