// Package status reports where a run stands, as a person wants to know it at a glance, and the one command that moves
// it on. It reads a view, and the files and refs beside it, and writes nothing. It treats a run that is under way and
// the files of an artifact alike; package runner adds what only a live run has, such as what was pushed.
package status
