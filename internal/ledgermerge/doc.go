// Package ledgermerge merges two versions of an append-only JSONL ledger that diverged on two branches.
//
// A ledger is a set of records in the order they were written. The merge keeps every record of both exactly once,
// byte for byte, in each side's own order, and between the sides in the order of their timestamps. It is idempotent
// and commutative, and associative for branches of one base. Anything that is no longer a set of records is a
// conflict and is reported: a record that one side removed, one that both sides changed, a line that is not a
// record.
//
// Lines are read twice, once to index them and once to copy them, so memory grows with the number of records and
// not with their size.
package ledgermerge
