// Package archiving takes runs that are over out of the refs that every listing, fetch and push goes through, brings
// them back, and lets go of what a remote keeps. The list of them is package archive's.
package archiving
