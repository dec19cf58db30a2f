// Package wire has what every package of the protocol spells the same way: the stable error codes and the error
// that carries one, the words of states and results, times, the locations of a run's governed files, which paths a
// participant may name and which names a file system treats as the same.
//
// It is pure and knows no configuration and no run.
package wire
