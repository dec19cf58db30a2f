// Package incoming describes files that come into a project from elsewhere, computes what has to change to put them
// in place, and keeps the journal of that. Package gitstore stages, records and installs them.
package incoming
