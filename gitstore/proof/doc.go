// Package proof says whether recorded operations hold: the shape of a chain, messages against records, ledgers that
// only grow, every operation applied again, approvals and witnesses. Nothing is changed, and nothing is believed
// because a ref leads to it. Working files are the store's to check.
package proof
