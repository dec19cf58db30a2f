// What commands receive: the surroundings of the process (Env) and the things made from it on demand (Factory).

package term

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"
)

// Env is the outside world of one invocation. Tests replace all of it.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv func(string) string
	// Dir is the absolute directory that the command starts in.
	Dir string
	// IsTerminal reports whether one of the three streams is a terminal.
	IsTerminal func(stream any) bool
	// Width returns the columns of a terminal stream, 0 when unknown.
	Width func(stream any) int
	Now   func() time.Time
	// GitConfig returns git's values for the named variables as seen from dir; absent ones are
	// absent from the map. It costs one process, so only terminal output asks. Nil means that no
	// variable is set.
	GitConfig func(ctx context.Context, dir string, names ...string) map[string]string
	// HoldInterrupt leaves ^C to a program that has the terminal, such as an editor or a pager that uses the
	// key itself, until resume.
	HoldInterrupt func() (resume func())
}

// filled returns e with harmless stand-ins for what a test left out.
func (e Env) filled() Env {
	if e.Stdin == nil {
		e.Stdin = eofReader{}
	}
	if e.Stdout == nil {
		e.Stdout = io.Discard
	}
	if e.Stderr == nil {
		e.Stderr = io.Discard
	}
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.IsTerminal == nil {
		e.IsTerminal = func(any) bool { return false }
	}
	if e.Width == nil {
		e.Width = func(any) int { return 0 }
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.GitConfig == nil {
		e.GitConfig = func(context.Context, string, ...string) map[string]string { return nil }
	}
	if e.HoldInterrupt == nil {
		e.HoldInterrupt = func() func() { return func() {} }
	}
	return e
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

// Factory gives commands what they need, made on first use: a command pays only for what it uses.
type Factory struct {
	Program Program
	Env     Env
	Out     *Output
	Prompt  *Prompter

	explain string          // the command that explains the given one
	ended   <-chan struct{} // closed once the command is told to end
	Global  GlobalOptions
	correl  func() string
	gitConf func() map[string]string
	opened  []io.Closer // what to close when the command has ended
}

// CloseAtEnd closes c when the command has ended.
func (f *Factory) CloseAtEnd(c io.Closer) { f.opened = append(f.opened, c) }

func (f *Factory) close() {
	for _, c := range f.opened {
		_ = c.Close()
	}
	f.opened = nil
}

// Open prepares f for one invocation. Commands capture f before their line is parsed, so it is
// filled in place.
func (f *Factory) Open(ctx context.Context, env Env, global GlobalOptions) {
	env = env.filled()
	f.Env, f.Global, f.ended = env, global, ctx.Done()
	f.correl = sync.OnceValue(func() string { return correlationID(env.Getenv) })
	f.gitConf = sync.OnceValue(func() map[string]string {
		dir, err := f.Dir()
		if err != nil {
			return nil
		}
		return env.GitConfig(ctx, dir, "color.ui", "color.agentxchain", "core.pager", "pager.agentxchain")
	})
	f.Out = newOutput(f)
	f.Prompt = &Prompter{f: f}
}

// Dir returns the absolute directory to work in: --dir (or -C) relative to the directory that the
// process started in.
func (f *Factory) Dir() (string, error) {
	dir := f.Global.Dir
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), nil
	case f.Env.Dir == "":
		return "", Errorf("directory_unusable", "the current directory no longer exists").
			WithHint("change to an existing directory, or name one with --dir")
	}
	return filepath.Join(f.Env.Dir, dir), nil
}

// Path resolves a path the user typed: relative ones start at Dir.
func (f *Factory) Path(p string) (string, error) {
	if filepath.IsAbs(p) {
		return filepath.Clean(p), nil
	}
	dir, err := f.Dir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, p), nil
}

// CorrelationID identifies this invocation in envelopes, events and hook payloads. It is taken from
// AGENTXCHAIN_CORRELATION_ID when that is sane.
func (f *Factory) CorrelationID() string { return f.correl() }

// JSON reports whether the caller asked for the envelope on stdout.
func (f *Factory) JSON() bool { return f.Global.JSON }

// Now returns the time of this invocation's clock.
func (f *Factory) Now() time.Time { return f.Env.Now() }

// Interactive reports whether a person can be asked: stdin and stderr are
// terminals, --json is off and GIT_TERMINAL_PROMPT does not forbid it.
func (f *Factory) Interactive() bool {
	return !f.Global.JSON && f.Env.Getenv("GIT_TERMINAL_PROMPT") != "0" &&
		f.Env.IsTerminal(f.Env.Stdin) && f.Env.IsTerminal(f.Env.Stderr)
}
