// Package tamper detects changes that an agent made to git's settings while it was at work (docs/threat-model.md):
// configuration, hooks, the files of info, refs and flags of the index. They are noted when a turn is dispatched,
// compared when it is over or its driver was killed, and restored; the changed versions are kept.
package tamper
