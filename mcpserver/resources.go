// Resources: documents that an agent can read without calling a tool.

package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

const (
	scheme   = "agentxchain://"
	jsonType = "application/json"
	markdown = "text/markdown"
)

// resource is a document with a fixed address.
type resource struct {
	path, name, about, kind string
	read                    func(context.Context, *runner.Runner) ([]byte, error)
}

func resources() []resource {
	ledger := func(path, about string, l wire.Ledger) resource {
		return resource{path, path, about, jsonType, func(ctx context.Context, r *runner.Runner) ([]byte, error) {
			rows, cut, err := tail(ctx, r, l, 50, nil)
			if err != nil {
				return nil, err
			}
			return ojson.Pretty(ojson.NewObject("count", len(rows), "truncated", cut, "rows", rows)), nil
		}}
	}
	document := func(path, about string, d wire.Document) resource {
		return resource{path, path, about, jsonType, func(_ context.Context, r *runner.Runner) ([]byte, error) {
			data, err := r.ReadFile(string(d))
			if err == nil && data == nil {
				data = []byte("{}")
			}
			return data, err
		}}
	}
	turn := func(file, about, kind string) resource {
		return resource{"turn/" + file, "active turn: " + file, about, kind,
			func(ctx context.Context, r *runner.Runner) ([]byte, error) {
				v, err := r.View(ctx)
				if err != nil {
					return nil, err
				}
				t, refused := run.ResolveTurn(v.State, "", "show")
				if refused != nil {
					return nil, refused
				}
				data, err := sealed(ctx, r, t, file)
				if err == nil && data == nil {
					err = refusal(wire.CodeNotFound, "The bundle of turn "+t.TurnID+" has no "+file+".")
				}
				return data, err
			}}
	}
	return []resource{
		document("state", "The state of the run, as it is on disk.", wire.DocState),
		document("session", "The session checkpoint, as it is on disk.", wire.DocSession),
		turn("PROMPT.md", "Instructions of the only active turn.", markdown),
		turn("CONTEXT.md", "What the only active turn has to know of the run.", markdown),
		turn("ASSIGNMENT.json", "The assignment of the only active turn.", jsonType),
		ledger("history", "The last 50 accepted turns.", wire.LedgerHistory),
		ledger("decisions", "The last 50 rows of the decision ledger.", wire.LedgerDecisions),
		ledger("events", "The last 50 events.", wire.LedgerEvents),
	}
}

func (s *server) addResources(out *mcp.Server) {
	for _, d := range resources() {
		out.AddResource(&mcp.Resource{URI: scheme + d.path, Name: d.name, Description: d.about, MIMEType: d.kind},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				data, err := s.readResource(ctx, d)
				if err != nil {
					return nil, unreadable(req.Params.URI, err)
				}
				shown := text.Lines(string(data))
				if d.kind == jsonType {
					shown = string(text.JSON(data))
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
					URI:      req.Params.URI,
					MIMEType: d.kind,
					Text:     shown,
				}}}, nil
			})
	}
}

// unreadable returns the JSON-RPC error of an unreadable resource: it distinguishes a missing one
// from a failure, and data names the code that tools answer with.
func unreadable(uri string, err error) error {
	code := runner.ErrorCode(err)
	out := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text.OneLine(err.Error())}
	if code == wire.CodeNotFound || code == wire.CodeTargetRequired {
		out.Code = jsonrpc.CodeInvalidParams
	}
	out.Data = ojson.Compact(ojson.NewObject("uri", uri, "code", code))
	return out
}

// readResource opens the project for one document. The error is a sentence: the protocol has no
// other place for it.
func (s *server) readResource(ctx context.Context, d resource) ([]byte, error) {
	r, err := s.open(ctx)
	if err != nil {
		return nil, refusal(wire.CodeNotFound, failed(err, s.opt.Dir).String("error"))
	}
	defer func() { _ = r.Close() }()
	return d.read(ctx, r)
}
