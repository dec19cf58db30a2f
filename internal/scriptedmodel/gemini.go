// Google's generateContent format, as Gemini CLI speaks it.

package scriptedmodel

import "net/http"

func (s *Server) generate(w http.ResponseWriter, doc map[string]any, stream bool) {
	t := &turn{text: textOf(doc["contents"]), stream: stream}
	for _, m := range items(doc["contents"]) {
		for _, part := range items(member(m, "parts")) {
			t.done = t.done || member(part, "functionResponse") != nil
		}
	}
	for _, group := range items(doc["tools"]) {
		for _, f := range items(member(group, "functionDeclarations")) {
			name, _ := member(f, "name").(string)
			schema := member(f, "parametersJsonSchema")
			if schema == nil {
				schema = member(f, "parameters")
			}
			if found := shellTool(name, schema); found != nil && t.tool == nil {
				t.tool = found
			}
		}
	}
	a := s.answer(t)
	part := map[string]any{"text": a.text}
	if a.tool != nil {
		part = map[string]any{"functionCall": map[string]any{"name": a.tool.name, "args": a.args}}
	}
	whole := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP",
			"content": map[string]any{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
		"modelVersion":  "scripted",
	}
	if !stream {
		reply(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "", whole)
}
