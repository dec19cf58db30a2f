// Package observe looks at a work tree for a turn: the baseline the turn begins with, what changed since, what
// commits made and what was pulled meanwhile, and the commits of a person (docs/spec/observation.md). What that means, the engine
// decides; nothing here changes a file.
package observe
