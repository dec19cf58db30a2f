// The service that alx conformance judges by default: this program's, over a scratch project.

package neighbours

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/client"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/openapi"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// scriptedTurn is the hidden command that carries out the turns of the scratch project: its runtime
// is a program like any other.
const scriptedTurn = "scripted-turn"

func newALXScriptedTurnCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: scriptedTurn, Hidden: true, Usage: "carry out the dispatched turn of a scratch project",
		Action: func(c *ucli.Context) error {
			r, err := shared.Open(c.Context, f)
			if err != nil {
				return err
			}
			turn := r.InsideTurn()
			if turn == "" {
				return term.UsageErrorf("%s is for the runtime of a scratch project, inside a dispatched turn",
					scriptedTurn)
			}
			f.Out.Printer().Println("at work")
			return demo.Turn(c.Context, r, turn)
		},
	}
}

// scratchService serves a scratch project on a loopback port of its own, behind a token. stop ends
// it and removes the project.
func scratchService(ctx context.Context, f *term.Factory) (url, token string, stop func(), err error) {
	// The caller's environment may be tied to another work tree than those of the project.
	if err := runner.LeaveRepository(); err != nil {
		return "", "", nil, term.Errorf("io_failed", "%w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", nil, term.Errorf("io_failed", "cannot find this program's own file: %w", err)
	}
	dir, err := scratch.New("agentxchain-alx-")
	if err != nil {
		return "", "", nil, term.Errorf("io_failed", "cannot make a directory for the scratch project: %w", err)
	}
	undo := []func(){func() { _ = dir.Remove() }}
	stop = func() {
		for _, u := range slices.Backward(undo) {
			u()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	project := filepath.Join(dir.Path, "project")
	if err = os.Mkdir(project, 0o700); err != nil {
		return "", "", nil, term.Errorf("io_failed", "cannot make the scratch project: %w", err)
	}
	if err = demo.Automatic(ctx, project, []string{self, "alx", scriptedTurn}); err != nil {
		return "", "", nil, err
	}
	token = alx.NewCorrelationID() // as random as a token has to be
	workspaces := filepath.Join(dir.Path, "work")
	if err = os.MkdirAll(filepath.Join(workspaces, occupied, "somebody's"), 0o700); err != nil {
		return "", "", nil, term.Errorf("io_failed", "cannot make a directory for the scratch project: %w", err)
	}
	s, err := server.New(ctx, project, server.Options{
		Token:      token,
		MaxRuns:    1,
		Workspaces: workspaces,
		Grace:      time.Second,
		Service:    alx.Service{Name: "git-agentxchain", Version: shared.ReadBuild().Version},
		OpenAPI:    openapi.Document,
		Runner:     runner.Options{Now: f.Env.Now, Getenv: scratchEnvironment(f), Trust: true},
	})
	if err != nil {
		return "", "", nil, err
	}
	undo = append(undo, func() { _ = s.Close() })
	l, err := server.Listen(ctx, "127.0.0.1:0", token)
	if err != nil {
		return "", "", nil, term.Errorf("io_failed", "%w", err)
	}
	served := make(chan struct{})
	serving, end := context.WithCancel(ctx)
	go func() {
		defer close(served)
		_ = s.Serve(serving, l) // the check notices a service that ends early
	}()
	undo = append(undo, func() { end(); <-served })
	url = "http://" + l.Addr().String()
	if err = failingSolve(ctx, url, token); err != nil {
		return "", "", nil, err
	}
	return url, token, stop, nil
}

// occupied is a session whose work tree cannot be made: its directory exists already.
const occupied = "occupied"

// failingSolve asks for a run that cannot begin. A client cannot make a run of another service fail
// on purpose, and WG-09 is only about failed runs: here there is one.
func failingSolve(ctx context.Context, url, token string) error {
	c, err := client.New(url, client.Options{Token: token})
	if err != nil {
		return err
	}
	_, err = c.Solve(ctx, &alx.SolveRequest{Intent: "Fail: the place of the work tree is taken.", SessionID: occupied})
	if !errors.As(err, new(*client.Failure)) {
		return term.Errorf("internal", "the run that was to fail did not: %v", err)
	}
	return nil
}

// scratchEnvironment hides the marker of dispatched turns: the scratch project is not part of the
// turn of an agent that runs the check.
func scratchEnvironment(f *term.Factory) func(string) string {
	return func(key string) string {
		if key == runner.TurnMarker {
			return ""
		}
		return f.Env.Getenv(key)
	}
}
