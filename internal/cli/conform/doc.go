// Package conform holds the commands of git agentxchain conformance: fixtures, adapters, reports.
// The checks are in package conformance.
package conform
