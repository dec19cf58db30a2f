// The command by which git's configuration starts a hook, from git 2.54 on.

package githooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestHookCommandFollowsItsCheckout(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	common := r.Git("rev-parse", "--path-format=absolute", "--git-common-dir")
	dir := ownDir(common)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pre-commit"), []byte("#!/bin/sh\necho ran \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	was := filepath.Join(t.TempDir(), "it's gone", "githooks")
	for _, installed := range []string{dir, was} {
		command := hookCommand(installed, "pre-commit")
		for _, at := range []string{r.Top, common} {
			cmd := exec.Command("sh", "-c", command+` "$@"`, "hook", "a b") // as git starts it
			cmd.Dir = at
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ran a b\n" {
				t.Errorf("installed in %s, in %s: %q %v", installed, at, out, err)
			}
		}
		if !startsHook(command, filepath.Join(dir, "pre-commit")) {
			t.Errorf("installed in %s: it is not seen that %s starts the script", installed, command)
		}
	}
	other := filepath.Join(t.TempDir(), "pre-commit")
	if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"", "true", hookCommand(filepath.Dir(other), "pre-commit"), hookCommand(dir, "pre-push"),
	} {
		if startsHook(command, filepath.Join(dir, "pre-commit")) {
			t.Errorf("%q is said to start the script", command)
		}
	}
}
