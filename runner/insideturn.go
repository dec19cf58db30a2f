// Whether an agent is asking, for callers that drive no run of their own.

package runner

import "os"

// InsideTurn returns the dispatched turn this process descends from, "" when a
// person or an automation outside of any turn is asking. getenv is the
// environment to look at first; os.Getenv when nil.
func InsideTurn(getenv func(string) string) string {
	if getenv == nil {
		getenv = os.Getenv
	}
	return (&Runner{opt: Options{Getenv: getenv}}).insideTurn()
}
