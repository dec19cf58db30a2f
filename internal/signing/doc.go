// Package signing makes signatures of statements as git makes those of commits: with
// the person's own settings, programs, agents and hardware keys
// (docs/spec/approvals.md#making-a-signature).
package signing
