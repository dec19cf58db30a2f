// Package notify tells the outside what happened to a run: it derives the events
// from an operation that was committed, sends each to the webhooks that asked for
// it, and says when a waiting approval is due for a reminder.
//
// Nothing here decides anything about a run: deliveries come after the fact, and
// what became of them is evidence, not an error.
package notify
