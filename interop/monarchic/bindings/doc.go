// Package bindings holds what protoc and its plug-ins generate from the protocol's .proto for
// Python and TypeScript (generate.sh), and a step of a run in each language (step.py, step.ts). Its
// test runs them against git agentxchain monarchic serve.
package bindings
