// Package ledgermerge joins two versions of an append-only JSONL ledger that
// grew apart on two branches.
//
// A ledger is a set of records in the order they were written. Joining two of
// them keeps every record of both exactly once, byte for byte, each side's own
// order, and between the sides the order of their timestamps. The join is
// idempotent and commutative, and associative for branches of one base. What is
// not a set of records any more is a conflict that says so: a record that one
// side took away, one that both sides changed, a line that is no record.
//
// Lines are read twice, once to index them and once to copy them, so memory
// goes with the number of records and not with their size.
package ledgermerge
