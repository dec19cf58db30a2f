// Package prove holds the commands that check what is recorded and report what was proven: verify,
// fsck, attest, witness, approvals, audit, report, diff and the checks of CI.
package prove
