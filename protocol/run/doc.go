// Package run has what is recorded of a run: its state with the active turns, those ledger rows that are read
// again, the index over them, its events, leases, messages and charters, and what its blocks mean.
//
// It decodes, checks, repairs and copies. Package protocol says which operation may change what.
package run
