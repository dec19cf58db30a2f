// Runs and initiatives as sync and fsck list them.

package shared

// ListedRuns bounds the lines of runs that only came or went.
const ListedRuns = 20

// UnitOf returns the unit of a run's, or an initiative's, chain.
func UnitOf(what string) string {
	if what == "run" {
		return "operation"
	}
	return "change"
}
