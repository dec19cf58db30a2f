// Runtime local_cli: an agent that is a program on this machine (docs/runtimes.md#local_cli).

package localcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Prompt transports.
const (
	viaArgv   = "argv"
	viaStdin  = "stdin"
	viaBundle = "dispatch_bundle_only"
)

// Classes of a blocked dispatch besides those of the providers.
const (
	classIncompatible = "local_cli_command_incompatible"
	classCommand      = "local_cli_command_invalid"
)

// keptOutput is how much of the end of each stream is examined afterwards, bytes.
const keptOutput = 1 << 20

// Runtime starts one process for each turn.
type Runtime struct {
	limitGrace time.Duration // between SIGTERM and SIGKILL when the time is up
	abortGrace time.Duration // the same when the caller gave up
}

// New returns the runtime; it has no state.
func New() *Runtime { return &Runtime{limitGrace: 10 * time.Second, abortGrace: 5 * time.Second} }

// Dispatch starts the program and waits until it and everything it started is gone.
func (rt *Runtime) Dispatch(ctx context.Context, req *runtimes.Request) *runtimes.Outcome {
	c, refusal := prepare(req)
	if refusal != nil {
		return refusal
	}
	root, err := os.OpenRoot(req.Root)
	if err != nil {
		return blocked(classCommand, "The project directory cannot be opened: "+err.Error()+".", "")
	}
	defer func() { _ = root.Close() }()
	if err := clearStaging(root, req.StagingPath); err != nil {
		return blocked("staging_unwritable", "The place for the result cannot be prepared: "+err.Error()+".",
			"make "+path.Dir(req.StagingPath)+" writable, then: git agentxchain unblock")
	}
	argv, env, err := req.Confined(c.argv, c.dir, append(slices.Clip(req.Environ), "PWD="+c.dir))
	if err != nil {
		return runtimes.NotConfined(err)
	}
	w := newWatch(rt, req, root)
	w.diag("spawn_prepare", "command", c.shown(), "cwd", c.cwd, "prompt_transport", c.transport,
		"isolation", runtimes.Isolation(req.Runtime), "env", shownEnv(env))
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go w.watch(ctx, own, cancel)
	res := process.Run(own, process.Spec{
		Argv: argv, Dir: c.dir, Env: env, Stdin: c.stdin, Files: req.Inherit, Session: true,
		Limit: keptOutput, KeepTail: true, Stdout: w.stream("stdout"), Stderr: w.stream("stderr"), Started: w.attached,
	})
	cancel(nil)
	<-w.done
	return w.outcome(c, res)
}

// call says how to start the program.
type call struct {
	argv      []string
	template  []string // argv before the prompt is inserted, for display
	dir, cwd  string
	transport string
	stdin     []byte
	prompt    int // bytes
	agent     string
}

// shown returns the command without the prompt.
func (c *call) shown() []string {
	out := make([]string, len(c.template))
	for i, w := range c.template {
		out[i] = strings.ReplaceAll(w, runtimes.Placeholder, fmt.Sprintf("<prompt:%d bytes>", c.prompt))
	}
	return out
}

// prepare reads the configuration; the outcome is what prevents the program from being started.
func prepare(req *runtimes.Request) (*call, *runtimes.Outcome) {
	raw := req.Runtime.Raw
	words := runtimes.Command(raw)
	if len(words) == 0 {
		return nil, blocked(classCommand, fmt.Sprintf("Runtime %s names no command to run.", req.Runtime.ID),
			"set runtimes."+req.Runtime.ID+".command in "+wire.ConfigPath+", then: git agentxchain unblock")
	}
	if problem := incompatible(words); problem != "" {
		return nil, blocked(classIncompatible,
			fmt.Sprintf("The command of runtime %s cannot carry out a turn: %s.", req.Runtime.ID, problem),
			"change runtimes."+req.Runtime.ID+".command in "+wire.ConfigPath+", then: git agentxchain unblock")
	}
	c := &call{
		transport: transport(raw.String("prompt_transport"), words),
		agent:     agentName(words[0]),
		cwd:       raw.String("cwd"),
	}
	var err error
	if c.dir, err = workDir(req.Root, c.cwd); err != nil {
		return nil, blocked(classCommand,
			fmt.Sprintf("The directory %q of runtime %s cannot be used: %s.", c.cwd, req.Runtime.ID, err),
			"change runtimes."+req.Runtime.ID+".cwd in "+wire.ConfigPath+", then: git agentxchain unblock")
	}
	prompt := runtimes.PromptText(req.Prompt, req.Context)
	c.prompt = len(prompt)
	if c.transport == viaStdin {
		c.stdin = prompt
	}
	for _, w := range words {
		switch {
		case c.transport == viaArgv:
			c.template = append(c.template, w)
			c.argv = append(c.argv, strings.ReplaceAll(w, runtimes.Placeholder, argument(prompt)))
		case w != runtimes.Placeholder: // an element that is all prompt is dropped, as the prompt comes another way
			c.template = append(c.template, w)
			c.argv = append(c.argv, w)
		}
	}
	return c, nil
}

// argument returns the prompt without zero bytes, as an argument needs it.
func argument(prompt []byte) string { return strings.ReplaceAll(string(prompt), "\x00", "") }

// transport returns the configured transport, else the one that fits the command.
func transport(configured string, words []string) string {
	switch configured {
	case viaArgv, viaStdin, viaBundle:
		return configured
	}
	for _, w := range words {
		if strings.Contains(w, runtimes.Placeholder) {
			return viaArgv
		}
	}
	return viaBundle
}

// workDir resolves cwd, which may not leave the project, not even through a link.
func workDir(rootDir, cwd string) (string, error) {
	if cwd == "" || cwd == "." {
		return rootDir, nil
	}
	if filepath.IsAbs(cwd) {
		return "", errors.New("it must be relative to the project")
	}
	name := filepath.Clean(filepath.FromSlash(cwd))
	root, err := os.OpenRoot(rootDir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is no such directory")
	case err != nil:
		return "", errors.New("it leads out of the project or cannot be opened")
	case !info.IsDir():
		return "", errors.New("it is not a directory")
	}
	return filepath.Join(rootDir, name), nil
}

// clearStaging makes the staging directory and puts a placeholder there that never counts as a
// result, so that an earlier attempt's is not taken for one.
func clearStaging(root *os.Root, name string) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%s is a directory", name)
		}
		if err := root.Remove(name); err != nil { // a link would be followed
			return err
		}
	}
	return root.WriteFile(name, []byte("{}"), 0o666)
}

// maxStaged bounds how much of the staged file is read, bytes.
const maxStaged = protocol.MaxStagedBytes

func blocked(class, reason, recovery string) *runtimes.Outcome {
	return &runtimes.Outcome{Kind: runtimes.Blocked, Class: class, Reason: reason, Recovery: recovery}
}
