// The server: the format for each path, and the answers.

package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxRequest bounds a request's body, in bytes.
const maxRequest = 16 << 20

// Server answers agents. It answers the first request of a conversation that offers a shell tool with a call of it,
// and every other one with a sentence.
type Server struct {
	// Command returns the shell command that the model requests; text is everything the agent has sent so far. An
	// empty command answers with a sentence.
	Command func(text string) string
	// Log, when not nil, is called for each request.
	Log func(format string, args ...any)

	mu    sync.Mutex
	calls int
}

// Calls returns how often the model requested a command.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// turn is the part of a request that decides the answer.
type turn struct {
	text   string // all texts of the conversation, in order
	tool   *tool  // shell tool; nil when none is offered
	done   bool   // a tool has been called already
	stream bool
}

// tool describes how an agent's shell tool takes a command.
type tool struct {
	name   string
	member string // argument with the command
	list   bool   // the command is a list of words
}

// answer is a call or a sentence.
type answer struct {
	tool *tool
	args map[string]any
	text string
}

func (s *Server) answer(t *turn) answer {
	if t.tool != nil && !t.done {
		if command := s.Command(t.text); command != "" {
			s.mu.Lock()
			s.calls++
			s.mu.Unlock()
			args := map[string]any{t.tool.member: command, "description": "Carry the turn out"}
			if t.tool.list {
				args = map[string]any{t.tool.member: []string{"sh", "-c", command}}
			}
			return answer{tool: t.tool, args: args}
		}
	}
	return answer{text: "The turn is carried out."}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var doc map[string]any
	if len(body) > 0 {
		_ = json.Unmarshal(body, &doc) // a body that is not JSON is answered as an empty request
	}
	if s.Log != nil {
		s.Log("%s %s %d", r.Method, r.URL.Path, len(body))
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, map[string]any{"input_tokens": 100})
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, map[string]any{"totalTokens": 100})
	case strings.HasSuffix(path, "/v1/messages"):
		s.messages(w, doc)
	case strings.HasSuffix(path, "/responses"):
		s.responses(w, doc)
	case strings.HasSuffix(path, "/chat/completions"):
		s.completions(w, doc)
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		s.generate(w, doc, strings.HasSuffix(path, ":streamGenerateContent"))
	case strings.HasSuffix(path, "/models"):
		reply(w, map[string]any{"object": "list", "data": []any{}})
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

// event writes one event of a stream; name is "" where the format has none.
func event(w io.Writer, name string, doc any) {
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
}

func compact(doc any) string {
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// texts appends every string in v to b; members come in no order.
func texts(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, x := range v {
			texts(b, x)
		}
	case map[string]any:
		for _, x := range v {
			texts(b, x)
		}
	}
}

func textOf(v any) string {
	var b strings.Builder
	texts(&b, v)
	return b.String()
}

// shellTool picks the shell tool among those offered: by name, and by the member of its schema that takes the
// command.
func shellTool(name string, schema any) *tool {
	lower := strings.ToLower(name)
	if !strings.Contains(lower, "bash") && !strings.Contains(lower, "shell") && lower != "exec_command" {
		return nil
	}
	properties, _ := member(schema, "properties").(map[string]any)
	for _, m := range []string{"command", "cmd"} {
		if p, ok := properties[m]; ok {
			return &tool{name: name, member: m, list: member(p, "type") == "array"}
		}
	}
	return nil
}

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}
