// Package gate is a gate as a person is shown it: held against the files of now, and, where it waits for an
// answer, with the documents, their differences and what follows from a yes and a no. Whether a gate opens,
// protocol/gates decides; the answer is an operation of package runner.
package gate
