// Package external judges what another tool wrote into a run (docs/compatibility.md#what-accounts-for-a-state):
// whether the rows that came with a state account for it, what it claims that only a gate or a person could have
// done, and which row says what.
package external
