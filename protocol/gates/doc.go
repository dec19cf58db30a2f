// Package gates decides whether a phase may be left and whether a run may complete
// (docs/spec/gates.md): which documents a gate reads and what they say, whose sign-off
// they carry, when a gate may be passed without a person, and whether turns leave it
// failing in the same way. It reads no disk: the files are handed in.
package gates
