// Package incoming says which files come into a project from elsewhere, what has to change for them to take their
// places, and keeps the journal of that. How they are staged, recorded and switched is package gitstore's.
package incoming
