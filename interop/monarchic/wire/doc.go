// Package wire turns protocol objects into Go structs and back. One codec
// serves both families of docs/monarchic.md: a struct that embeds Open belongs to
// the portable family (lenient reading, unknown members survive), any other
// struct to the strict family (closed, exact).
package wire
