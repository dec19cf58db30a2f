// The hooks that are put in place.

package githooks

import "slices"

// The hooks this package answers (githooks(5)).
const (
	PreCommit            = "pre-commit"
	PrepareCommitMsg     = "prepare-commit-msg"
	CommitMsg            = "commit-msg"
	PrePush              = "pre-push"
	ReferenceTransaction = "reference-transaction"
	PreReceive           = "pre-receive"
)

// ClientNames returns the hooks of a repository people work in.
func ClientNames() []string {
	return []string{PreCommit, PrepareCommitMsg, CommitMsg, PrePush, ReferenceTransaction}
}

// ServerNames returns the hooks of a bare repository that is pushed to.
func ServerNames() []string { return []string{PreReceive} }

// Names returns every hook this package answers.
func Names() []string { return append(ClientNames(), ServerNames()...) }

// KnownName reports a hook this package answers.
func KnownName(name string) bool { return slices.Contains(Names(), name) }

// readsInput reports a hook that git tells something on standard input.
func readsInput(name string) bool {
	return name == PrePush || name == ReferenceTransaction || name == PreReceive
}

// gitNames are all client-side hooks git may start from a hooks directory: a
// directory that stands in for another passes every one of them on.
func gitNames() []string {
	return []string{"applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
		"post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update",
		"pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
		"prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate",
		"update"}
}
