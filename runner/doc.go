// Package runner is the use-cases of a governed run as a Go API: what a command,
// a service or another program calls to drive the state machine. It is the declared
// runner interface 0.3; a program that drives a run needs no other package
// (docs/runner.md, docs/runner-errors.md).
//
// The way of a run: Open, AssignTurn (which starts the run), an agent's work,
// StageResult, AcceptTurn or RejectTurn, ApprovePhaseGate or ApproveCompletionGate
// when one is pending, and so on. Every result carries OK, Error, Code and Hint.
//
// Every method that changes a run takes the lock, looks at the world, lets the
// engine decide, commits, and lets go. The rules are in package protocol, the
// storage in package gitstore; this package only brings the two together. What an
// operation looks at (observe, turnfiles, intake, gate, proposal, lease, claims, trust),
// whom and what it asks (consent, ophooks, commands), what a person is told (status) and
// what needs no operation (doctor, lookback, workspace) are rooms of their own below this folder.
package runner
