// Package scaffold holds the project templates of init. It decides what a new project contains and touches no disk;
// the caller writes.
package scaffold
