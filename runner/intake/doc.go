// Package intake reads the intents of a project, work that people put in front of a run, where its record and its
// files have them: the list, which of them an assignment or an acceptance is told of, the one that is urgent.
// Recording one is done in package runner, and what an intent means in package protocol.
package intake
