// Package mail has the operations on the mailbox of a run: a message is sent, delivered with the bundle of a turn,
// acknowledged. Package run has what is recorded of messages, and which of them await an answer.
package mail
