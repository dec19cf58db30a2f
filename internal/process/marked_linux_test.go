// Tests of reading the environment of a process during an exec.

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestMarkedWhileReplacing checks that a process that only execs itself is recognised by its marker at every
// moment, even by one at the end of an environment that takes many reads.
func TestMarkedWhileReplacing(t *testing.T) {
	testrepo.Serving(t)
	mark := markName + "=the-one-that-is-looked-for"
	t.Run("small", func(t *testing.T) { markedWhileReplacing(t, []string{mark}) })
	var large []string
	for i := range 300 {
		large = append(large, fmt.Sprintf("VARIABLE_%d=%0100d", i, i))
	}
	t.Run("large", func(t *testing.T) { markedWhileReplacing(t, append(large, mark)) })
}

func markedWhileReplacing(t *testing.T, env []string) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script)
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for i := range 5000 {
		if !marked(cmd.Process.Pid, "the-one-that-is-looked-for") {
			t.Fatalf("not known at look %d", i)
		}
	}
	if marked(cmd.Process.Pid, "another") || marked(cmd.Process.Pid, "") {
		t.Error("known by a marker that is not its own")
	}
}
