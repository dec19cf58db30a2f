// The mcp runtime: a turn as one call of a tool of an MCP server (docs/runtimes.md#mcp).

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/confine"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Classes of failure besides those of package runtimes, as in dispatch:<class>.
const (
	ClassStart       = "mcp_start_failed"
	ClassConnection  = "mcp_connection_failed"
	ClassToolMissing = "mcp_tool_missing"
	ClassProtocol    = "mcp_protocol_error"
	ClassFlood       = "mcp_output_limit"
)

const (
	// defaultLimit is how long a turn without a deadline may take.
	defaultLimit = 20 * time.Minute
	// clientVersion of the identity agentxchain-mcp-adapter.
	clientVersion = "1.0.0"
	// handshake is the newest protocol whose handshake every server knows; newer ones begin with a
	// question that older servers leave unanswered.
	handshake = "2025-11-25"
	// maxTools bounds a list of tools that never ends.
	maxTools = 10000
)

// probeLimit is how long a server may take to answer a probe; tests make it shorter.
var probeLimit = 15 * time.Second

// Runtime is one mcp runtime.
type Runtime struct{ cfg *settings }

// New reads the options of an mcp runtime. Errors: invalid_config.
func New(rt *config.Runtime) (*Runtime, error) {
	cfg, err := readSettings(rt)
	if err != nil {
		return nil, err
	}
	return &Runtime{cfg: cfg}, nil
}

// Dispatch connects, makes sure that the tool exists, calls it once and returns the turn result in
// its answer. It ends the server afterwards.
func (r *Runtime) Dispatch(ctx context.Context, req *runtimes.Request) *runtimes.Outcome {
	deadline := req.Deadline
	if deadline.IsZero() {
		deadline = time.Now().Add(defaultLimit)
	}
	timed, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	argv, env := r.cfg.argv, req.Environ
	if len(argv) > 0 {
		var err error
		if argv, env, err = req.Confined(argv, r.cfg.dir(req.Root), env); err != nil {
			return runtimes.NotConfined(err)
		}
	}
	s := r.connect(timed, link{
		root:     req.Root,
		argv:     argv,
		env:      env,
		inherit:  req.Inherit,
		log:      req.Log,
		activity: req.Activity,
	})
	out := r.turn(timed, s, req)
	s.close(timed)
	switch {
	case out.Kind == runtimes.Returned || out.Kind == runtimes.Rejected:
		// An answer that arrived counts, even when the time was up just then.
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		out.Kind, out.Reason = runtimes.Aborted, "The dispatch was cancelled."
	case timed.Err() != nil || !time.Now().Before(deadline): // the context's own clock may be late
		out.Kind, out.Class, out.Reason = runtimes.TimedOut, runtimes.ClassTimeout,
			"The turn's time was up before the MCP server had answered."
	}
	out.Reason = r.cfg.redact(out.Reason) // it may quote a server that repeats what it was sent
	out.Exit, out.Signal = s.exit()
	return out
}

// turn holds the conversation with the server.
func (r *Runtime) turn(ctx context.Context, s *session, req *runtimes.Request) *runtimes.Outcome {
	if s.err != nil {
		return r.blocked(s, s.err)
	}
	tool := r.cfg.tool
	if out := r.requireTool(ctx, s); out != nil {
		return out
	}
	req.Activity(runtimes.Activity{Type: "request", Summary: "calling " + tool, Stream: "request", PID: s.pid()})
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments(req)}
	params.SetProgressToken(req.TurnID)
	res, err := s.client.CallTool(s.watched(ctx), params)
	raw := s.tap.answer()
	if raw == nil && err == nil {
		raw = encode(res)
	}
	if raw == nil {
		return r.blocked(s, err)
	}
	req.Activity(runtimes.Activity{
		Type:    "response",
		Summary: fmt.Sprintf("%d bytes from %s", len(raw), tool),
		Stream:  "request",
		PID:     s.pid(),
	})
	result, problem := interpret(tool, raw)
	if problem != "" {
		return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: problem}
	}
	return &runtimes.Outcome{Kind: runtimes.Returned, Result: result}
}

