// Package runner is the Go API of a governed run: commands, services and other programs call it to
// drive the state machine. It is the declared runner interface 0.3; a program that drives a run
// needs no other package (docs/runner.md, docs/runner-errors.md).
//
// The course of a run: Open, AssignTurn (which starts the run), an agent's work, StageResult,
// AcceptTurn or RejectTurn, ApprovePhaseGate or ApproveCompletionGate when one is pending, and so
// on. Every result carries OK, Error, Code and Hint.
//
// Every method that changes a run takes the lock, looks at the world, lets the engine decide,
// commits, and releases the lock. The rules are in package protocol, the storage in package
// gitstore; this package only brings the two together. What an operation looks at (observe,
// turnfiles, intake, gate, proposal, lease, claims, trust), whom and what it asks (consent,
// ophooks, commands), what a person is told (status) and what needs no operation (doctor, lookback,
// workspace) are packages of their own below this folder.
package runner
