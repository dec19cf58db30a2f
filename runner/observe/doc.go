// Package observe looks at a work tree for a turn: the baseline that the turn begins with, what changed since, which
// of it commits made, a person's commits among them, and what was pulled meanwhile (docs/spec/observation.md). The
// engine decides what that means for the turn; nothing here changes a file.
package observe
