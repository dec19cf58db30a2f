// Package pack is git's packs as bytes: entries, indexes and differences, read strictly, for others made them, and
// made. What opens files is given to it where a repository is not trusted. When a pack is written, what holds it, and
// when packs are folded is not decided here.
package pack
