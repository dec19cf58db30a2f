// Package proto holds the protobuf form of the protocol as text. Package pb has the code generated
// from it.
package proto
