// Package attest holds who said what about which bytes, and the proof: the statement a
// person signs (docs/spec/approvals.md#the-statement), the envelope that carries it with
// its signature (docs/spec/approvals.md#the-envelope), the lists of those who may sign
// and the judgement of a signature against them.
//
// It is pure: no disk, no git, no process, no clock. Everything it reads may be hostile.
package attest
