// Package codeflow determines which stable error codes a function of this module can end with, by reading the
// program: it type-checks the packages, follows every call and reference, and collects the Code… constants on the
// way. It is for tests that compare documentation with the code.
//
// The answer is an upper bound. Interface calls lead to every type that is created on the way; whether a path is
// taken at run time is not considered.
package codeflow