// requireTool asks for the server's tools; nil when the wanted one is among them.
func (r *Runtime) requireTool(ctx context.Context, s *session) *runtimes.Outcome {
	var names []string
	for t, err := range s.client.Tools(s.watched(ctx), nil) {
		if err != nil {
			return r.blocked(s, err)
		}
		if names = append(names, t.Name); len(names) > maxTools {
			return r.blocked(s, errors.New("the server's list of tools has no end"))
		}
	}
	if slices.Contains(names, r.cfg.tool) {
		return nil
	}
	shown := "(none)"
	if len(names) > 0 {
		shown = runtimes.OneLine(strings.Join(names, ", "))
	}
	return &runtimes.Outcome{
		Kind:   runtimes.Blocked,
		Class:  ClassToolMissing,
		Reason: fmt.Sprintf("MCP server does not expose required tool %q. Available tools: %s", r.cfg.tool, shown),
		Recovery: "Correct tool_name of runtime " + r.cfg.id +
			" in agentxchain.json or use a server that has the tool, then: git agentxchain unblock",
	}
}

// blocked returns the outcome of a conversation that failed.
func (r *Runtime) blocked(s *session, err error) *runtimes.Outcome {
	f := s.failure(err)
	out := &runtimes.Outcome{
		Kind:       runtimes.Blocked,
		Class:      f.class,
		Reason:     "MCP dispatch failed: " + runtimes.OneLine(f.message),
		Retryable:  f.retryable,
		RetryAfter: f.retryAfter,
		Recovery:   f.recovery,
	}
	if f.class == ClassStart {
		out.Failure = "runtime_spawn_failed"
	}
	if out.Recovery == "" {
		out.Recovery = "Look at the turn's log and at runtime " + r.cfg.id +
			" in agentxchain.json, then: git agentxchain unblock"
	}
	return out
}

// arguments returns the tool's thirteen arguments, all strings, paths absolute
// (docs/runtimes.md#mcp).
func arguments(req *runtimes.Request) map[string]any {
	abs := func(p string) string { return filepath.Join(req.Root, filepath.FromSlash(p)) }
	dir := abs(req.BundleDir)
	return map[string]any{
		"run_id": req.RunID, "turn_id": req.TurnID, "role": req.Role, "phase": req.Phase, "runtime_id": req.Runtime.ID,
		"project_root": req.Root, "dispatch_dir": dir,
		"assignment_path": filepath.Join(dir, "ASSIGNMENT.json"), "prompt_path": filepath.Join(dir,
			"PROMPT.md"), "context_path": filepath.Join(dir, "CONTEXT.md"),
		"staging_path": abs(req.StagingPath), "prompt": string(req.Prompt), "context": string(req.Context),
	}
}

// Probe reports whether the server can be reached: without Online that its program exists, with it
// that it answers and has the tool.
func (r *Runtime) Probe(ctx context.Context, req *runtimes.ProbeRequest) []runtimes.Finding {
	// A server that needs isolation is not started for a probe, which has no turn to isolate it
	// for.
	if f := r.cfg.programFinding(req.Environ, req.Root); f != nil &&
		(!f.OK || !req.Online || runtimes.Isolation(req.Runtime) != confine.None) {
		return []runtimes.Finding{*f}
	}
	if !req.Online {
		return nil
	}
	timed, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	s := r.connect(timed, link{
		root:     req.Root,
		argv:     r.cfg.argv,
		env:      req.Environ,
		log:      io.Discard,
		activity: func(runtimes.Activity) {},
	})
	defer s.close(timed)
	f := runtimes.Finding{Code: "unreachable", Hint: "check runtime " + r.cfg.id + " in agentxchain.json"}
	if s.err != nil {
		f.Message = "The MCP server does not answer: " + runtimes.OneLine(r.cfg.redact(s.failure(s.err).message)) + "."
	} else if out := r.requireTool(timed, s); out != nil {
		if f.Message = r.cfg.redact(out.Reason); out.Class == ClassToolMissing {
			f.Code, f.Hint = "tool_missing", "check tool_name of runtime "+r.cfg.id
		}
	}
	if f.Message != "" {
		if timed.Err() != nil && ctx.Err() == nil { // then the way the conversation ended says nothing
			f.Message = fmt.Sprintf("The MCP server had not answered after %s.", probeLimit)
		}
		return []runtimes.Finding{f}
	}
	return []runtimes.Finding{{
		OK:      true,
		Code:    "reachable",
		Message: "The MCP server answers and has the tool " + r.cfg.tool + ".",
	}}
}
