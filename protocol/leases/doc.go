// Package leases has the operation that records what happens to the leases of turns, and what the record says of a
// lease. The leases themselves, and who may act under one, are elsewhere.
package leases
