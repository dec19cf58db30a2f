package gitcommit

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

func TestRefusedCommitNamesTheCause(t *testing.T) {
	for output, want := range map[string]string{
		"husky\nno tests\n":      "no tests",
		"agentxchain: a\nlast\n": "a",
		"error: gpg failed to sign the data\nfatal: failed to write commit object\n": "gpg failed to sign the data",
	} {
		err := refusedCommit{&git.GitError{Args: []string{"commit"}, Stderr: output}}
		if got := err.Error(); !strings.HasSuffix(got, want) {
			t.Errorf("%q: the error is %q, expected it to end with %q", output, got, want)
		}
	}
}
