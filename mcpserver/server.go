// The MCP server: a governed run as tools and resources for an agent.

package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/mcpwire"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Identity of the server (docs/mcp.md).
const (
	Name    = "agentxchain"
	Version = "1.0.0"
)

// client is the turn of an agent that this program did not dispatch: a coding agent that a person
// has opened in the project.
const client = "mcp-client"

// Options configures a server.
type Options struct {
	Dir    string              // absolute directory in or below the project; it may become one later
	Getenv func(string) string // environment; required
	Now    func() time.Time    // clock; time.Now when nil
}

// server answers calls. It keeps no state: every call opens the project again, so that it sees what
// people and other agents have done meanwhile.
type server struct{ opt Options }

// New makes the server.
func New(opt Options) *mcp.Server {
	s := &server{opt: opt}
	out := mcp.NewServer(&mcp.Implementation{Name: Name, Version: Version}, &mcp.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	for _, t := range tools() {
		t.add(out, s.open, opt.Dir)
	}
	s.addResources(out)
	return out
}

const instructions = `This project is governed by the AgentXchain protocol: work is done in turns, each with a role, instructions and a result that is validated.

1. agentxchain_status says where the run stands.
2. agentxchain_assign_turn gives you a turn, with its instructions and a template of its result; agentxchain_turn_instructions shows those of a turn that is already active.
3. Do the work within the role's write authority.
4. agentxchain_stage_result hands in the result, agentxchain_verify_turn checks it, agentxchain_accept_turn has it accepted or refused with reasons.

Approving gates and lifting blocks is for people. When a gate or a block waits for a person, tell the person and stop.`

// maxLine is the longest message that a client may send: a turn result and its envelope.
const maxLine = 12 << 20

// lastAnswers is how long the server waits for answers under way when ctx ends: a write to a client that does
// not read never returns, and cannot be cancelled.
const lastAnswers = 2 * time.Second

// Serve answers a client over in and out until in ends or ctx does. It answers a line that is not a
// message with an error and otherwise ignores it. It returns nil when the client has gone.
func Serve(ctx context.Context, opt Options, in io.Reader, out io.Writer) error {
	over := make(chan error, 1)
	go func() {
		over <- New(opt).Run(ctx, &mcpwire.Stream{
			In:     in,
			Out:    out,
			Line:   maxLine,
			InTurn: "tools/call",
			Drain:  true,
			Odd:    refuseLine,
		})
	}()
	var err error
	select {
	case err = <-over:
	case <-ctx.Done():
		select {
		case err = <-over:
		case <-time.After(lastAnswers):
		}
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// refuseLine answers a line that is not a message (JSON-RPC 2.0 §5.1): -32700 for invalid JSON,
// -32600 for JSON that is not a request, under its id if it has one.
func refuseLine(line []byte, problem error) ([]byte, error) {
	code, message := jsonrpc.CodeParseError, "The line is not JSON."
	var id ojson.Value
	switch {
	case errors.Is(problem, mcpwire.ErrTooLong):
		code, message = jsonrpc.CodeInvalidRequest, "The message is too long."
	case json.Valid(line):
		code, message = jsonrpc.CodeInvalidRequest, "The line is not a JSON-RPC message."
		if o, err := ojson.DecodeObject(line); err == nil {
			switch v, _ := o.Get("id"); v.(type) {
			case string, ojson.Number:
				id = v
			}
		}
	}
	return ojson.Compact(ojson.NewObject("jsonrpc", "2.0", "id", id,
		"error", ojson.NewObject("code", code, "message", message))), nil
}

// open opens the project for one call. The caller is an agent.
func (s *server) open(ctx context.Context) (*runner.Runner, error) {
	return runner.Open(ctx, s.opt.Dir, runner.Options{Now: s.opt.Now, Getenv: func(name string) string {
		v := s.opt.Getenv(name)
		if name == runner.TurnMarker && v == "" {
			return client
		}
		return v
	}})
}
