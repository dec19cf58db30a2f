//go:build unix

// A waiting read ends with the command.

package cli

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func TestWaitingReadEnds(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo") // never written to
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{"alx", "hash"}, {"alx", "validate"}, {"serve", "--token-file"},
		{"monarchic", "validate"}, {"verify", "export", "--input"}} {
		env, _, stderr := bufferedEnv(false)
		ctx, cancel := context.WithCancel(context.Background())
		p := program()
		p.Commands = func(f *term.Factory) []*ucli.Command { cancel(); return newCommands(f) }
		status := term.Run(ctx, append(append([]string{"git-agentxchain"}, args...), fifo), env, p)
		if status == 0 || (args[0] != "monarchic" && status != term.ExitStatus("interrupted")) {
			t.Errorf("%v: status %d: %s", args, status, stderr.String())
		}
	}
}
