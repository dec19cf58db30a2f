// Package record defines how the operations of a run, and the changes of an initiative, are stored in git
// (docs/storage.md): the tree of an operation and its names, ledgers as segments, the message of its commit with
// trailers, and how a ledger relates to the recorded one. It reads recorded trees and derives the next one; it
// accesses no working files and moves no run ref.
package record
