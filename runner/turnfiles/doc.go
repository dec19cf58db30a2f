// Package turnfiles reads the files of a turn where they lie in the project: what its dispatch bundle is made from,
// the bundle beside its seal and the record of it, what an earlier bundle keeps, the staged result. It writes
// nothing. What a bundle looks like is in package dispatch, what a result has to say in package protocol.
package turnfiles
