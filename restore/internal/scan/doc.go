// Package scan reads JSON documents that do not fit into memory. It reads a document once, from the first byte to
// the last, and holds a window of it; a caller marks or captures what it needs again.
//
// The reader is strict: UTF-8, no repeated member names, bounded nesting, nothing after the document. A lone
// surrogate escape is read as its three-byte form, as package ojson does, because JavaScript writers produce them.
package scan
