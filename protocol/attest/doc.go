// Package attest has the proof of who said what about which bytes: the statement that a person signs
// (docs/spec/approvals.md#the-statement), the envelope that carries it with its signature
// (docs/spec/approvals.md#the-envelope), the lists of those who may sign, and the verification of a signature
// against them.
//
// It is pure: no disk, no git, no process, no clock. Everything it reads may be hostile.
package attest
