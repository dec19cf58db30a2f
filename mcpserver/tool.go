// What tools have in common: strict arguments, one JSON text as answer, no failure that ends the server.

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Types of arguments.
const (
	typeText    = "string"
	typeInteger = "integer"
	typeBoolean = "boolean"
	typeObject  = "object"
)

// argument is one argument of a tool.
type argument struct {
	name, kind, about string
	required          bool
	most              int // text: longest, in bytes; integer: largest
}

const (
	maxText  = 64 << 10
	maxLimit = 1000
)

// tool is one tool.
type tool struct {
	name, about string
	args        []argument
	reads       bool // it changes nothing
	call        func(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error)
}

// add registers the tool.
func (t tool) add(s *mcp.Server, open func(context.Context) (*runner.Runner, error), root string) {
	closed := false
	s.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: t.schema(),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.reads, OpenWorldHint: &closed, DestructiveHint: &closed}},
		func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
			defer func() {
				if p := recover(); p != nil {
					res, err = wrong(fmt.Sprintf("%s broke down: %v", t.name, p)), nil
				}
			}()
			args, problem := t.read(req.Params.Arguments)
			if problem != "" {
				return wrong(problem), nil
			}
			return t.answer(ctx, open, root, args), nil
		})
}

// schema returns the JSON schema of the arguments; others than those named are refused.
func (t tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.args {
		p := map[string]any{"type": a.kind, "description": a.about}
		switch a.kind {
		case typeInteger:
			p["minimum"], p["maximum"] = 1, a.most
		case typeText:
			p["maxLength"] = a.limit()
		case typeObject:
			p["type"] = []string{"object", "string"}
		}
		properties[a.name] = p
		if a.required {
			required = append(required, a.name)
		}
	}
	return map[string]any{
		"type":                 "object",
		"properties":           properties,
		"required":             required,
		"additionalProperties": false,
	}
}

func (a argument) limit() int {
	if a.most > 0 {
		return a.most
	}
	return maxText
}

// read checks arguments against the tool's; problem says what is wrong.
func (t tool) read(raw []byte) (args *ojson.Object, problem string) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	args, err := ojson.DecodeObject(raw)
	if err != nil {
		return nil, fmt.Sprintf("The arguments of %s cannot be read: %v.", t.name, err)
	}
	for name := range args.All() {
		if !slices.ContainsFunc(t.args, func(a argument) bool { return a.name == name }) {
			return nil, fmt.Sprintf("%s takes no argument %q; it takes %s.", t.name, shown(name), t.takes())
		}
	}
	for _, a := range t.args {
		v, ok := args.Get(a.name)
		if !ok || v == nil {
			args.Delete(a.name)
			continue // the tool itself asks for missing required arguments
		}
		if problem := a.check(v); problem != "" {
			return nil, fmt.Sprintf("%s of %s %s.", a.name, t.name, problem)
		}
	}
	return args, ""
}

func (t tool) takes() string {
	if len(t.args) == 0 {
		return "none"
	}
	names := make([]string, len(t.args))
	for i, a := range t.args {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}

// check returns what is wrong with a value, as the end of a sentence.
func (a argument) check(v ojson.Value) string {
	switch a.kind {
	case typeText:
		s, ok := v.(string)
		if !ok {
			return "must be a string, not " + ojson.TypeName(v)
		}
		if len(s) > a.limit() {
			return fmt.Sprintf("is longer than %d bytes", a.limit())
		}
	case typeBoolean:
		if _, ok := v.(bool); !ok {
			return "must be true or false, not " + ojson.TypeName(v)
		}
	case typeInteger:
		n, ok := v.(ojson.Number)
		f, _ := n.Float64()
		if !ok || f != math.Trunc(f) || f < 1 || f > float64(a.most) {
			return fmt.Sprintf("must be a whole number from 1 to %d", a.most)
		}
	case typeObject:
		switch v.(type) {
		case *ojson.Object, string:
		default:
			return "must be a JSON object, not " + ojson.TypeName(v)
		}
	}
	return ""
}

// answer carries out the call. A refusal of the run is an answer too (ok false).
func (t tool) answer(ctx context.Context, open func(context.Context) (*runner.Runner, error), root string,
	args *ojson.Object) *mcp.CallToolResult {
	r, err := open(ctx)
	if err != nil {
		return refused(failed(err, root))
	}
	defer func() { _ = r.Close() }()
	o, err := t.call(ctx, r, args)
	if err != nil {
		f := failed(err, root)
		if o != nil { // what was recorded about a refusal
			for k, v := range o.All() {
				f.Set(k, v)
			}
		}
		return refused(f)
	}
	out := ojson.NewObject("ok", true)
	for k, v := range o.All() {
		out.Set(k, v)
	}
	return answer(out)
}

// failed returns an error as an answer: {ok, error, code, hint, explain, problems}; explain is the
// command that explains a refusal by the rules.
func failed(err error, root string) *ojson.Object {
	f := runner.OutcomeOf(err)
	switch f.Code {
	case "not_a_project", "not_a_git_repository", "not_governed":
		f.Error = "No governed project found at " + root + ": " + f.Error
		f.Hint = "tell a person: the server serves the project around the directory that it is started in; " +
			"git-agentxchain -C DIRECTORY mcp names another. " + f.Hint
	}
	o := ojson.NewObject("ok", false, "error", f.Error, "code", f.Code)
	switch {
	case f.Code == wire.CodeAwaitingApproval || f.Code == wire.CodeRunBlocked:
		o.Set("hint", "stop, and tell a person: "+f.Hint)
	case f.Code == wire.CodeStagedMissing:
		o.Set("hint", "agentxchain_stage_result stages it")
	case f.Hint != "":
		o.Set("hint", f.Hint)
	}
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		if command := refusal.ExplainCommand(); command != "" {
			o.Set("explain", command)
		}
		if len(refusal.Problems) > 0 {
			o.Set("problems", problems(refusal.Problems))
		}
	}
	return o
}

func problems(list wire.Problems) []*ojson.Object {
	return ojson.List(list, func(p wire.Problem) *ojson.Object {
		return ojson.NewObject("field", p.Field, "message", p.Message)
	})
}

func refusal(code, message string) error { return &wire.Error{Code: code, Message: message} }

// answer returns the one text block of an answer.
func answer(o *ojson.Object) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: strings.TrimSuffix(string(text.JSON(ojson.Pretty(o))), "\n")},
	}}
}

// refused returns the answer to a call that did not do what it was for. Clients that read no JSON
// see that from isError.
func refused(o *ojson.Object) *mcp.CallToolResult {
	res := answer(o)
	res.IsError = true
	return res
}

// wrong returns the answer to a call that makes no sense.
func wrong(message string) *mcp.CallToolResult {
	return refused(ojson.NewObject("ok", false, "error", message, "code", wire.CodeInvalidArgument))
}

// shown makes a name of the client's fit to be repeated.
func shown(s string) string {
	return text.OneLine(text.Cut(s, 80))
}
