// Package look holds the commands that show a run and change nothing: status, log, show, history,
// decisions, events, timeline, why, blame and escalations.
package look
