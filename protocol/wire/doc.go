// Package wire is what every room of the protocol spells in the same way: the
// stable error codes and the error that carries one, the words of states and
// results, times, where the governed files of a run lie, which paths a
// participant may name and which names a file system takes for one another.
//
// It is pure and knows no configuration and no run.
package wire
