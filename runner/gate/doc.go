// Package gate describes a gate to a person: evaluated against the present files, and, when it waits for an
// answer, with the documents, their differences and the consequences of a yes and a no. protocol/gates decides
// whether a gate opens; the answer is an operation of package runner.
package gate
