// The hooks that are installed.

package githooks

import "slices"

// The hooks that this package handles (githooks(5)).
const (
	PreCommit            = "pre-commit"
	PrepareCommitMsg     = "prepare-commit-msg"
	CommitMsg            = "commit-msg"
	PrePush              = "pre-push"
	ReferenceTransaction = "reference-transaction"
	PreReceive           = "pre-receive"
)

// clientNames returns the hooks of a repository that people work in.
func clientNames() []string {
	return []string{PreCommit, PrepareCommitMsg, CommitMsg, PrePush, ReferenceTransaction}
}

// serverNames returns the hooks of a bare repository that is pushed to.
func serverNames() []string { return []string{PreReceive} }

// Names returns every hook that this package handles.
func Names() []string { return append(clientNames(), serverNames()...) }

// KnownName reports whether this package handles the hook.
func KnownName(name string) bool { return slices.Contains(Names(), name) }

// readsInput reports whether git passes the hook something on standard input.
func readsInput(name string) bool {
	return name == PrePush || name == ReferenceTransaction || name == PreReceive
}

// gitNames returns all client-side hooks that git may start from a hooks directory: a directory that replaces
// another passes on every one of them.
func gitNames() []string {
	return []string{"applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
		"post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update",
		"pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
		"prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate",
		"update"}
}
