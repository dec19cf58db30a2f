// Starting an agent's program in the isolation that its runtime asks for.

package runtimes

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/confine"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeIsolationUnavailable means that a runtime asks for an isolation that this machine does not
// support. Nothing was started.
const CodeIsolationUnavailable = "isolation_unavailable"

// Isolation returns the isolation that a runtime asks for, confine.None by default.
func Isolation(rt *config.Runtime) string {
	if rt == nil {
		return confine.None // a probe without a runtime asks for nothing
	}
	if v, ok := rt.Raw.Get("isolation"); ok && v != nil {
		if kind, ok := v.(string); ok {
			return kind
		}
		return fmt.Sprint(v) // an unknown isolation, which will be refused
	}
	return confine.None
}

// Confined returns how to start a program of the turn. A runtime that starts programs calls it for
// each; the error has the code isolation_unavailable.
func (r *Request) Confined(argv []string, dir string, env []string) (words, environ []string, err error) {
	plan := &confine.Plan{
		Kind:      Isolation(r.Runtime),
		User:      r.Runtime.Raw.String("isolation_user"),
		Protected: r.Protected,
		Writable:  r.Writable,
	}
	if plan.Kind != confine.None && len(plan.Protected) == 0 {
		return nil, nil, Unconfined(r.Runtime.ID, &confine.Unavailable{
			Kind: plan.Kind,
			Why:  "the caller does not say what to protect",
		})
	}
	c, err := plan.Wrap(confine.Command{
		Argv: argv,
		Env:  env,
		Dir:  dir,
	})
	if err != nil {
		return nil, nil, Unconfined(r.Runtime.ID, err)
	}
	return c.Argv, c.Env, nil
}

// NotConfined returns the outcome of a dispatch for an error of Confined.
func NotConfined(err error) *Outcome {
	out := &Outcome{
		Kind:   Blocked,
		Class:  CodeIsolationUnavailable,
		Reason: err.Error(),
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		out.Reason, out.Recovery = e.Message, e.Hint+"; then: git agentxchain unblock"
	}
	return out
}

// Protected returns the absolute paths that isolation keeps agents from writing: the git directory,
// shared and of this work tree, and the runner's own files of the run. dir is the project's
// directory, top the work tree's.
func Protected(dir, top string, git ...string) []string {
	out := slices.Clone(git)
	if top != "" {
		out = append(out, filepath.Join(top, ".git"))
	}
	for _, name := range []string{path.Dir(wire.StagingDir), wire.ConfigPath, wire.LedgerTalk.Path(),
		string(wire.DocHumanTasks)} {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out
}

// Unconfined returns the refusal of a runtime whose isolation is unavailable.
func Unconfined(id string, err error) *wire.Error {
	e := &wire.Error{
		Code:    CodeIsolationUnavailable,
		Field:   "runtimes." + id + ".isolation",
		Message: fmt.Sprintf("The agent of runtime %s was not started: %s.", id, err),
		Hint:    "git agentxchain doctor says which isolations this machine has",
	}
	var u *confine.Unavailable
	if errors.As(err, &u) && u.Hint != "" {
		e.Hint = u.Hint
	}
	return e
}
