// Package bindings holds what protoc and its plug-ins make of the protocol's .proto for
// Python and TypeScript (generate.sh), and a step of a run in each language (step.py,
// step.ts). Its test has them carried out against git agentxchain monarchic serve.
package bindings
