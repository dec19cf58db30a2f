// Package limits has the limits of a configuration other than gates: policies limit which turns are accepted
// (docs/spec/gates.md#policies), and turns, phases and runs have time limits (docs/spec/gates.md#timeouts).
package limits
