// Package codeflow finds out which stable error codes a function of this module
// can end with, by reading the program: it type-checks the packages, follows every
// call and reference, and collects the Code… constants on the way. It is for tests
// that hold documentation against the code.
//
// The answer is an upper bound. Interface calls lead to every type that is made
// somewhere on the way; whether the values at run time take a path is not asked.
package codeflow
