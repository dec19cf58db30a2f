// Package mail has the operations on the mailbox of a run: a message is sent, delivered with
// the bundle of a turn, acknowledged. What is recorded of messages, and which of them are
// waited for, is package run's.
package mail
