// Package proof verifies recorded operations: the shape of a chain, messages against records, ledgers that only
// grow, every operation by replay, approvals and witnesses. It changes nothing, and believes nothing only because a
// ref leads to it. The store checks working files.
package proof
