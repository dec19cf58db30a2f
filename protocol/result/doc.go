// Package result judges what a turn hands in: its result is normalised, goes
// through five stages of validation and is held against what was observed in
// the work tree.
//
// Findings are collected, never printed; what they lead to is package
// protocol's.
package result
