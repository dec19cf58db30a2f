// Package intake reads the intents of a project, work that people give to a run, from its record and its files: the
// list, those that an assignment or an acceptance needs, and the urgent one. Package runner records an intent, and
// package protocol decides what it means.
package intake
