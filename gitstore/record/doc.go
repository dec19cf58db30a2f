// Package record is how the operations of a run, and the changes of an initiative,
// are written down in git (docs/storage.md): the tree of an operation and the names
// in it, ledgers as segments, the message of its commit and the trailers there, and
// how a ledger relates to the recorded one. It reads recorded trees and derives the
// next one; it sees no working file, and no ref of a run moves here.
package record
