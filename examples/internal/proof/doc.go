// Package proof is what the runner proofs share: a governed scratch project, the results of its
// agents, checks that can fail, and the report. It uses the declared interface of package runner
// and git itself, nothing else of the module.
package proof
