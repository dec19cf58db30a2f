// Package workdir is the working files of a run: their directory, read and written so that no planted link leads
// out of it, plans that take them from one recorded operation to a later one, and carrying plans out durably with
// few waits for the disk. The store decides what a plan holds.
package workdir
