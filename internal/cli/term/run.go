// Run: from a line to an exit status.

package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
)

// Program describes this program. The commands are made again for every use, because a command
// keeps what its line said.
type Program struct {
	Groups   []string                       // of the commands, in the order of help
	Commands func(*Factory) []*ucli.Command // opens and reads nothing
	Rewrites map[string][]string            // maps the words of a command to those of the command that is meant
	Examples func(command string) []string  // lines to type, for its help
	Version  func(*Factory) error           // answers --version
	// for completion: the possible words for a ROLE, PHASE, GATE, TURN or RUN
	Words func(f *Factory, kind string) []Word
}

// Run carries out one line of p and returns the exit status. args[0] is
// the program's name.
func Run(ctx context.Context, args []string, env Env, p Program) (status int) {
	if len(args) > 0 {
		args = args[1:]
	}
	// The commands are made before the line is parsed, and the Factory they capture is filled in
	// after.
	f := &Factory{Program: p}
	app := NewApp(f)
	inv, err := ParseLine(app, p.Rewrites, args)
	f.Open(ctx, env, inv.Global)
	f.explain = helpOf(inv)
	app.Writer, app.ErrWriter, app.Reader = io.Discard, io.Discard, f.Env.Stdin

	defer func() {
		if p := recover(); p != nil {
			status = f.Out.finish(internalError(f, p, debug.Stack()))
		}
	}()
	if err == nil {
		err = dispatch(ctx, f, app, inv)
	}
	return f.Out.finish(err)
}

func dispatch(ctx context.Context, f *Factory, app *ucli.App, inv *invocation) error {
	defer f.close()
	if inv.Global.Version {
		return f.Program.Version(f)
	}
	if inv.Global.Help || len(inv.Path) == 0 {
		return runHelp(f, helpOptions{Words: strings.Fields(inv.name())})
	}
	if inv.Global.Dir != "" {
		dir, err := f.Dir()
		if err != nil {
			return err
		}
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return Errorf("directory_unusable", "cannot work in %s: it is not a directory that can be entered", dir)
		}
	}
	return app.RunContext(ctx, inv.Argv)
}

// NewApp builds the command tree. urfave/cli's own help, version, completion and exit handling are
// all off: they print to the wrong stream and exit with statuses of their own.
func NewApp(f *Factory) *ucli.App {
	app := &ucli.App{
		Name:                      "git-agentxchain",
		Usage:                     "governed runs of agents and people, kept in git",
		Commands:                  f.Program.Commands(f),
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true, // a path may contain a comma
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		Action:                    func(*ucli.Context) error { return nil },
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*ucli.Context, error) {},
	}
	prepare(app.Commands)
	return app
}

// prepare sets for every command what urfave/cli keeps per command.
func prepare(list []*ucli.Command) {
	for _, c := range list {
		c.HideHelp, c.HideHelpCommand = true, true
		c.OnUsageError = onUsageError
		prepare(c.Subcommands)
	}
}

// onUsageError handles the remaining faults of a line: ParseLine has checked the rest of the line,
// and the type of every value.
func onUsageError(_ *ucli.Context, err error, _ bool) error {
	if _, ok := errors.AsType[CodedError](err); ok {
		return err
	}
	return UsageErrorf("%s", OneLine(err.Error()))
}

// internalError turns a panic into an error. The stack is for us, not for the user, unless
// requested.
func internalError(f *Factory, p any, stack []byte) error {
	e := Errorf("internal", "internal error: %s", OneLine(secrets.Redact(fmt.Sprint(p)))).
		WithHint("this is a defect in git-agentxchain; run again with AGENTXCHAIN_DEBUG=1 and report it with the stack")
	if f.Env.Getenv("AGENTXCHAIN_DEBUG") == "1" {
		shown := Clean(secrets.Redact(string(stack)))
		_, _ = io.WriteString(f.Env.Stderr, shown)
		e.Hint = "this is a defect in git-agentxchain; please report it with the stack above"
		e.details = ojson.NewObject("stack", shown)
	}
	return e
}
