// Package provenance says to other tools what is recorded of governed work: in-toto
// Statements v1 with SLSA provenance of a turn, the state of a run, or the SLSA
// verification summary of a range, and Agent Trace records (docs/ci.md#attestations).
//
// It signs nothing and asks nothing of the network.
package provenance
