// Package hooks runs lifecycle hooks: programs and web addresses, named by a project in agentxchain.json, that are
// asked for a verdict at fixed points of a turn (docs/hooks.md#fields).
//
// A hook receives one envelope, answers with one JSON object, and is limited in its time, its output and the files
// it may write. The entries of the Outcome, one per hook, say what happened; the caller records them.
package hooks
