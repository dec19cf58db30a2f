// Package foreign reads other tools' notes of who wrote which lines: the notes of git-ai and the checkpoints of
// Entire. Nothing proves them, and nothing that is judged here depends on them.
package foreign
