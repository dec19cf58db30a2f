// Package whatif holds the commands that ask what was decided, why, and what other rules would say:
// explain, whatif, bisect, simulate and policy test.
package whatif
