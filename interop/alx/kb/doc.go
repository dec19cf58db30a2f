// Package kb computes the identity of Knowledge Blocks and judges blocks.
//
// The identity is the lower-case hex SHA-256 of the RFC 8785 form of the block without its
// identity, its label and what a transport added (unhashed). Only top-level members are left out: a
// kbHash inside sources is lineage, and counts.
//
// RFC 8785 reduces a number to its double, so 1, 1.0 and 1e0 are one number, as are
// 9007199254740992 and 9007199254740993: a number of more than 53 bits must be a string. The
// package refuses what two readers could take for different things: duplicate members, text that is
// not UTF-8, half surrogate pairs, numbers beyond the doubles, more than MaxDepth levels.
package kb
