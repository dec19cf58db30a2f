// Package observe looks at a work tree for a turn: the baseline the turn begins with, what changed since, what
// commits made, those of a person among them, and what was pulled meanwhile (docs/spec/observation.md). What that
// means for the turn, the engine decides; nothing here changes a file.
package observe
