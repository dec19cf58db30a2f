// Package result judges what a turn hands in: it normalises the result, puts it through five stages of validation
// and compares it with what was observed in the work tree.
//
// Findings are collected, never printed; package protocol decides what follows from them.
package result
