// Package status is where a run stands, as a person wants to know it at a glance, and the one command that moves it
// on. It reads a view, and the files and refs beside it, and writes nothing. A run that is under way and the files of
// an artifact are looked at alike; what only a live one has, such as what was pushed, is added by package runner.
package status
