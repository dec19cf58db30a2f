// Package foreign reads what other tools noted of who wrote which lines: the notes of git-ai, the checkpoints of
// Entire. None of it is proved by anything, and nothing that is judged here rests on it.
package foreign
