// OpenAI's two formats: Responses, as Codex speaks it, and Chat Completions, as most
// others do.

package scriptedmodel

import (
	"net/http"
	"strings"
)

func (s *Server) responses(w http.ResponseWriter, doc map[string]any) {
	t := &turn{text: textOf(doc["input"]), stream: doc["stream"] == true}
	for _, m := range items(doc["input"]) {
		kind, _ := member(m, "type").(string)
		t.done = t.done || strings.HasSuffix(kind, "call_output")
	}
	for _, x := range items(doc["tools"]) {
		name, _ := member(x, "name").(string)
		if found := shellTool(name, member(x, "parameters")); found != nil {
			t.tool = found
			break
		}
	}
	a := s.answer(t)
	item := map[string]any{
		"type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}},
	}
	if a.tool != nil {
		delete(a.args, "description") // Codex refuses unknown arguments
		item = map[string]any{
			"type": "function_call", "id": "fc_scripted", "call_id": "call_scripted", "status": "completed",
			"name": a.tool.name, "arguments": compact(a.args),
		}
	}
	whole := map[string]any{
		"id": "resp_scripted", "object": "response", "status": "completed", "model": doc["model"], "output": []any{
			item,
		},
		"usage": map[string]any{
			"input_tokens": 100, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": 10, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 110,
		},
	}
	if !t.stream {
		reply(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "response.created", map[string]any{
		"type": "response.created", "response": map[string]any{"id": "resp_scripted", "status": "in_progress"},
	})
	event(w, "response.output_item.added", map[string]any{
		"type":         "response.output_item.added",
		"output_index": 0,
		"item":         item,
	})
	event(w, "response.output_item.done", map[string]any{
		"type":         "response.output_item.done",
		"output_index": 0,
		"item":         item,
	})
	event(w, "response.completed", map[string]any{"type": "response.completed", "response": whole})
}

func (s *Server) completions(w http.ResponseWriter, doc map[string]any) {
	t := &turn{text: textOf(doc["messages"]), stream: doc["stream"] == true}
	for _, m := range items(doc["messages"]) {
		t.done = t.done || member(m, "role") == "tool"
	}
	for _, x := range items(doc["tools"]) {
		f := member(x, "function")
		name, _ := member(f, "name").(string)
		if found := shellTool(name, member(f, "parameters")); found != nil {
			t.tool = found
			break
		}
	}
	a := s.answer(t)
	message := map[string]any{"role": "assistant", "content": a.text}
	reason := "stop"
	if a.tool != nil {
		call := map[string]any{
			"index": 0, "id": "call_scripted", "type": "function",
			"function": map[string]any{"name": a.tool.name, "arguments": compact(a.args)},
		}
		message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{call}}
		reason = "tool_calls"
	}
	usage := map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	frame := func(object string, choice map[string]any, used any) map[string]any {
		choices := []any{}
		if choice != nil {
			choice["index"] = 0
			choices = append(choices, choice)
		}
		return map[string]any{
			"id":      "chatcmpl_scripted",
			"object":  object,
			"created": 1,
			"model":   doc["model"],
			"choices": choices,
			"usage":   used,
		}
	}
	if !t.stream {
		reply(w, frame("chat.completion", map[string]any{"message": message, "finish_reason": reason}, usage))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = "chat.completion.chunk"
	event(w, "", frame(chunk, map[string]any{"delta": message, "finish_reason": nil}, nil))
	event(w, "", frame(chunk, map[string]any{"delta": map[string]any{}, "finish_reason": reason}, nil))
	event(w, "", frame(chunk, nil, usage))
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
}
