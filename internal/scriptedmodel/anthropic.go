// Anthropic's Messages format, as Claude Code speaks it.

package scriptedmodel

import "net/http"

func (s *Server) messages(w http.ResponseWriter, doc map[string]any) {
	t := &turn{text: textOf(doc["messages"]), stream: doc["stream"] == true}
	for _, m := range items(doc["messages"]) {
		for _, part := range items(member(m, "content")) {
			t.done = t.done || member(part, "type") == "tool_result"
		}
	}
	for _, x := range items(doc["tools"]) {
		name, _ := member(x, "name").(string)
		if found := shellTool(name, member(x, "input_schema")); found != nil {
			t.tool = found
			break
		}
	}
	a := s.answer(t)
	usage := map[string]any{"input_tokens": 100, "output_tokens": 10}
	message := map[string]any{
		"id": "msg_scripted", "type": "message", "role": "assistant", "model": doc["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	block := map[string]any{"type": "text", "text": a.text}
	reason := "end_turn"
	if a.tool != nil {
		block = map[string]any{"type": "tool_use", "id": "toolu_scripted", "name": a.tool.name, "input": a.args}
		reason = "tool_use"
	}
	if !t.stream {
		message["content"], message["stop_reason"] = []any{block}, reason
		reply(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "message_start", map[string]any{"type": "message_start", "message": message})
	begin, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": a.text}
	if a.tool != nil {
		begin = map[string]any{
			"type":  "tool_use",
			"id":    "toolu_scripted",
			"name":  a.tool.name,
			"input": map[string]any{},
		}
		delta = map[string]any{"type": "input_json_delta", "partial_json": compact(a.args)}
	}
	event(w, "content_block_start", map[string]any{"type": "content_block_start", "index": 0, "content_block": begin})
	event(w, "content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", map[string]any{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 10},
	})
	event(w, "message_stop", map[string]any{"type": "message_stop"})
}
