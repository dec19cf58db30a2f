// Package turnfiles reads the files of a turn in the project: the sources of its dispatch bundle, the bundle with its
// seal and its record, what an earlier bundle keeps, the staged result. It writes nothing. Package dispatch defines
// the form of a bundle, package protocol the content of a result.
package turnfiles
