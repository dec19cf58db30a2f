// Main: from os.Args to an exit status.

package cli

import (
	"context"
	"os"
	"os/signal"
	"time"

	xterm "golang.org/x/term"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// signalEcho is how long a repeated signal counts as the same one: the terminal signals git and us,
// and git, which runs us for "git agentxchain", passes its own signal on.
const signalEcho = 250 * time.Millisecond

// Main runs one command line and returns the exit status. args[0] is the program's name. It never
// panics and never calls os.Exit, except in a process that was started to become an isolated agent.
func Main(args []string, env term.Env) int {
	runner.AgentHelper(args)
	shared.CollectLater()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, endSignals()...)
	defer signal.Stop(ends)
	go func() {
		select {
		case <-ctx.Done():
		case <-ends:
			// The first signal asks the command to end cleanly; after that a second one ends the
			// process at once.
			cancel()
			time.Sleep(signalEcho)
			signal.Stop(ends)
		}
	}()
	env.HoldInterrupt = func() (resume func()) {
		signal.Ignore(os.Interrupt)
		return func() {
			signal.Reset(os.Interrupt)
			if ctx.Err() == nil {
				signal.Notify(ends, os.Interrupt)
			}
		}
	}
	return term.Run(ctx, args, env, program())
}

// OSEnv returns the real process environment.
func OSEnv() term.Env {
	dir, err := os.Getwd()
	if err != nil {
		// The directory was deleted under us; commands that need it report that.
		dir = ""
	}
	return term.Env{
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
		Dir:    dir,
		IsTerminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			return ok && xterm.IsTerminal(int(f.Fd()))
		},
		Width: func(stream any) int {
			f, ok := stream.(*os.File)
			if !ok {
				return 0
			}
			w, _, err := xterm.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return w
		},
		Now:       time.Now,
		GitConfig: gitConfig,
	}
}
