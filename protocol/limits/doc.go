// Package limits is what a configuration bounds beside gates: policies limit what turns
// are accepted (docs/spec/gates.md#policies), and turns, phases and runs have time limits
// (docs/spec/gates.md#timeouts).
package limits
