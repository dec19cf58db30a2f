// Package monarchic implements the Monarchic agent protocol v1 (docs/monarchic.md). The types are
// in two packages that share names and never mix: portable, the open JSON form of the protobuf
// messages, and strict, the closed client boundary and durable authority. This package holds what
// both need: the list of types, digests, and the upgrade of legacy plans and receipts. Package wire
// is the codec, package pb the protobuf form, package check the judge of documents.
package monarchic
