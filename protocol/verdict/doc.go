// Package verdict has the value that says how a decision came about: which rules the engine asked, in which order,
// what each of them said, and where each is specified (docs/spec/verdicts.md). The engine builds it while it
// decides; explain, whatif, policy test, bisect and the dashboard show it. The package judges nothing itself.
package verdict
