// Package timeline makes the picture of a run: who worked when, what was sent back and why, which gates opened and
// by whom, and how long the run waited for people.
//
// Build turns recorded rows into a Picture, Draw lays it out, and SVG and ASCII render it; Rows gives the same as a
// table. The package is pure: rows in, text out. It reads no file and no clock.
package timeline
