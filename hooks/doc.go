// Package hooks runs lifecycle hooks: programs and web addresses that a project
// names in agentxchain.json and that are asked for a verdict at fixed points of
// a turn (docs/hooks.md#fields).
//
// A hook sees one envelope, answers with one JSON object, and is held to its
// time, its output and the files it may write. What happened is in the entries
// of the Outcome, one for each hook; recording them is the caller's part.
package hooks
