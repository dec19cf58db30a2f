// Package whatif judges recorded operations again: under the configuration they were decided under, which explains
// them, or under another one, which shows what would have been decided differently (docs/whatif.md).
//
// It has no rules of its own. Every verdict comes from protocol.Judge, applied to the recorded arguments, evidence
// and state; the package compares chains of verdicts, finds the operation at which one changed, and checks cases
// with the engine. It reads no disk and no git: gitstore passes it the operations.
package whatif
