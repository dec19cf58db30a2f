// Package proto holds the protobuf form of the protocol as text. Package pb has what is
// generated from it.
package proto
