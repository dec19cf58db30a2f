// replay export waits, and removes the workspace when it is told to end.

package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestReplayEnds(t *testing.T) {
	dir := testrepo.New(t, testrepo.Options{}).Dir
	if _, err := testproject.Init(t.Context(), dir, runner.ProjectOptions{ID: "proj"}); err != nil {
		t.Fatal(err)
	}
	e, err := restore.Prepare(t.Context(), dir, restore.ExportOptions{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	artifact := filepath.Join(t.TempDir(), "run.json")
	f, err := os.Create(artifact)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"signal", "enter", "end of input"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdin, typed := io.Pipe()
			stdout, printed := io.Pipe()
			done := make(chan error, 1)
			go func() {
				fa := factoryOver(term.Env{Stdin: stdin, Stdout: printed, Dir: filepath.Dir(artifact)}, true)
				err := runReplayExport(ctx, fa, &replayOptions{Input: artifact})
				_ = printed.Close()
				done <- err
			}()
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			if err != nil {
				t.Fatalf("%v: %v", err, <-done)
			}
			session, err := ojson.DecodeObject(line)
			if err != nil {
				t.Fatal(err)
			}
			at := session.String("temp_dir")
			if _, err := os.Stat(filepath.Join(at, "agentxchain.json")); err != nil {
				t.Fatalf("while it waits: %v", err)
			}
			switch how {
			case "signal":
				cancel()
			case "enter":
				_, _ = typed.Write([]byte("\n"))
			default:
				_ = typed.Close()
			}
			if err := <-done; err != nil {
				t.Errorf("it ended with %v", err)
			}
			if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the workspace is still there: %v", err)
			}
		})
	}
}
