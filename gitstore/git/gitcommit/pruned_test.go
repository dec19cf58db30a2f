package gitcommit

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// TestPrunedWhileWriting tells git's messages about an object that housekeeping removed from failures that another
// try would not fix.
func TestPrunedWhileWriting(t *testing.T) {
	for said, want := range map[string]bool{
		"error: Error building trees":                                       true,
		"error: unable to create temporary file: No such file or directory": true,
		"fatal: cannot update ref 'refs/heads/main': trying to write ref 'refs/heads/main' with nonexistent object 6f71702a166cc06df01d592bcfa9b1f58f8a632a": true,
		"fatal: cannot lock ref 'HEAD': is at 6f71702a but expected 9a1c3258":                                                                                false,
		"fatal: could not open 'x': No such file or directory":                                                                                               false,
	} {
		if got := prunedWhileWriting(&git.GitError{Args: []string{"commit"}, ExitCode: 128, Stderr: said}); got != want {
			t.Errorf("%q: expected %v, got %v", said, want, got)
		}
	}
}
