// Package verdict holds the value that says how a decision came about: which rules the
// engine asked, in which order, what each of them said, and where each of them stands
// (docs/spec/verdicts.md). The engine makes it, while it decides; explain, whatif, policy
// test, bisect and the dashboard show it. It judges nothing itself.
package verdict
