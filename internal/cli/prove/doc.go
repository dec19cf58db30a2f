// Package prove is the commands that check what is recorded and say what was proven: verify, fsck,
// attest, witness, approvals, audit, report, diff and the checks of CI.
package prove
