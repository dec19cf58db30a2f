// Package tamper finds out what an agent has changed of what git is told while it was
// at work (docs/threat-model.md): configuration, hooks, the files of info, refs and
// flags of the index. They are noted when a turn is handed out, compared when it is
// over or its driver was killed, and put back; what was there is kept.
package tamper
