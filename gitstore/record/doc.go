// Package record is how the operations of a run, and the changes of an initiative,
// are written down in git
// (docs/storage.md): the tree of an operation and the names in it, ledgers as
// segments, the message of its commit and the trailers there, and how a ledger
// relates to the recorded one. It reads recorded trees and derives the next one;
// it moves no ref and sees no working file.
package record
