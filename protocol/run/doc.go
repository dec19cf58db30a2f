// Package run is what is recorded of a run: its state with the active turns, the
// rows of its ledgers as far as they are read again, the index over them, its
// events, leases, messages and charters, and what its blocks mean.
//
// It decodes, checks, repairs and copies; which operation may change what is
// package protocol's.
package run
