// Runs and initiatives as sync and fsck list them.

package shared

// ListedRuns bounds the lines of runs that only came or went.
const ListedRuns = 20

// UnitOf names what a run, or an initiative, is a chain of.
func UnitOf(what string) string {
	if what == "run" {
		return "operation"
	}
	return "change"
}
