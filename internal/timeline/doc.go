// Package timeline makes the picture of a run: who worked when, what was sent back and
// why, which gates opened and by whom, and how long people were waited for.
//
// Build turns recorded rows into a Picture, Draw lays one out, and SVG and ASCII
// render it; Rows says the same as a table. The package is pure: rows in, text out.
// It reads no file and no clock.
package timeline
