// Package signing signs statements in the way git signs commits: with the person's own settings, programs, agents
// and hardware keys (docs/spec/approvals.md#making-a-signature).
package signing
