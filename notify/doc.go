// Package notify reports what happened to a run: it derives the events from a committed operation,
// sends each to the webhooks that subscribed to it, and says when a waiting approval is due for a
// reminder.
//
// Nothing here decides anything about a run: deliveries come after the fact, and their outcomes are
// evidence, not errors.
package notify
